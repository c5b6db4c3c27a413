// SPDX-License-Identifier: MIT
/** Draws the planes of a YUV picture as RGB, pixel by pixel. */
#ifndef GID_WLROOTS_YUV_SHADER_H
#define GID_WLROOTS_YUV_SHADER_H

#include <GLES2/gl2.h>
#include <GLES2/gl2ext.h>

#include "yuv_images.h"
#include "yuv_weights.h"

struct yuv_shader {
	GLuint program;
	GLint matrices, offset, luma_scale, chroma_scale; /* locations of the uniforms */
	PFNGLEGLIMAGETARGETTEXTURE2DOESPROC set_image;
};

/*
 * To be called with the renderer's context current. If yuv_shader_init() returns false, there is
 * nothing to finish.
 */
bool yuv_shader_init(struct yuv_shader *shader);
void yuv_shader_finish(struct yuv_shader *shader);

/*
 * Draws the picture over the whole bound framebuffer, which has the same size. Afterwards OpenGL's
 * state is as before, except for what its users set anyway: program, active texture unit (now 0),
 * and textures bound to the units (now none). Returns whether OpenGL reported no error.
 */
bool yuv_shader_draw(const struct yuv_shader *shader, const struct yuv_images *images,
		const struct wlr_dmabuf_attributes *dmabuf, const struct gid_colours *colours);

#endif
