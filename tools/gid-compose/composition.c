// SPDX-License-Identifier: MIT
#include "composition.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MS 5000 /* for one picture: an engine's own limit is shorter */

/* --- streams ---------------------------------------------------------------------------------- */

static bool is_same(const char *one, const char *other) {
	return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

static struct source_stream *find_source(
		struct composition *composition, const struct layer_config *layer) {
	struct source_stream *source = composition->sources;
	while (source != NULL &&
			!(is_same(source->domain, layer->domain) &&
					strcmp(source->name, layer->stream) == 0)) {
		source = source->next;
	}
	return source;
}

static void drop_unwanted(struct composition *composition) {
	struct source_stream **at = &composition->sources;
	while (*at != NULL) {
		struct source_stream *source = *at;
		if (source->wanted) {
			at = &source->next;
		} else {
			*at = source->next;
			source_stream_destroy(source);
		}
	}
}

/* Has a source for each layer of the layout, beside those of the present one. */
static int make_sources(struct composition *composition, const struct layout_file *layout) {
	for (size_t i = 0; i < layout->layer_count; i++) {
		const struct layer_config *layer = &layout->layers[i];
		struct source_stream *source = find_source(composition, layer);
		if (source == NULL) {
			int ret = source_stream_create(composition->domain, layer->domain,
					layer->stream, &composition->exports, &source);
			if (ret < 0) {
				fprintf(stderr, "gid-compose: the stream %s of domain %s: %s\n",
						layer->stream,
						layer->domain != NULL
								? layer->domain
								: gid_domain_name(composition->domain),
						gid_domain_error(composition->domain));
				return ret;
			}
			source->next = composition->sources;
			composition->sources = source;
		}
	}
	return 0;
}

/* Of those sources, these are shown. */
static void choose_sources(struct composition *composition, const struct layout_file *layout) {
	for (struct source_stream *source = composition->sources; source != NULL;
			source = source->next) {
		source->wanted = source->told = false;
	}
	for (size_t i = 0; i < layout->layer_count; i++) {
		struct source_stream *source = find_source(composition, &layout->layers[i]);
		assert(source != NULL);
		source->wanted = true;
	}
	drop_unwanted(composition);
}

/* --- life ------------------------------------------------------------------------------------- */

int composition_init(
		struct composition *composition, const char *name, struct layout_file *layout) {
	const struct gid_canvas_options options = {
			.size = sizeof(options),
			.fourcc = layout->fourcc,
			.width = layout->width,
			.height = layout->height,
			.lists = 4,
			.connect_ms = -1,
	};
	*composition = (struct composition){.begin = gid_clock_now(), .changed = true};
	int ret = gid_domain_connect(name, &composition->domain);
	if (ret < 0) {
		fprintf(stderr, "gid-compose: %s\n", gid_domain_connect_error());
		return ret;
	}
	ret = gid_canvas_create(composition->domain, layout->engine, layout->canvas, &options,
			&composition->canvas);
	if (ret < 0) {
		fprintf(stderr, "gid-compose: the canvas %s of domain %s: %s\n", layout->canvas,
				layout->engine, gid_canvas_create_error());
		return ret;
	}
	ret = make_sources(composition, layout);
	if (ret < 0) {
		return ret;
	}
	choose_sources(composition, layout);
	composition->layout = *layout;
	*layout = (struct layout_file){0};
	composition->layouts = 1;
	return 0;
}

void composition_finish(struct composition *composition) {
	while (composition->sources != NULL) {
		struct source_stream *source = composition->sources;
		composition->sources = source->next;
		source_stream_destroy(source);
	}
	gid_canvas_destroy(composition->canvas);
	gid_domain_destroy(composition->domain);
	layout_file_finish(&composition->layout);
}

int composition_change(struct composition *composition, struct layout_file *layout) {
	struct layout_file before = composition->layout;
	if (strcmp(before.engine, layout->engine) != 0 ||
			strcmp(before.canvas, layout->canvas) != 0) {
		fprintf(stderr,
				"gid-compose: engine= and name= do not change while gid-compose "
				"runs: start it again\n");
		return -EBUSY;
	}
	int ret = make_sources(composition, layout);
	if (ret < 0) {
		choose_sources(composition, &before);
		return ret;
	}
	choose_sources(composition, layout);
	if (before.fourcc != layout->fourcc || before.width != layout->width ||
			before.height != layout->height) {
		gid_canvas_resize(
				composition->canvas, layout->fourcc, layout->width, layout->height);
	}
	composition->layout = *layout;
	*layout = before;
	composition->changed = true;
	composition->told = false;
	composition->layouts++;
	return 0;
}

/* --- a picture -------------------------------------------------------------------------------- */

static void log_reason(
		struct source_stream *source, const struct layer_config *layer, const char *why) {
	if (!source->told) {
		fprintf(stderr, "gid-compose: [layer %s] is not shown: %s\n", layer->name, why);
		source->told = true;
	}
}

/* Pixels of GStreamer's raw video are not multiplied by their alpha. */
static bool is_straight(const struct layer_config *layer, const struct gid_slab_info *info) {
	return layer->straight == LAYER_YES ||
			(layer->straight == LAYER_AUTO &&
					strncmp(info->description, "video/x-raw", 11) == 0);
}

/* The part of the slot that is drawn; false: the layer asks for more than is seen. */
static bool set_source(struct gid_layer *drawn, const struct layer_config *layer,
		const struct gid_box *seen) {
	drawn->source = *seen;
	if (layer->source.width != 0) {
		drawn->source = layer->source;
		drawn->source.x += seen->x;
		drawn->source.y += seen->y;
	}
	return layer->source.x + drawn->source.width <= seen->width &&
			layer->source.y + drawn->source.height <= seen->height;
}

static void draw_layer(struct composition *composition, const struct layer_config *layer) {
	struct source_stream *source = find_source(composition, layer);
	struct source_picture picture;
	const char *why;
	assert(source != NULL);
	struct gid_layer drawn = {
			.box = {layer->x, layer->y, layer->width, layer->height},
			.alpha = layer->alpha,
			.transform = layer->turn,
			.bilinear = !layer->nearest,
			.colours = layer->colours,
	};
	int ret = source_stream_picture(source, composition->canvas, &picture, &why);
	if (ret < 0) {
		if (why != NULL) {
			log_reason(source, layer, why);
		}
		return;
	}
	const struct gid_layout *layout = &picture.info->layout;
	struct gid_box seen;
	if (!gid_box_get_seen(picture.crop, layout->width, layout->height, &seen)) {
		log_reason(source, layer, "its crop lies outside the picture");
		return;
	}
	if (!set_source(&drawn, layer, &seen)) {
		log_reason(source, layer, "source= lies outside of its pictures");
		return;
	}
	drawn.gid = picture.gid;
	drawn.straight = is_straight(layer, picture.info);
	gid_list_layer(composition->canvas, &drawn);
}

static int draw(struct composition *composition) {
	const struct layout_file *layout = &composition->layout;
	const struct gid_rectangle all = {0, 0, (uint16_t)layout->width, (uint16_t)layout->height};
	uint64_t fence;
	int ret = gid_list_begin(composition->canvas);
	if (ret < 0) {
		return ret;
	}
	composition->exports.picture++;
	gid_list_fill(composition->canvas, GID_OPERATOR_SRC, layout->background, &all, 1);
	for (size_t i = 0; i < layout->layer_count; i++) {
		draw_layer(composition, &layout->layers[i]);
	}
	gid_list_present(composition->canvas, true, gid_clock_now() - composition->begin);
	ret = gid_list_submit(composition->canvas, &fence);
	return ret < 0 ? ret : gid_canvas_wait(composition->canvas, fence, LIST_MS);
}

/* Says when the engine comes and goes. Returns whether it is there. */
static bool watch_engine(struct composition *composition) {
	bool connected = gid_canvas_is_connected(composition->canvas);
	if (connected != composition->connected || composition->pictures == 0) {
		composition->changed = true;
	}
	if (connected && !composition->connected) {
		for (struct source_stream *source = composition->sources; source != NULL;
				source = source->next) {
			source_stream_forget_grants(source);
		}
	} else if (!connected && composition->connected) {
		fprintf(stderr, "gid-compose: the engine of domain %s is away; waiting for it\n",
				composition->layout.engine);
	}
	composition->connected = connected;
	return connected;
}

/* A grant may be gone with a gidd that was started again, a picture with its producer: the next
 * picture is made without what is known of them. */
static void refused(struct composition *composition) {
	composition->refused++;
	composition->changed = true;
	if (!composition->told) {
		fprintf(stderr, "gid-compose: %s\n", gid_canvas_error(composition->canvas));
		composition->told = true;
	}
	for (struct source_stream *source = composition->sources; source != NULL;
			source = source->next) {
		source_stream_forget_grants(source);
	}
	/* Should it have refused the canvas itself, this asks for it again. */
	gid_canvas_resize(composition->canvas, composition->layout.fourcc,
			composition->layout.width, composition->layout.height);
}

void composition_step(struct composition *composition) {
	gid_domain_dispatch(composition->domain);
	gid_canvas_dispatch(composition->canvas);
	bool changed = false;
	for (struct source_stream *source = composition->sources; source != NULL;
			source = source->next) {
		source_stream_dispatch(source);
		changed |= source->changed;
	}
	if (!watch_engine(composition) || !(changed || composition->changed)) {
		return;
	}
	composition->changed = false;
	int ret = draw(composition);
	if (ret == 0) {
		composition->pictures++;
		composition->told = false;
	} else if (ret != -EPIPE && ret != -ENOTCONN) {
		refused(composition);
	} else {
		composition->changed = true;
	}
}
