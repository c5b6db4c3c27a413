// SPDX-License-Identifier: MIT
#include "camera.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node_params.h"
#include "video_formats.h"

/* How often, at least, leases are renewed and silence is noticed; more often for short leases. */
#define TICK_NS 250000000ull
#define TICK_SHORTEST_NS 5000000ull
/* A lease is renewed so many times before it ends. */
#define RENEWALS 3
/* The filler is shown after so long without a picture and without a producer. */
#define GONE_NS 1000000000ull
/* The last picture is shown again after so long: some readers take silence for the end. */
#define REPEAT_NS 1000000000ull
/* The least time between two forms of pictures: PipeWire and all readers negotiate each. */
#define FORM_NS 200000000ull
/*
 * How many entries are taken in one turn, and when the next one comes: some producers send faster
 * than we take.
 */
#define ENTRIES_MAX GID_CREDIT_MAX
#define TURN_NS 4000000

static void camera_end(struct camera *camera, const char *what, const char *why) {
	warnx("%s: %s", what, why);
	camera->failed = true;
	pw_main_loop_quit(camera->main_loop);
}

static const char *explain(const struct camera *camera, int error) {
	const char *sentence = gid_domain_error(camera->domain);
	return sentence[0] != '\0' ? sentence : gid_strerror(error);
}

/* --- frames ----------------------------------------------------------------------------------- */

static void frame_unref(struct camera *camera, struct camera_frame *frame) {
	if (frame != NULL && --frame->uses == 0) {
		gid_consumer_release(camera->consumer, &frame->frame);
		free(frame);
	}
}

/* Makes it the picture that the stream shows; NULL: none. */
static void camera_set_present(struct camera *camera, struct camera_frame *frame) {
	frame_unref(camera, camera->present);
	camera->present = frame;
}

/* --- buffers ---------------------------------------------------------------------------------- */

static void buffer_take_back(struct camera *camera, struct camera_buffer *buffer) {
	frame_unref(camera, buffer->shown);
	buffer->shown = NULL;
	buffer->queued = false;
}

/* Takes back the buffers that readers returned. */
static void camera_collect(struct camera *camera) {
	struct pw_buffer *returned;
	while ((returned = pw_stream_dequeue_buffer(camera->stream)) != NULL) {
		buffer_take_back(camera, returned->user_data);
	}
}

static struct camera_buffer *find_free(struct camera *camera, uint32_t slot) {
	for (uint32_t i = 0; i < SLOTS_MAX; i++) {
		struct camera_buffer *buffer = &camera->buffers[i];
		if (buffer->buffer != NULL && buffer->slot == slot && !buffer->queued) {
			return buffer;
		}
	}
	return NULL;
}

/*
 * A buffer of an own slot that nobody reads, not even through another buffer; NULL: all are read.
 */
static struct camera_buffer *find_own(struct camera *camera) {
	bool read[OWN_SLOTS] = {false};
	for (uint32_t i = 0; i < SLOTS_MAX; i++) {
		const struct camera_buffer *buffer = &camera->buffers[i];
		if (buffer->buffer != NULL && buffer->slot < OWN_SLOTS && buffer->queued) {
			read[buffer->slot] = true;
		}
	}
	for (uint32_t slot = 0; slot < OWN_SLOTS; slot++) {
		struct camera_buffer *buffer = read[slot] ? NULL : find_free(camera, slot);
		if (buffer != NULL) {
			return buffer;
		}
	}
	return NULL;
}

/* Describes an own slot that is packed: one piece, in which readers know where planes begin. */
static void buffer_describe_packed(const struct camera *camera, struct spa_buffer *spa) {
	const struct gid_layout *layout = &camera->slots.own_layout;
	*spa->datas[0].chunk = (struct spa_chunk){
			.size = (uint32_t)gid_layout_size(layout),
			.stride = (int32_t)layout->planes[0].stride,
	};
}

