// SPDX-License-Identifier: MIT
#include "gles_sources.h"

#include <drm_fourcc.h>
#include <errno.h>

#include "drawing_parts.h"
#include "to_rgb.h"

/* The byte of its block in which a sample of 8 bits begins. */
static GLint byte_of(const struct gid_format_sample *sample) {
	return sample->shift / 8;
}

static bool has_bytes(const struct gid_format_info *format, size_t samples) {
	for (size_t i = 0; i < samples; i++) {
		if (format->samples[i].bits != 8 || format->samples[i].shift % 8 != 0) {
			return false;
		}
	}
	return true;
}

/* Pixels of four bytes. */
static bool is_rgb(const struct gid_format_info *format) {
	return format->kind == GID_FORMAT_RGB && format->planes[0].bytes == 4 &&
			has_bytes(format, 3);
}

/* Luma for each pixel, and colour in other planes, or in the same block of two pixels. */
static bool is_yuv(const struct gid_format_info *format) {
	return format->kind == GID_FORMAT_YUV && has_bytes(format, 3) &&
			(format->plane_count > 1 || format->planes[0].hsub == 2);
}

/* How the samples of a plane are told to the device, by their bytes. */
struct sample_format {
	GLenum internal, external, type;
	uint32_t fourcc; /* as a picture of its own, for an import */
};

static struct sample_format sample_format(const struct gid_layout *layout, uint32_t bytes) {
	if (layout->fourcc == DRM_FORMAT_RGB565) {
		return (struct sample_format){
				GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, DRM_FORMAT_RGB565};
	}
	switch (bytes) {
	case 1:
		return (struct sample_format){GL_R8, GL_RED, GL_UNSIGNED_BYTE, DRM_FORMAT_R8};
	case 2:
		return (struct sample_format){GL_RG8, GL_RG, GL_UNSIGNED_BYTE, DRM_FORMAT_GR88};
	default:
		return (struct sample_format){
				GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, DRM_FORMAT_ABGR8888};
	}
}

bool gles_source_can(const struct gid_layout *layout) {
	const struct gid_format_info *info = gid_format_find(layout->fourcc);
	if (info == NULL || layout->modifier != DRM_FORMAT_MOD_LINEAR ||
			(layout->fourcc != DRM_FORMAT_RGB565 && layout->fourcc != DRM_FORMAT_R8 &&
					!is_rgb(info) && !is_yuv(info))) {
		return false;
	}
	for (uint32_t i = 0; i < info->plane_count; i++) {
		if (layout->planes[i].stride % info->planes[i].bytes != 0) {
			return false; /* rows are told in samples */
		}
	}
	return true;
}

enum gles_kind gles_source_kind(const struct gid_layout *layout) {
	return layout->fourcc == DRM_FORMAT_RGB565		  ? GLES_RGB565
			: is_rgb(gid_format_find(layout->fourcc)) ? GLES_RGB
								  : GLES_YUV;
}

/* Columns and rows of a plane's samples that a box of pixels needs. */
static pixman_box32_t box_of_plane(
		const pixman_box32_t *box, const struct gid_format_plane *plane) {
	return (pixman_box32_t){box->x1 / plane->hsub, box->y1 / plane->vsub,
			(box->x2 - 1) / plane->hsub + 1, (box->y2 - 1) / plane->vsub + 1};
}

/* --- where they are --------------------------------------------------------------------------- */

