// SPDX-License-Identifier: MIT
/*
 * Shows a stream in a window, by SDL. SDL reads each picture where its producer wrote it, on its
 * way into a texture: that is the only copy. It waits for the stream, and again when it goes.
 *
 * Usage: show [-d DOMAIN] STREAM. DOMAIN is whose stream it is (default: our own).
 *
 * Build: make, meson or CMake: their files lie beside this one.
 */
#include <SDL3/SDL.h>
#include <drm_fourcc.h>
#include <errno.h>
#include <gid/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_EVERY_MS 10

static SDL_Window *window;
static SDL_Renderer *renderer;
static SDL_Texture *texture;	 /* the last picture */
static struct gid_layout layout; /* that the texture was made for */
static SDL_Rect shown;		 /* what its producer shows of it */

static SDL_PixelFormat find_format(uint32_t fourcc) {
	switch (fourcc) {
	case DRM_FORMAT_XRGB8888:
	case DRM_FORMAT_ARGB8888:
		return SDL_PIXELFORMAT_XRGB8888;
	case DRM_FORMAT_XBGR8888:
	case DRM_FORMAT_ABGR8888:
		return SDL_PIXELFORMAT_XBGR8888;
	case DRM_FORMAT_NV12:
		return SDL_PIXELFORMAT_NV12;
	case DRM_FORMAT_YUV420:
		return SDL_PIXELFORMAT_IYUV;
	default:
		return SDL_PIXELFORMAT_UNKNOWN;
	}
}

static SDL_Colorspace find_colours(const struct gid_layout *wanted) {
	bool full = wanted->colours.range == GID_RANGE_FULL;
	if (wanted->plane_count == 1) {
		return SDL_COLORSPACE_RGB_DEFAULT;
	} else if (wanted->colours.matrix == GID_MATRIX_BT709) {
		return full ? SDL_COLORSPACE_BT709_FULL : SDL_COLORSPACE_BT709_LIMITED;
	}
	return full ? SDL_COLORSPACE_BT601_FULL : SDL_COLORSPACE_BT601_LIMITED;
}

/* Makes what pictures of this layout need: a texture, and before the first one the window. */
static bool prepare(const struct gid_layout *wanted) {
	int width = (int)wanted->width, height = (int)wanted->height;
	SDL_PixelFormat format = find_format(wanted->fourcc);
	if (texture != NULL && memcmp(wanted, &layout, sizeof(layout)) == 0) {
		return true;
	}
	if (format == SDL_PIXELFORMAT_UNKNOWN || wanted->modifier != DRM_FORMAT_MOD_LINEAR) {
		return SDL_SetError("its format is none of this example's");
	}
	if (window == NULL &&
			!SDL_CreateWindowAndRenderer("gid", shown.w, shown.h, SDL_WINDOW_RESIZABLE,
					&window, &renderer)) {
		return false;
	}
	SDL_PropertiesID made = SDL_CreateProperties();
	SDL_SetNumberProperty(made, SDL_PROP_TEXTURE_CREATE_FORMAT_NUMBER, format);
	SDL_SetNumberProperty(
			made, SDL_PROP_TEXTURE_CREATE_COLORSPACE_NUMBER, find_colours(wanted));
	SDL_SetNumberProperty(
			made, SDL_PROP_TEXTURE_CREATE_ACCESS_NUMBER, SDL_TEXTUREACCESS_STREAMING);
	SDL_SetNumberProperty(made, SDL_PROP_TEXTURE_CREATE_WIDTH_NUMBER, width);
	SDL_SetNumberProperty(made, SDL_PROP_TEXTURE_CREATE_HEIGHT_NUMBER, height);
	SDL_DestroyTexture(texture);
	texture = SDL_CreateTextureWithProperties(renderer, made);
	SDL_DestroyProperties(made);
	layout = *wanted;
	return texture != NULL;
}

/* Reads the picture where it lies. */
static bool fill(const uint8_t *slot) {
	const uint8_t *planes[GID_PLANES_MAX];
	int strides[GID_PLANES_MAX];
	for (uint32_t i = 0; i < layout.plane_count; i++) {
		planes[i] = slot + layout.planes[i].offset;
		strides[i] = (int)layout.planes[i].stride;
	}
	switch (layout.plane_count) {
	case 1:
		return SDL_UpdateTexture(texture, NULL, planes[0], strides[0]);
	case 2:
		return SDL_UpdateNVTexture(
				texture, NULL, planes[0], strides[0], planes[1], strides[1]);
	default:
		return SDL_UpdateYUVTexture(texture, NULL, planes[0], strides[0], planes[1],
				strides[1], planes[2], strides[2]);
	}
}