/* Describes the visible part: its rows begin within the rows of the whole picture. */
static void buffer_describe_planes(
		const struct camera *camera, struct spa_buffer *spa, const struct gid_box *seen) {
	const struct gid_layout *layout = &camera->slots.layout;
	const struct gid_format_info *format = gid_format_find(layout->fourcc);
	for (uint32_t i = 0; i < spa->n_datas && i < layout->plane_count; i++) {
		const struct gid_format_plane *plane = &format->planes[i];
		const uint32_t stride = layout->planes[i].stride;
		const uint32_t x = (uint32_t)seen->x / plane->hsub * plane->bytes;
		const uint32_t y = (uint32_t)seen->y / plane->vsub;
		const uint32_t offset = layout->planes[i].offset + y * stride + x;
		const uint32_t size =
				gid_format_rows(layout->fourcc, i, (uint32_t)seen->height) * stride;
		const uint32_t rest = spa->datas[i].maxsize - offset;
		*spa->datas[i].chunk = (struct spa_chunk){
				.offset = offset,
				.size = size < rest ? size : rest,
				.stride = (int32_t)stride,
		};
	}
}

/*
 * When the picture came to be. If readers got a later one already, as of this picture when it was
 * shown before: now. Encoders and muxers need times that increase.
 */
static uint64_t camera_next_time(struct camera *camera, const struct gid_frame *frame) {
	uint64_t now = gid_clock_now();
	bool captured = frame != NULL && frame->capture_time < now;
	uint64_t time = captured ? frame->capture_time : now;
	camera->last_time = time > camera->last_time ? time : now;
	return camera->last_time;
}

static void buffer_describe(struct camera *camera, struct camera_buffer *buffer,
		const struct camera_frame *shown) {
	const struct gid_frame *frame = shown != NULL ? &shown->frame : NULL;
	const struct gid_box black = {
			.width = (int32_t)camera->width, .height = (int32_t)camera->height};
	struct spa_buffer *spa = buffer->buffer->buffer;
	if (camera->slots.packed) {
		buffer_describe_packed(camera, spa);
	} else {
		buffer_describe_planes(camera, spa, shown != NULL ? &shown->seen : &black);
	}
	struct spa_meta_header *header =
			spa_buffer_find_meta_data(spa, SPA_META_Header, sizeof(*header));
	if (header != NULL) {
		bool broken = frame != NULL && (frame->flags & GID_FRAME_CORRUPTED) != 0;
		*header = (struct spa_meta_header){
				.flags = broken ? SPA_META_HEADER_FLAG_CORRUPTED : 0,
				.pts = (int64_t)camera_next_time(camera, frame),
				.seq = frame != NULL ? frame->sequence : 0,
		};
	}
	struct spa_meta_videotransform *turned =
			spa_buffer_find_meta_data(spa, SPA_META_VideoTransform, sizeof(*turned));
	if (turned != NULL) {
		turned->transform = frame != NULL ? frame->transform : 0;
	}
}

/* `shown`: what it shows; NULL: black. */
static void camera_queue(struct camera *camera, struct camera_buffer *buffer,
		const struct camera_frame *shown) {
	buffer->queued = true;
	buffer_describe(camera, buffer, shown);
	pw_stream_queue_buffer(camera->stream, buffer->buffer);
	pw_stream_trigger_process(camera->stream);
	camera->last_shown = gid_clock_now();
}

/*
 * Shows the frame in the stream's own memory, which readers have mapped; it is held until they
 * return the buffer. Returns whether that was possible.
 */
static bool show_uncopied(struct camera *camera, struct camera_frame *frame) {
	uint32_t slot = slots_find(&camera->slots, frame->frame.gid);
	struct camera_buffer *buffer = slot != SLOT_NONE ? find_free(camera, slot) : NULL;
	if (buffer == NULL) {
		return false;
	}
	frame->uses++;
	buffer->shown = frame;
	camera_queue(camera, buffer, frame);
	return true;
}