/* Returns whether the texture has the whole plane now. */
static bool import_plane(struct gles_device *device, const struct picture *source, uint32_t plane,
		const struct sample_format *format, const struct gid_format_plane *info) {
	const struct gid_layout *layout = &source->layout;
	const uint64_t offset = source->offset + layout->planes[plane].offset;
	const EGLint attributes[] = {
			EGL_WIDTH,
			(EGLint)((layout->width + info->hsub - 1) / info->hsub),
			EGL_HEIGHT,
			(EGLint)((layout->height + info->vsub - 1) / info->vsub),
			EGL_LINUX_DRM_FOURCC_EXT,
			(EGLint)format->fourcc,
			EGL_DMA_BUF_PLANE0_FD_EXT,
			source->dmabuf,
			EGL_DMA_BUF_PLANE0_OFFSET_EXT,
			(EGLint)offset,
			EGL_DMA_BUF_PLANE0_PITCH_EXT,
			(EGLint)layout->planes[plane].stride,
			EGL_NONE,
	};
	EGLImageKHR image = offset > INT32_MAX
			? EGL_NO_IMAGE_KHR
			: eglCreateImageKHR(device->display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT,
					  NULL, attributes);
	if (image == EGL_NO_IMAGE_KHR) {
		return false;
	}
	gles_device_size_plane(device, plane, 0, 0, 0);
	gles_device_note_errors(device);
	glEGLImageTargetTexture2DOES(GL_TEXTURE_2D, image);
	bool done = glGetError() == GL_NO_ERROR;
	eglDestroyImageKHR(device->display, image); /* the texture keeps what it needs */
	device->is_reading |= done;
	return done;
}

/* --- copied ----------------------------------------------------------------------------------- */

static int copy_plane(struct drawing *drawing, const struct picture *source, uint32_t plane,
		const struct sample_format *format, uint32_t bytes, const pixman_box32_t *box) {
	struct gles_device *device = drawing->device;
	const struct gid_plane *from = &source->layout.planes[plane];
	const int32_t width = box->x2 - box->x1;
	const int32_t part = (int32_t)(PART_PIXELS / (uint32_t)width) + 1;
	gles_device_size_plane(device, plane, format->internal, (uint32_t)width,
			(uint32_t)(box->y2 - box->y1));
	glPixelStorei(GL_UNPACK_ROW_LENGTH, (GLint)(from->stride / bytes));
	for (int32_t y = box->y1; y < box->y2; y += part) {
		const int32_t rows = box->y2 - y < part ? box->y2 - y : part;
		glTexSubImage2D(GL_TEXTURE_2D, 0, 0, y - box->y1, width, rows, format->external,
				format->type,
				source->memory + from->offset + (size_t)y * from->stride +
						(size_t)box->x1 * bytes);
		drawing->cost += (uint64_t)width * (uint64_t)rows;
		if (rows == part && !drawing_goes_on(drawing)) {
			return -ECANCELED;
		}
	}
	return 0;
}

/* Has the planes as textures, and says where in the picture each begins. */
static int set_planes(struct drawing *drawing, const struct picture *source,
		const pixman_box32_t *box, GLint origins[GLES_PLANES][2]) {
	struct gles_device *device = drawing->device;
	const struct gid_format_info *info = gid_format_find(source->layout.fourcc);
	bool copied = false;
	for (uint32_t i = 0; i < info->plane_count; i++) {
		const struct gid_format_plane *plane = &info->planes[i];
		const struct sample_format format = sample_format(&source->layout, plane->bytes);
		const pixman_box32_t part = box_of_plane(box, plane);
		origins[i][0] = origins[i][1] = 0;
		if (source->is_dmabuf && device->imports &&
				import_plane(device, source, i, &format, plane)) {
			continue;
		}
		int ret = copy_plane(drawing, source, i, &format, plane->bytes, &part);
		if (ret < 0) {
			return ret;
		}
		copied = true;
		origins[i][0] = part.x1;
		origins[i][1] = part.y1;
	}
	drawing->copies.sources += copied;
	return 0;
}

/* --- what the program is told ----------------------------------------------------------------- */

static GLint shift_of(uint32_t subsampling) {
	return subsampling == 4 ? 2 : subsampling == 2 ? 1 : 0;
}

