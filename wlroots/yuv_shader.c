// SPDX-License-Identifier: MIT
#include "yuv_shader.h"

#include <gid/gid.h>
#include <wlr/util/log.h>

#define CORNER 0 /* index of the vertex attribute */

static const char vertex_source[] = "attribute vec2 corner;\n"
				    "uniform vec2 luma_scale, chroma_scale;\n"
				    "varying vec2 luma_at, chroma_at;\n"
				    "void main() {\n"
				    "	luma_at = corner * luma_scale;\n"
				    "	chroma_at = corner * chroma_scale;\n"
				    "	gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);\n"
				    "}\n";

static const char fragment_source[] =
		"#ifdef GL_FRAGMENT_PRECISION_HIGH\n"
		"precision highp float;\n"
		"#else\n"
		"precision mediump float;\n"
		"#endif\n"
		"uniform sampler2D luma, second, third;\n"
		"uniform mat4 matrices[3];\n"
		"uniform vec4 offset;\n"
		"varying vec2 luma_at, chroma_at;\n"
		"void main() {\n"
		"	gl_FragColor = matrices[0] * texture2D(luma, luma_at) +\n"
		"		matrices[1] * texture2D(second, chroma_at) +\n"
		"		matrices[2] * texture2D(third, chroma_at) + offset;\n"
		"}\n";

/* --- the program ------------------------------------------------------------------------------ */

static void attach(GLuint program, GLenum type, const char *source) {
	GLuint shader = glCreateShader(type);
	glShaderSource(shader, 1, &source, NULL);
	glCompileShader(shader);
	glAttachShader(program, shader);
	glDeleteShader(shader); /* takes effect when the program is deleted */
}

static GLuint program_create(void) {
	GLuint program = glCreateProgram();
	attach(program, GL_VERTEX_SHADER, vertex_source);
	attach(program, GL_FRAGMENT_SHADER, fragment_source);
	glBindAttribLocation(program, CORNER, "corner");
	glLinkProgram(program);
	GLint linked = GL_FALSE;
	glGetProgramiv(program, GL_LINK_STATUS, &linked);
	if (!linked) {
		char why[256] = "";
		glGetProgramInfoLog(program, sizeof(why), NULL, why);
		wlr_log(WLR_ERROR, "gid: no shader for YUV: %s", why);
		glDeleteProgram(program);
		return 0;
	}
	return program;
}

bool yuv_shader_init(struct yuv_shader *shader) {
	*shader = (struct yuv_shader){
			.set_image = (PFNGLEGLIMAGETARGETTEXTURE2DOESPROC)eglGetProcAddress(
					"glEGLImageTargetTexture2DOES"),
	};
	if (shader->set_image == NULL) {
		return false;
	}
	shader->program = program_create();
	if (shader->program == 0) {
		return false;
	}
	static const char *const textures[YUV_TEXTURES_MAX] = {"luma", "second", "third"};
	glUseProgram(shader->program);
	for (int i = 0; i < YUV_TEXTURES_MAX; i++) {
		glUniform1i(glGetUniformLocation(shader->program, textures[i]), i);
	}
	glUseProgram(0);
	shader->matrices = glGetUniformLocation(shader->program, "matrices");
	shader->offset = glGetUniformLocation(shader->program, "offset");
	shader->luma_scale = glGetUniformLocation(shader->program, "luma_scale");
	shader->chroma_scale = glGetUniformLocation(shader->program, "chroma_scale");
	return true;
}

void yuv_shader_finish(struct yuv_shader *shader) {
	glDeleteProgram(shader->program);
	*shader = (struct yuv_shader){0};
}

/* --- a picture -------------------------------------------------------------------------------- */

struct state {
	GLint viewport[4];
	GLboolean blend, scissor;
};

static void state_save(struct state *state) {
	glGetIntegerv(GL_VIEWPORT, state->viewport);
	state->blend = glIsEnabled(GL_BLEND);
	state->scissor = glIsEnabled(GL_SCISSOR_TEST);
	glDisable(GL_BLEND);
	glDisable(GL_SCISSOR_TEST);
}