/* Packs the frame into an own slot. Returns whether all of it is there. */
static bool pack_frame(const struct camera *camera, const struct camera_frame *frame,
		const struct gid_slab *slab, uint32_t number) {
	const uint8_t *picture = gid_slab_view(slab, gid_slot_of(frame->frame.gid));
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	bool is_dmabuf = info.memory == GID_MEMORY_DMABUF;
	if (picture == NULL || (uint32_t)frame->seen.width != camera->width ||
			(uint32_t)frame->seen.height != camera->height ||
			(is_dmabuf && gid_dmabuf_begin_read(info.fd) < 0)) {
		return false;
	}
	slots_pack(&camera->slots, number, picture, &frame->seen);
	if (is_dmabuf) {
		gid_dmabuf_end_read(info.fd);
	}
	return gid_consumer_holds(camera->consumer, &frame->frame, slab, NULL) == 0;
}

static bool copy_frame(const struct camera *camera, const struct camera_frame *frame,
		const struct gid_slab *slab, uint32_t number) {
	return camera->slots.packed ? pack_frame(camera, frame, slab, number)
				    : gid_consumer_keep(camera->consumer, &frame->frame, slab,
						      slots_own(&camera->slots, number)) == 0;
}

/* Shows a copy in memory of our own. Returns whether that was possible. */
static bool show_copy(struct camera *camera, const struct camera_frame *frame) {
	struct gid_slab *slab = slots_slab(&camera->slots, frame->frame.gid);
	struct camera_buffer *buffer = find_own(camera);
	if (slab == NULL || buffer == NULL || !copy_frame(camera, frame, slab, buffer->slot)) {
		return false;
	}
	gid_consumer_count_copy(camera->consumer, GID_COPY_UPSTREAM_MEMORY, camera->slots.size);
	camera->counts.copied++;
	camera_queue(camera, buffer, frame);
	return true;
}

static bool show_black(struct camera *camera) {
	struct camera_buffer *buffer = find_own(camera);
	if (buffer == NULL) {
		return false;
	}
	slots_fill_black(&camera->slots, buffer->slot);
	camera->counts.fillers++;
	camera_queue(camera, buffer, NULL);
	return true;
}

/* Whether the pixels of the frame are still those that were sent. */
static bool frame_is_current(const struct camera *camera, const struct camera_frame *frame) {
	const struct gid_slab *slab = slots_slab(&camera->slots, frame->frame.gid);
	if (slab == NULL) {
		return false;
	}
	int held = gid_consumer_holds(camera->consumer, &frame->frame, slab, NULL);
	return held == 0 || (held == -ENOTCONN && gid_slab_is_current(slab, frame->frame.gid));
}

/*
 * Shows the stream's present picture to all readers, also when a new one comes and nothing has
 * changed.
 */
static bool camera_show(struct camera *camera) {
	if (!camera->streaming) {
		return false;
	}
	camera_collect(camera);
	if (camera->present != NULL && !frame_is_current(camera, camera->present)) {
		camera_set_present(camera, NULL); // its producer took it back
	}
	struct camera_frame *present = camera->present;
	if (present == NULL) {
		return show_black(camera);
	}
	return slots_find(&camera->slots, present->frame.gid) != SLOT_NONE
			? show_uncopied(camera, present)
			: show_copy(camera, present);
}

static void handle_add_buffer(void *data, struct pw_buffer *added) {
	struct camera *camera = data;
	uint32_t number = 0;
	while (number < SLOTS_MAX && camera->buffers[number].buffer != NULL) {
		number++;
	}
	if (number == SLOTS_MAX) {
		return; // more than were asked for
	}
	if (number == 0) {
		/* It says which memory the first reader takes; later ones are not asked. */
		slots_offer(&camera->slots, added->buffer->datas[0].type & 1u << SPA_DATA_DmaBuf);
	}
	struct camera_buffer *buffer = &camera->buffers[number];
	*buffer = (struct camera_buffer){
			.buffer = added,
			.slot = number % slots_count(&camera->slots),
	};
	added->user_data = buffer;
	struct slots_place place = slots_place(&camera->slots, buffer->slot);
	uint32_t type = place.dmabuf ? SPA_DATA_DmaBuf : SPA_DATA_MemFd;
	for (uint32_t plane = 0; plane < added->buffer->n_datas; plane++) {
		struct spa_data *memory = &added->buffer->datas[plane];
		memory->type = type;
		memory->flags = SPA_DATA_FLAG_READABLE | SPA_DATA_FLAG_MAPPABLE;
		memory->fd = place.fd;
		memory->mapoffset = place.offset;
		memory->maxsize = place.size;
		memory->data = NULL;
	}
}

