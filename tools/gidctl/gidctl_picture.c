// SPDX-License-Identifier: MIT
#include "gidctl_picture.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <fcntl.h>
#include <gid/domain.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <to_rgb.h>
#include <unistd.h>

/* --- from a frame ----------------------------------------------------------------------------- */

static int copy_seen(const struct gid_slab *slab, const struct gid_slab_info *info, gid_id gid,
		const struct gid_box *seen, uint32_t *pixels) {
	bool is_dmabuf = info->memory == GID_MEMORY_DMABUF;
	const void *slot = gid_slab_view(slab, gid_slot_of(gid));
	if (slot == NULL) {
		return is_dmabuf ? -ENOTSUP : gid_slab_is_current(slab, gid) ? -ENODATA : -ESTALE;
	}
	if (is_dmabuf && gid_dmabuf_begin_read(info->fd) != 0) {
		return -EBUSY;
	}
	to_rgb(&info->layout, slot, (uint32_t)seen->x, (uint32_t)seen->y, (uint32_t)seen->width,
			(uint32_t)seen->height, pixels, (size_t)seen->width * 4);
	if (is_dmabuf) {
		gid_dmabuf_end_read(info->fd);
	}
	/* Asked after reading: then what was read is what the frame named. */
	return gid_slab_is_current(slab, gid) ? 0 : -ESTALE;
}

/* Displays take colours that are multiplied by alpha, PNG has them as they are. */
static uint32_t divide_by_alpha(uint32_t pixel) {
	uint32_t alpha = pixel >> 24, result = pixel & 0xff000000u;
	for (unsigned shift = 0; shift < 24 && alpha > 0; shift += 8) {
		uint32_t value = ((pixel >> shift & 255) * 255 + alpha / 2) / alpha;
		result |= (value < 255 ? value : 255) << shift;
	}
	return result;
}

/* Puts each pixel where it is seen with the frame's transform. */
static int turn(struct picture *picture, uint32_t transform) {
	uint32_t width = picture->width, height = picture->height;
	struct gid_box whole = {.width = (int32_t)width, .height = (int32_t)height};
	struct gid_box turned = gid_box_turn(whole, width, height, transform);
	uint32_t *pixels = calloc((size_t)width * height, sizeof(*pixels));
	if (pixels == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < width * height; i++) {
		struct gid_box at = {.x = (int32_t)(i % width),
				.y = (int32_t)(i / width),
				.width = 1,
				.height = 1};
		at = gid_box_turn(at, width, height, transform);
		pixels[at.y * turned.width + at.x] = picture->pixels[i];
	}
	free(picture->pixels);
	*picture = (struct picture){.width = (uint32_t)turned.width,
			.height = (uint32_t)turned.height,
			.pixels = pixels,
			.has_alpha = picture->has_alpha};
	return 0;
}

int picture_init(struct picture *picture, const struct gid_slab *slab,
		const struct gid_frame *frame) {
	struct gid_slab_info info;
	struct gid_box seen;
	*picture = (struct picture){0};
	gid_slab_get_info(slab, &info);
	if (info.layout.modifier != DRM_FORMAT_MOD_LINEAR || !to_rgb_can(info.layout.fourcc)) {
		return -ENOTSUP;
	}
	int error = gid_layout_check(&info.layout, info.slot_size);
	if (error != 0) {
		return error;
	}
	if (!gid_box_get_seen(frame->crop, info.layout.width, info.layout.height, &seen)) {
		return -EINVAL;
	}
	*picture = (struct picture){
			.width = (uint32_t)seen.width,
			.height = (uint32_t)seen.height,
			.pixels = calloc((size_t)seen.width * (size_t)seen.height, 4),
			.has_alpha = to_rgb_has_alpha(info.layout.fourcc),
	};
	error = picture->pixels == NULL
			? -ENOMEM
			: copy_seen(slab, &info, frame->gid, &seen, picture->pixels);
	if (error == 0 && frame->transform != 0) {
		error = turn(picture, frame->transform);
	}
	if (error != 0) {
		picture_finish(picture);
		return error;
	}
	bool multiplied = picture->has_alpha && !to_rgb_is_yuv(info.layout.fourcc);
	for (size_t i = 0; multiplied && i < (size_t)picture->width * picture->height; i++) {
		picture->pixels[i] = divide_by_alpha(picture->pixels[i]);
	}
	return 0;
}

void picture_finish(struct picture *picture) {
	free(picture->pixels);
	*picture = (struct picture){0};
}

/* --- to a file -------------------------------------------------------------------------------- */

/* PNG of 24 bits where nothing shows through: the fourth byte is left out of each pixel. */
static void pack_opaque(const struct picture *picture, uint8_t *bytes) {
	for (size_t i = 0; i < (size_t)picture->width * picture->height; i++) {
		bytes[3 * i] = (uint8_t)picture->pixels[i];
		bytes[3 * i + 1] = (uint8_t)(picture->pixels[i] >> 8);
		bytes[3 * i + 2] = (uint8_t)(picture->pixels[i] >> 16);
	}
}

static int encode(const struct picture *picture, FILE *file) {
	png_image image = {
			.version = PNG_IMAGE_VERSION,
			.width = picture->width,
			.height = picture->height,
			.format = picture->has_alpha ? PNG_FORMAT_BGRA : PNG_FORMAT_BGR,
	};
	uint8_t *packed = NULL;
	if (!picture->has_alpha) {
		packed = malloc((size_t)picture->width * picture->height * 3);
		if (packed == NULL) {
			return -ENOMEM;
		}
		pack_opaque(picture, packed);
	}
	int done = png_image_write_to_stdio(&image, file, 0,
			packed != NULL ? packed : (uint8_t *)picture->pixels, 0, NULL);
	free(packed);
	return done && fflush(file) == 0 ? 0 : errno != 0 ? -errno : -EIO;
}

static int write_all(int fd, const char *bytes, size_t size) {
	for (size_t done = 0; done < size;) {
		ssize_t wrote = write(fd, bytes + done, size - done);
		if (wrote < 0 && errno != EINTR) {
			return -errno;
		}
		done += wrote > 0 ? (size_t)wrote : 0;
	}
	return 0;
}

static int write_file(const char *path, const char *bytes, size_t size) {
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	struct stat status;
	if (fd < 0) {
		return -errno;
	}
	int error = write_all(fd, bytes, size);
	bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
	if (close(fd) < 0 && error == 0) {
		error = -errno;
	}
	if (error != 0 && is_file) {
		unlink(path);
	}
	return error;
}

int picture_write(const struct picture *picture, const char *path) {
	char *bytes = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&bytes, &size);
	if (memory == NULL) {
		return -errno;
	}
	errno = 0;
	int error = encode(picture, memory);
	fclose(memory);
	if (error == 0) {
		error = strcmp(path, "-") == 0 ? write_all(STDOUT_FILENO, bytes, size)
					       : write_file(path, bytes, size);
	}
	free(bytes);
	return error;
}
