// SPDX-License-Identifier: MIT
#include "yuv_formats.h"

#include <drm_fourcc.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wlr/render/wlr_texture.h>
#include <wlr/util/log.h>

#include "dmabuf_create.h"
#include "memory_view.h"
#include "yuv_weights.h"

#define SIZE 64u	  /* in pixels, both ways */
#define STRIDE_ALIGN 64u  /* in bytes */
#define MEMORY (1u << 16) /* of a picture of any of the formats: 3 planes of 2 bytes a pixel */
#define BYTE 0xb4	  /* its content: Y, U and V are 180 (16 bits: 180.7) */
#define RED 0xff	  /* the result: 274, clamped */
#define GREEN 0x80	  /* 128.3 */
#define BLUE 0xff	  /* 296, clamped */
#define TOLERANCE 3	  /* of 255 */

static void handle_view_destroyed(struct memory_view *view) {
}

/* Also false if nothing was drawn, or black was sampled. */
static bool has_colour(struct memory_view *view, struct wlr_renderer *renderer) {
	static uint32_t pixels[SIZE * SIZE];
	memset(pixels, 0, sizeof(pixels));
	struct wlr_texture *texture = wlr_texture_from_buffer(renderer, &view->base);
	bool read = texture != NULL &&
			wlr_texture_read_pixels(texture,
					&(struct wlr_texture_read_pixels_options){
							.data = pixels,
							.format = DRM_FORMAT_XRGB8888,
							.stride = SIZE * 4,
					});
	wlr_texture_destroy(texture);
	uint32_t pixel = le32toh(pixels[SIZE * SIZE / 2 + SIZE / 2]);
	int red = pixel >> 16 & 0xff, green = pixel >> 8 & 0xff, blue = pixel & 0xff;
	return read && abs(red - RED) <= TOLERANCE && abs(green - GREEN) <= TOLERANCE &&
			abs(blue - BLUE) <= TOLERANCE;
}

static bool try_format(struct yuv *yuv, struct wlr_renderer *renderer,
		const struct gid_format_info *info, int fd) {
	struct gid_layout layout;
	if (gid_layout_init(&layout, info->fourcc, SIZE, SIZE, STRIDE_ALIGN) != 0 ||
			gid_layout_size(&layout) > MEMORY) {
		return false;
	}
	struct wlr_dmabuf_attributes planes = {
			.width = SIZE,
			.height = SIZE,
			.format = info->fourcc,
			.modifier = DRM_FORMAT_MOD_LINEAR,
			.n_planes = (int)layout.plane_count,
	};
	for (uint32_t i = 0; i < layout.plane_count; i++) {
		planes.fd[i] = fd;
		planes.offset[i] = layout.planes[i].offset;
		planes.stride[i] = layout.planes[i].stride;
	}
	const struct gid_colours not_said = {0};
	struct memory_view view;
	memory_view_init(&view, NULL, DRM_FORMAT_XRGB8888, SIZE, SIZE, 0, handle_view_destroyed);
	bool works = memory_view_set_yuv(&view, &planes, &not_said, yuv, renderer) &&
			has_colour(&view, renderer);
	wlr_buffer_drop(&view.base);
	return works;
}

void yuv_formats_find(
		struct wlr_drm_format_set *found, struct yuv *yuv, struct wlr_renderer *renderer) {
	*found = (struct wlr_drm_format_set){0};
	int fd = yuv != NULL ? dmabuf_create_filled(MEMORY, BYTE) : -1;
	if (fd < 0) {
		return;
	}
	char names[256] = "";
	const struct gid_format_info *info;
	for (size_t i = 0; (info = gid_format_at(i)) != NULL; i++) {
		if (yuv_is_drawn(info) && try_format(yuv, renderer, info, fd)) {
			const uint32_t letters = htole32(info->fourcc);
			size_t length = strlen(names);
			snprintf(names + length, sizeof(names) - length, " %.4s",
					(const char *)&letters);
			wlr_drm_format_set_add(found, info->fourcc, DRM_FORMAT_MOD_LINEAR);
		}
	}
	close(fd);
	wlr_log(WLR_INFO, "gid: formats that it is given plane by plane:%s",
			names[0] != '\0' ? names : " none");
}