static void handle_remove_buffer(void *data, struct pw_buffer *removed) {
	struct camera *camera = data;
	struct camera_buffer *buffer = removed->user_data;
	if (buffer != NULL) {
		buffer_take_back(camera, buffer);
		buffer->buffer = NULL;
		removed->user_data = NULL;
	}
}

/* --- what PipeWire is told -------------------------------------------------------------------- */

static void offer_format(struct camera *camera) {
	struct node_params params;
	node_params_format(&params, &camera->slots, camera->width, camera->height);
	pw_stream_update_params(camera->stream, params.params, params.count);
}

static void offer_buffers(struct camera *camera) {
	struct node_params params;
	node_params_buffers(&params, &camera->slots);
	pw_stream_update_params(camera->stream, params.params, params.count);
}

static void handle_param_changed(void *data, uint32_t id, const struct spa_pod *param) {
	struct camera *camera = data;
	if (id == SPA_PARAM_Format && param != NULL) {
		slots_offer(&camera->slots, true); // nobody has a buffer when the format is set
		offer_buffers(camera);
	}
}

/* Of the first reader alone: some try again and again. */
static void camera_tell_unable(struct camera *camera, const char *error) {
	if (!camera->told_unable) {
		warnx("%s: a reader gets no picture: %s", camera->options->stream,
				error != NULL ? error : "PipeWire does not say why");
	}
	camera->told_unable = true;
}

/* PipeWire tells us as an error, too, that one reader cannot be served: then the state stays. */
static void handle_state_changed(void *data, enum pw_stream_state old, enum pw_stream_state told,
		const char *error) {
	struct camera *camera = data;
	enum pw_stream_state state = pw_stream_get_state(camera->stream, NULL);
	camera->streaming = state == PW_STREAM_STATE_STREAMING;
	if (camera->finishing) {
		return; /* we end the connection */
	}
	if (told == PW_STREAM_STATE_ERROR && state != PW_STREAM_STATE_ERROR) {
		camera_tell_unable(camera, error);
	} else if (state == PW_STREAM_STATE_ERROR) {
		camera_end(camera, "PipeWire", error != NULL ? error : "it failed");
	} else if (state == PW_STREAM_STATE_UNCONNECTED && old != PW_STREAM_STATE_UNCONNECTED) {
		camera_end(camera, "PipeWire", "it ended the connection");
	} else if (camera->streaming) {
		camera_show(camera);
	}
}

static void handle_process(void *data) {
	camera_collect(data);
}

static const struct pw_stream_events stream_events = {
		.version = PW_VERSION_STREAM_EVENTS,
		.state_changed = handle_state_changed,
		.param_changed = handle_param_changed,
		.add_buffer = handle_add_buffer,
		.remove_buffer = handle_remove_buffer,
		.process = handle_process,
};