static void state_restore(const struct state *state) {
	glViewport(state->viewport[0], state->viewport[1], state->viewport[2], state->viewport[3]);
	if (state->blend) {
		glEnable(GL_BLEND);
	}
	if (state->scissor) {
		glEnable(GL_SCISSOR_TEST);
	}
}

/*
 * The textures exist for this pass only. Kept ones would hold the memory of a client that is gone,
 * and a driver could keep their old pixels. Nearest filtering: samples are not blended, as the
 * positions of chroma samples are not specified.
 */
static void bind_textures(const struct yuv_shader *shader, const struct yuv_images *images,
		GLuint textures[YUV_TEXTURES_MAX]) {
	glGenTextures(YUV_TEXTURES_MAX, textures);
	for (int i = 0; i < YUV_TEXTURES_MAX; i++) {
		/* An absent third texture has no weight, but must be sampled. */
		bool there = images->textures[i] != EGL_NO_IMAGE_KHR;
		glActiveTexture(GL_TEXTURE0 + (GLenum)i);
		glBindTexture(GL_TEXTURE_2D, textures[i]);
		shader->set_image(GL_TEXTURE_2D, images->textures[there ? i : 1]);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
	}
}

/* Deleting a texture unbinds it. */
static void unbind_textures(const GLuint textures[YUV_TEXTURES_MAX]) {
	glDeleteTextures(YUV_TEXTURES_MAX, textures);
	glActiveTexture(GL_TEXTURE0);
}

/* With an odd size, the last texel covers pixels that do not exist. */
static float scale(int32_t pixels, uint32_t pixels_of_texel) {
	uint32_t texels = ((uint32_t)pixels + pixels_of_texel - 1) / pixels_of_texel;
	return (float)pixels / (float)(texels * pixels_of_texel);
}

static void set_uniforms(const struct yuv_shader *shader,
		const struct wlr_dmabuf_attributes *dmabuf, const struct gid_colours *colours) {
	const struct gid_format_info *info = gid_format_find(dmabuf->format);
	const struct gid_format_plane *luma = &info->planes[0];
	const struct gid_format_plane *chroma = &info->planes[info->plane_count > 1];
	struct yuv_weights weights;
	yuv_weights_init(&weights, colours, info);
	glUniformMatrix4fv(shader->matrices, YUV_TEXTURES_MAX, GL_FALSE, weights.matrices[0]);
	glUniform4fv(shader->offset, 1, weights.offset);
	/* A paired format has luma for each pixel of its blocks. */
	glUniform2f(shader->luma_scale, scale(dmabuf->width, luma->hsub), 1);
	glUniform2f(shader->chroma_scale, scale(dmabuf->width, chroma->hsub),
			scale(dmabuf->height, chroma->vsub));
}

bool yuv_shader_draw(const struct yuv_shader *shader, const struct yuv_images *images,
		const struct wlr_dmabuf_attributes *dmabuf, const struct gid_colours *colours) {
	static const GLfloat corners[] = {0, 0, 1, 0, 0, 1, 1, 1};
	for (int i = 0; i < 8 && glGetError() != GL_NO_ERROR; i++) { /* errors of other users */
	}
	struct state state;
	state_save(&state);
	glViewport(0, 0, dmabuf->width, dmabuf->height);
	glUseProgram(shader->program);
	GLuint textures[YUV_TEXTURES_MAX];
	bind_textures(shader, images, textures);
	set_uniforms(shader, dmabuf, colours);
	glVertexAttribPointer(CORNER, 2, GL_FLOAT, GL_FALSE, 0, corners);
	glEnableVertexAttribArray(CORNER);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
	glDisableVertexAttribArray(CORNER);
	unbind_textures(textures);
	state_restore(&state);
	glFlush();
	return glGetError() == GL_NO_ERROR;
}