/* Of Y, U and V, or of the pixel alone: by which texture, and where in it. */
static void set_plane_uniforms(struct gles_device *device, const struct gid_layout *layout,
		const uint8_t planes[GLES_PLANES], const GLint origins[GLES_PLANES][2]) {
	const struct gid_format_info *info = gid_format_find(layout->fourcc);
	GLint origin[GLES_PLANES][2], shift[GLES_PLANES][2];
	for (int i = 0; i < GLES_PLANES; i++) {
		const struct gid_format_plane *plane = &info->planes[planes[i]];
		glUniform1i(device->uniforms[UNIFORM_PLANE_0 + i], planes[i]);
		origin[i][0] = origins[planes[i]][0];
		origin[i][1] = origins[planes[i]][1];
		shift[i][0] = shift_of(plane->hsub);
		shift[i][1] = shift_of(plane->vsub);
	}
	glUniform2iv(device->uniforms[UNIFORM_ORIGIN], GLES_PLANES, origin[0]);
	glUniform2iv(device->uniforms[UNIFORM_SHIFT], GLES_PLANES, shift[0]);
}

static void set_yuv(struct gles_device *device, const struct gid_colours *colours,
		const struct gid_format_info *format) {
	const GLint first = byte_of(&format->samples[0]);
	const GLint bytes[] = {first, first + (format->planes[0].hsub == 2 ? 2 : 0),
			byte_of(&format->samples[1]), byte_of(&format->samples[2])};
	struct to_rgb_matrix matrix;
	to_rgb_find_matrix(&matrix, colours);
	glUniform4iv(device->uniforms[UNIFORM_BYTES], 1, bytes);
	glUniform2i(device->uniforms[UNIFORM_OFFSET], matrix.y_offset, matrix.y);
	glUniform4i(device->uniforms[UNIFORM_MATRIX], matrix.red_v, matrix.green_u, matrix.green_v,
			matrix.blue_u);
}

static void set_rgb(struct gles_device *device, const struct engine_layer *layer,
		const struct gid_format_info *format) {
	const bool alpha = format->samples[3].bits != 0;
	const GLint order[] = {byte_of(&format->samples[0]), byte_of(&format->samples[1]),
			byte_of(&format->samples[2]), byte_of(&format->samples[3])};
	glUniform4iv(device->uniforms[UNIFORM_ORDER], 1, order);
	glUniform1i(device->uniforms[UNIFORM_OPAQUE], !alpha);
	glUniform1i(device->uniforms[UNIFORM_STRAIGHT], layer_is_straight(layer, format->fourcc));
}

int gles_source_set(struct drawing *drawing, const struct picture *source,
		const struct engine_layer *layer, const pixman_box32_t *box) {
	struct gles_device *device = drawing->device;
	const struct gid_format_info *format = gid_format_find(source->layout.fourcc);
	const struct gid_colours colours = layer_colours(layer, &source->layout);
	const uint8_t planes[GLES_PLANES] = {0, format->samples[1].plane, format->samples[2].plane};
	GLint origins[GLES_PLANES][2] = {{0}};
	int ret = set_planes(drawing, source, box, origins);
	if (ret < 0) {
		return ret;
	}
	set_plane_uniforms(device, &source->layout, planes, origins);
	glUniform4i(device->uniforms[UNIFORM_BOX], box->x1, box->y1, box->x2 - 1, box->y2 - 1);
	if (is_yuv(format)) {
		set_yuv(device, &colours, format);
	} else if (is_rgb(format)) {
		set_rgb(device, layer, format);
	}
	return 0;
}

int gles_source_set_mask(
		struct drawing *drawing, const struct picture *source, const pixman_box32_t *box) {
	static const uint8_t planes[GLES_PLANES] = {0};
	struct gles_device *device = drawing->device;
	GLint origins[GLES_PLANES][2] = {{0}};
	int ret = set_planes(drawing, source, box, origins);
	if (ret == 0) {
		set_plane_uniforms(device, &source->layout, planes, origins);
	}
	return ret;
}