/* Makes the node with the first picture: before that its format is unknown. */
static void create_node(struct camera *camera) {
	const struct pipewire_options *options = camera->options;
	struct node_params params;
	node_params_format(&params, &camera->slots, camera->width, camera->height);
	struct pw_properties *properties = node_properties(options,
			options->owner != NULL ? options->owner : gid_domain_name(camera->domain));
	camera->stream = pw_stream_new_simple(
			camera->loop, options->stream, properties, &stream_events, camera);
	if (camera->stream == NULL ||
			pw_stream_connect(camera->stream, PW_DIRECTION_OUTPUT, PW_ID_ANY,
					PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_ALLOC_BUFFERS,
					params.params, params.count) < 0) {
		camera_end(camera, "PipeWire",
				"it cannot be reached: does it run for this user (pipewire.service)?");
		return;
	}
	warnx("showing %s as %s", options->stream,
			pw_properties_get(pw_stream_get_properties(camera->stream),
					PW_KEY_NODE_NAME));
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Ends the program where readers have no such format. Returns whether they have. */
static bool camera_check_format(struct camera *camera, uint32_t fourcc) {
	bool browsers = camera->options->browsers;
	if (browsers ? video_browsers_format_of(fourcc) != 0
		     : video_format_of(fourcc) != SPA_VIDEO_FORMAT_UNKNOWN) {
		return true;
	}
	char text[128];
	snprintf(text, sizeof(text), "%s no format like its %.4s: send another one, as NV12",
			browsers ? "browsers have" : "PipeWire has", (const char *)&fourcc);
	camera_end(camera, camera->options->stream, text);
	return false;
}

/*
 * Changes to pictures of another layout, or of which another part is seen. Returns whether they can
 * be shown.
 */
static bool camera_change_layout(struct camera *camera, const struct gid_layout *layout,
		const struct gid_box *seen) {
	if (!camera_check_format(camera, layout->fourcc)) {
		return false;
	}
	struct slots slots;
	int error = slots_init(&slots, layout, camera->options->browsers ? seen : NULL);
	if (error < 0) {
		slots_finish(&slots);
		camera_end(camera, camera->options->stream,
				error == -ENOTSUP ? "its pictures are for devices alone"
						  : strerror(-error));
		return false;
	}
	slots_finish(&camera->slots);
	camera->slots = slots;
	return true;
}

/* Retires all buffers as the layout changes: PipeWire negotiates new ones. */
static void camera_retire_buffers(struct camera *camera) {
	for (uint32_t i = 0; i < SLOTS_MAX; i++) {
		camera->buffers[i].slot = SLOT_NONE;
	}
}

/* Moves the begin up to whole samples, so that nothing outside the crop is shown. */
static void begin_with_samples(int32_t *at, int32_t *size, int32_t pixels) {
	int32_t more = (pixels - *at % pixels) % pixels;
	*at += more;
	*size -= more;
}

/* Finds the part of a picture that is to be shown. False: none can be. */
static bool find_seen(const struct gid_layout *layout, const struct gid_frame *frame,
		struct gid_box *seen) {
	const struct gid_format_info *format = gid_format_find(layout->fourcc);
	if (!gid_box_get_seen(frame->crop, layout->width, layout->height, seen)) {
		return false;
	}
	for (uint32_t i = 0; format != NULL && i < layout->plane_count; i++) {
		begin_with_samples(&seen->x, &seen->width, format->planes[i].hsub);
		begin_with_samples(&seen->y, &seen->height, format->planes[i].vsub);
	}
	return seen->width > 0 && seen->height > 0;
}

static bool has_same_form(const struct camera *camera, const struct gid_slab *slab,
		const struct gid_frame *frame) {
	struct gid_slab_info info;
	struct gid_box seen;
	gid_slab_get_info(slab, &info);
	return camera->stream != NULL &&
			memcmp(&camera->slots.layout, &info.layout, sizeof(info.layout)) == 0 &&
			(!find_seen(&info.layout, frame, &seen) ||
					((uint32_t)seen.width == camera->width &&
							(uint32_t)seen.height == camera->height));
}

static bool is_too_early(const struct camera *camera) {
	return camera->stream != NULL && gid_clock_now() - camera->last_form < FORM_NS;
}

/*
 * Uses a new slab of the stream, or a known one of which frames now show another part. Takes the
 * reference.
 */
static void camera_add_slab(
		struct camera *camera, struct gid_slab *slab, const struct gid_frame *frame) {
	struct gid_slab_info info;
	struct gid_box seen;
	gid_slab_get_info(slab, &info);
	bool same = has_same_form(camera, slab, frame);
	if (!same) {
		camera->last_form = gid_clock_now();
		camera->counts.forms++;
		camera_retire_buffers(camera);
		find_seen(&info.layout, frame, &seen);
		if (!camera_change_layout(camera, &info.layout, &seen)) {
			gid_slab_unref(slab);
			return;
		}
		camera->width = (uint32_t)seen.width;
		camera->height = (uint32_t)seen.height;
	}
	slots_add(&camera->slots, slab);
	if (camera->stream == NULL) {
		create_node(camera);
	} else if (!same) {
		offer_format(camera);
	}
}

/* Of the first picture that cannot be shown: its producer may send many. */
static void camera_tell_fault(struct camera *camera, const char *fault) {
	if (!camera->told_fault) {
		warnx("%s: a picture is left out: %s", camera->options->stream, fault);
	}
	camera->told_fault = true;
}

/* Why the picture cannot be shown; NULL: it can be. */
static const char *find_fault(const struct gid_slab *slab, const struct gid_frame *frame) {
	struct gid_slab_info info;
	struct gid_box seen;
	gid_slab_get_info(slab, &info);
	if (!find_seen(&info.layout, frame, &seen)) {
		return "its crop is wrong";
	}
	/* Readers would fill the holes, and pay for the pages as long as the owner keeps the file.
	 */
	return info.memory == GID_MEMORY_MEMFD &&
					gid_slab_view(slab, gid_slot_of(frame->gid)) == NULL
			? gid_strerror(-ENODATA)
			: NULL;
}

static bool can_be_shown(
		struct camera *camera, const struct gid_slab *slab, const struct gid_frame *frame) {
	const char *fault = find_fault(slab, frame);
	if (fault != NULL) {
		camera_tell_fault(camera, fault);
	}
	return fault == NULL;
}

/* Makes it the stream's picture, and shows it. */
static void camera_present(struct camera *camera, const struct gid_frame *received) {
	struct camera_frame *frame = malloc(sizeof(*frame));
	if (frame == NULL) {
		gid_consumer_release(camera->consumer, received);
		return;
	}
	*frame = (struct camera_frame){.frame = *received, .uses = 1};
	find_seen(&camera->slots.layout, received, &frame->seen);
	camera_set_present(camera, frame);
	if (camera_show(camera)) {
		camera->counts.shown++;
	} else {
		camera->counts.busy += camera->streaming;
	}
}

/* Drops what waits to be fetched. */
static void camera_drop_next(struct camera *camera) {
	if (camera->has_next) {
		camera->has_next = false;
		gid_consumer_release(camera->consumer, &camera->next);
	}
}

/* Something newer is shown than what is fetched, or waits for that. */
static void camera_pass(struct camera *camera) {
	camera_drop_next(camera);
	camera->is_passed = camera->is_fetching;
}

static void camera_use(struct camera *camera, const struct gid_frame *frame);

/* Goes on with what came meanwhile in new memory. */
static void camera_go_on(struct camera *camera) {
	const struct gid_frame next = camera->next;
	if (camera->has_next && !camera->failed) {
		camera->has_next = false;
		camera_use(camera, &next);
	}
}

/* Takes the reference. */
static void camera_take_fetched(struct camera *camera, struct gid_slab *slab) {
	const struct gid_frame frame = camera->fetching;
	bool good = can_be_shown(camera, slab, &frame);
	bool same = good && has_same_form(camera, slab, &frame);
	bool shows = good && !camera->is_passed;
	camera->is_early = shows && !same && is_too_early(camera);
	if (camera->is_early) {
		gid_slab_unref(slab); // it is asked for again by then
		return;
	}
	camera->is_fetching = false;
	if (shows || same) {
		camera_add_slab(camera, slab, &frame);
	} else {
		gid_slab_unref(slab);
	}
	if (shows) {
		camera_present(camera, &frame);
	} else {
		gid_consumer_release(camera->consumer, &frame);
	}
}

static void camera_fetched(struct camera *camera, int error, struct gid_slab *slab) {
	if (error == 0) {
		camera_take_fetched(camera, slab);
	} else {
		camera->is_fetching = false;
		gid_consumer_release(camera->consumer, &camera->fetching);
	}
	if (error != 0 && error != -ENOENT && error != -ENOTCONN) { // else it went away meanwhile
		camera_tell_fault(camera, explain(camera, error));
	}
	camera_go_on(camera);
}

static void handle_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	camera_fetched(data, error, slab);
}