/* The picture becomes the texture, as far as it is possible: another program wrote all of it. */
static bool take(struct gid_domain *domain, const struct gid_frame *frame) {
	struct gid_slab *slab;
	struct gid_slab_info info;
	if (gid_slab_import(domain, frame->gid, &slab) < 0) {
		return SDL_SetError("its memory was taken back");
	}
	gid_slab_get_info(slab, &info);
	struct gid_box seen = {0};
	bool fits = gid_box_get_seen(frame->crop, info.layout.width, info.layout.height, &seen);
	fits = fits && gid_layout_check(&info.layout, info.slot_size) == 0;
	shown = fits ? (SDL_Rect){seen.x, seen.y, seen.width, seen.height} : shown;
	bool taken = fits ? prepare(&info.layout) : SDL_SetError("its rows or crop leave it");
	const uint8_t *slot = taken ? gid_slab_view(slab, gid_slot_of(frame->gid)) : NULL;
	taken = slot != NULL && fill(slot) && gid_slab_is_current(slab, frame->gid);
	gid_slab_unref(slab); /* stays mapped for the next frame */
	return taken;
}

static void draw(void) {
	if (texture != NULL) {
		SDL_FRect part;
		SDL_RectToFRect(&shown, &part);
		SDL_SetRenderLogicalPresentation(
				renderer, shown.w, shown.h, SDL_LOGICAL_PRESENTATION_LETTERBOX);
		SDL_RenderClear(renderer);
		SDL_RenderTexture(renderer, texture, &part, NULL);
		SDL_RenderPresent(renderer);
	}
}

/* Returns false when the window is closed. */
static bool hear_window(void) {
	for (SDL_Event event; SDL_PollEvent(&event);) {
		if (event.type == SDL_EVENT_QUIT) {
			return false;
		} else if (event.type == SDL_EVENT_WINDOW_EXPOSED) {
			draw();
		}
	}
	return true;
}

int main(int argc, char **argv) {
	const char *owner = argc == 4 && strcmp(argv[1], "-d") == 0 ? argv[2] : NULL;
	struct gid_domain *domain;
	if (argc != (owner == NULL ? 2 : 4)) {
		fprintf(stderr, "Usage: show [-d DOMAIN] STREAM\n");
		return EXIT_FAILURE;
	}
	if (!SDL_Init(SDL_INIT_VIDEO)) {
		fprintf(stderr, "show: %s\n", SDL_GetError());
		return EXIT_FAILURE;
	}
	if (gid_domain_connect(NULL, &domain) < 0) {
		fprintf(stderr, "show: %s\n", gid_domain_connect_error());
		return EXIT_FAILURE;
	}
	struct gid_consumer_options options = {
			.size = sizeof(options), .drop_old = true, .reconnect = true};
	struct gid_consumer *consumer = NULL;
	int error = gid_consumer_create(domain, owner, argv[argc - 1], &options, &consumer);
	while (error >= 0 && hear_window()) {
		error = gid_consumer_wait(consumer, KEYS_EVERY_MS);
		struct gid_frame frame;
		while (error >= 0 && (error = gid_consumer_receive(consumer, &frame)) == 1) {
			if (frame.gid != GID_NONE && take(domain, &frame)) {
				draw();
			} else if (frame.gid != GID_NONE) {
				fprintf(stderr, "show: a picture is left out: %s\n",
						SDL_GetError());
			}
			gid_consumer_release(consumer, &frame);
		}
		/* None is there now, or nobody sends, or SDL caught a signal. */
		error = error == -EAGAIN || error == -EINTR ? 0 : error;
	}
	if (error < 0) {
		const char *why = gid_domain_error(domain); /* gidd's own words, or none */
		fprintf(stderr, "show: %s\n", why[0] != '\0' ? why : gid_strerror(error));
	}
	gid_consumer_destroy(consumer);
	gid_domain_destroy(domain);
	SDL_Quit();
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
