// SPDX-License-Identifier: MIT
/** Draws the planes of a YUV picture as red, green and blue, pixel for pixel. */
#ifndef GID_WLROOTS_YUV_SHADER_H
#define GID_WLROOTS_YUV_SHADER_H

#include <GLES2/gl2.h>
#include <GLES2/gl2ext.h>

#include "yuv_images.h"
#include "yuv_weights.h"

struct yuv_shader {
	GLuint program;
	GLint matrices, offset, luma_scale, chroma_scale; /* where its uniforms are */
	PFNGLEGLIMAGETARGETTEXTURE2DOESPROC set_image;
};

/* All with the renderer's context current. Returns false, and there is nothing to finish. */
bool yuv_shader_init(struct yuv_shader *shader);
void yuv_shader_finish(struct yuv_shader *shader);

/*
 * Draws the picture over the whole of the bound framebuffer, which is as large as it. OpenGL's
 * state is afterwards as it was, but for what each user of it sets anyway: program, active texture
 * unit (then 0), and what is bound to the units (then nothing). Returns whether OpenGL has no
 * complaint.
 */
bool yuv_shader_draw(const struct yuv_shader *shader, const struct yuv_images *images,
		const struct wlr_dmabuf_attributes *dmabuf, const struct gid_colours *colours);

#endif