static void camera_ask(struct camera *camera) {
	struct gid_slab *slab = NULL;
	camera->is_early = false;
	int error = gid_slab_import_async(
			camera->domain, camera->fetching.gid, handle_imported, camera, &slab);
	if (error != -EINPROGRESS) {
		camera_fetched(camera, error, slab);
	}
}

/*
 * Imports the slab of a frame. While that goes on the newest of further ones waits. What is too
 * early to be shown is replaced by it.
 */
static void camera_fetch(struct camera *camera, const struct gid_frame *frame) {
	if (camera->is_fetching && !camera->is_early) {
		camera_drop_next(camera);
		camera->next = *frame;
		camera->has_next = true;
		return;
	}
	if (camera->is_early) {
		gid_consumer_release(camera->consumer, &camera->fetching);
	}
	camera->fetching = *frame;
	camera->is_passed = false;
	if (!camera->is_early) {
		camera->is_fetching = true;
		camera_ask(camera);
	}
}

/* --- the stream ------------------------------------------------------------------------------- */

/* Shows the frame, or fetches its memory first. */
static void camera_use(struct camera *camera, const struct gid_frame *frame) {
	const struct gid_slab *slab = slots_slab(&camera->slots, frame->gid);
	if (slab == NULL || !has_same_form(camera, slab, frame)) {
		camera_fetch(camera, frame);
	} else if (can_be_shown(camera, slab, frame)) {
		camera_pass(camera);
		camera_present(camera, frame);
	} else {
		gid_consumer_release(camera->consumer, frame);
	}
}

static void camera_take(struct camera *camera, const struct gid_frame *received) {
	camera->last_frame = gid_clock_now();
	camera->filled = false;
	if (received->gid == GID_NONE) { // its end, or nothing to be shown
		bool ends = (received->flags & (GID_FRAME_EOS | GID_FRAME_HIDDEN)) != 0;
		gid_consumer_release(camera->consumer, received);
		if (ends) {
			camera_pass(camera);
		}
		if (ends && camera->present != NULL) { // else readers know it already
			camera_set_present(camera, NULL);
			camera_show(camera);
		}
		return;
	}
	camera->counts.frames++;
	camera->counts.new_memory += slots_slab(&camera->slots, received->gid) == NULL;
	camera_use(camera, received);
}

/* Takes the rest in the next turn: the descriptor becomes readable only after -EAGAIN. */
static void take_later(struct camera *camera) {
	struct timespec pause = {.tv_nsec = TURN_NS};
	pw_loop_update_timer(camera->loop, camera->turn, &pause, NULL, false);
}

static void handle_frames(struct camera *camera) {
	struct gid_frame frame;
	int ret = 1;
	for (uint32_t i = 0; i < ENTRIES_MAX && ret == 1 && !camera->failed; i++) {
		ret = gid_consumer_receive(camera->consumer, &frame);
		if (ret == 1) {
			camera_take(camera, &frame);
		}
	}
	if (camera->failed) {
		return;
	}
	if (ret == 1) {
		take_later(camera);
	} else if (ret != -EAGAIN) {
		camera_end(camera, camera->options->stream, gid_strerror(ret));
	}
}

static void on_turn(void *data, uint64_t expirations) {
	handle_frames(data);
}

static void on_consumer(void *data, int fd, uint32_t mask) {
	handle_frames(data);
}

static void on_domain(void *data, int fd, uint32_t mask) {
	struct camera *camera = data;
	int ret = gid_domain_dispatch(camera->domain);
	if (ret < 0) {
		camera_end(camera, "gidd", explain(camera, ret));
		return;
	}
	handle_frames(camera);
}

/* Whether there has been no producer for a while. */
static bool camera_is_alone(const struct camera *camera) {
	return gid_consumer_get_state(camera->consumer) != GID_CONSUMER_LIVE &&
			gid_clock_now() - camera->last_frame > GONE_NS;
}

/* Sets the tick by the producer's lease, which is known once there is one. */
static void camera_set_tick(struct camera *camera) {
	struct gid_consumer_stats stats;
	gid_consumer_get_stats(camera->consumer, &stats);
	uint64_t tick = TICK_NS;
	if (stats.lease_ns > 0 && stats.lease_ns / RENEWALS < tick) {
		tick = stats.lease_ns / RENEWALS;
	}
	tick = tick > TICK_SHORTEST_NS ? tick : TICK_SHORTEST_NS;
	if (tick != camera->tick_ns) {
		struct timespec interval = {.tv_nsec = (long)tick};
		pw_loop_update_timer(camera->loop, camera->tick, &interval, &interval, false);
		camera->tick_ns = tick;
	}
}

static void on_tick(void *data, uint64_t expirations) {
	struct camera *camera = data;
	gid_consumer_renew(camera->consumer);
	camera_set_tick(camera);
	if (camera->is_early && !is_too_early(camera)) {
		camera_ask(camera);
	}
	if (camera->stream == NULL) {
		return;
	}
	if (camera_is_alone(camera) && !camera->filled) {
		camera->filled = true;
		camera_set_present(camera, NULL);
		camera_show(camera);
	} else if (gid_clock_now() - camera->last_shown >= REPEAT_NS) {
		camera_show(camera);
	}
}

/* --- life ------------------------------------------------------------------------------------- */

static int create_consumer(struct camera *camera) {
	const struct pipewire_options *options = camera->options;
	int error = gid_domain_connect(options->reader, &camera->domain);
	if (error < 0) {
		warnx("%s", gid_domain_connect_error());
		return -1;
	}
	struct gid_consumer_options behaviour = {
			.size = sizeof(behaviour),
			.credit = options->credit,
			.drop_old = true,
			.reconnect = true,
	};
	error = gid_consumer_create(camera->domain, options->owner, options->stream, &behaviour,
			&camera->consumer);
	if (error < 0) {
		warnx("%s: %s", options->stream, explain(camera, error));
		return -1;
	}
	return 0;
}

int camera_init(struct camera *camera, const struct pipewire_options *options,
		struct pw_main_loop *loop) {
	*camera = (struct camera){
			.options = options,
			.main_loop = loop,
			.loop = pw_main_loop_get_loop(loop),
	};
	if (create_consumer(camera) < 0) {
		camera_finish(camera);
		return -1;
	}
	camera->domain_source = pw_loop_add_io(camera->loop, gid_domain_get_fd(camera->domain),
			SPA_IO_IN, false, on_domain, camera);
	camera->consumer_source =
			pw_loop_add_io(camera->loop, gid_consumer_get_fd(camera->consumer),
					SPA_IO_IN, false, on_consumer, camera);
	camera->tick = pw_loop_add_timer(camera->loop, on_tick, camera);
	camera->turn = pw_loop_add_timer(camera->loop, on_turn, camera);
	if (camera->domain_source == NULL || camera->consumer_source == NULL ||
			camera->tick == NULL || camera->turn == NULL) {
		warnx("event loop: %s", strerror(errno));
		camera_finish(camera);
		return -1;
	}
	camera_set_tick(camera);
	warnx("waiting for %s", options->stream);
	handle_frames(camera); // which also arms the doorbell
	return 0;
}

static void destroy_source(struct camera *camera, struct spa_source *source) {
	if (source != NULL) {
		pw_loop_destroy_source(camera->loop, source);
	}
}

void camera_finish(struct camera *camera) {
	camera->finishing = true;
	if (camera->stream != NULL) {
		pw_stream_destroy(camera->stream); // which takes all buffers back
	}
	destroy_source(camera, camera->domain_source);
	destroy_source(camera, camera->consumer_source);
	destroy_source(camera, camera->tick);
	destroy_source(camera, camera->turn);
	camera_set_present(camera, NULL);
	slots_finish(&camera->slots);
	if (camera->is_fetching) {
		gid_slab_import_cancel(camera->domain, camera);
	}
	gid_consumer_destroy(camera->consumer);
	gid_domain_destroy(camera->domain);
}

void camera_report(const struct camera *camera) {
	const struct camera_counts *counts = &camera->counts;
	printf("{\"frames\": %" PRIu64 ", \"shown\": %" PRIu64 ", \"busy\": %" PRIu64
	       ", \"new\": %" PRIu64 ", \"forms\": %" PRIu64 ", \"copied\": %" PRIu64
	       ", \"fillers\": %" PRIu64 "}\n",
			counts->frames, counts->shown, counts->busy, counts->new_memory,
			counts->forms, counts->copied, counts->fillers);
	fflush(stdout);
}
