// SPDX-License-Identifier: MIT
/*
 * Words are uploaded and read back as bytes of red, green, blue and alpha, which they are not:
 * their first byte is blue. No colour is treated otherwise than another one, so none has to be
 * swapped.
 */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "compose.h"

#define NAME_UNKNOWN "GL"

struct gl_composer {
	uint32_t width, height;
	EGLDisplay display;
	EGLContext context;
	GLuint program, texture, target, framebuffer;
	GLint box; /* the uniform */
};

static const char *const vertex_text =
		"attribute vec2 at;\n"
		"uniform vec4 box;\n"
		"varying vec2 place;\n"
		"void main() {\n"
		"	place = at;\n"
		"	gl_Position = vec4(box.xy + at * box.zw, 0.0, 1.0);\n"
		"}\n";
static const char *const fragment_text = "precision highp float;\n"
					 "uniform sampler2D layer;\n"
					 "varying vec2 place;\n"
					 "void main() {\n"
					 "	gl_FragColor = texture2D(layer, place);\n"
					 "}\n";

static const GLfloat corners[] = {0, 0, 1, 0, 0, 1, 1, 1};

/* --- a context, and what is drawn with and to ------------------------------------------------- */

static bool has_context(struct gl_composer *composer) {
	static const EGLint attributes[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
	composer->display = eglGetPlatformDisplay(
			EGL_PLATFORM_SURFACELESS_MESA, (void *)EGL_DEFAULT_DISPLAY, NULL);
	if (composer->display == EGL_NO_DISPLAY || !eglInitialize(composer->display, NULL, NULL) ||
			!eglBindAPI(EGL_OPENGL_ES_API)) {
		return false;
	}
	composer->context = eglCreateContext(
			composer->display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
	return composer->context != EGL_NO_CONTEXT &&
			eglMakeCurrent(composer->display, EGL_NO_SURFACE, EGL_NO_SURFACE,
					composer->context);
}

static void attach(GLuint program, GLenum type, const char *text) {
	GLuint shader = glCreateShader(type);
	glShaderSource(shader, 1, &text, NULL);
	glCompileShader(shader);
	glAttachShader(program, shader);
	glDeleteShader(shader); /* lives as long as the program */
}

static bool has_program(struct gl_composer *composer) {
	GLint linked = GL_FALSE;
	composer->program = glCreateProgram();
	attach(composer->program, GL_VERTEX_SHADER, vertex_text);
	attach(composer->program, GL_FRAGMENT_SHADER, fragment_text);
	glBindAttribLocation(composer->program, 0, "at");
	glLinkProgram(composer->program);
	glGetProgramiv(composer->program, GL_LINK_STATUS, &linked);
	composer->box = glGetUniformLocation(composer->program, "box");
	return linked == GL_TRUE;
}

/* Without smoothing: each pixel of a layer is one of the target. */
static GLuint make_texture(void) {
	GLuint texture;
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
	return texture;
}

static bool has_target(struct gl_composer *composer) {
	composer->target = make_texture();
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, (GLsizei)composer->width, (GLsizei)composer->height,
			0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	glGenFramebuffers(1, &composer->framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, composer->framebuffer);
	glFramebufferTexture2D(
			GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, composer->target, 0);
	composer->texture = make_texture();
	return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

struct gl_composer *gl_composer_create(uint32_t width, uint32_t height) {
	struct gl_composer *composer = calloc(1, sizeof(*composer));
	if (composer == NULL) {
		return NULL;
	}
	composer->width = width;
	composer->height = height;
	if (!has_context(composer) || !has_program(composer) || !has_target(composer)) {
		gl_composer_destroy(composer);
		return NULL;
	}
	return composer;
}

/* The display is the process's, and stays: others may have it, too. */
void gl_composer_destroy(struct gl_composer *composer) {
	if (composer == NULL) {
		return;
	}
	if (composer->context != EGL_NO_CONTEXT) {
		/* With the context goes all that was made in it. */
		eglMakeCurrent(composer->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
		eglDestroyContext(composer->display, composer->context);
	}
	free(composer);
}

const char *gl_composer_name(const struct gl_composer *composer) {
	eglMakeCurrent(composer->display, EGL_NO_SURFACE, EGL_NO_SURFACE, composer->context);
	const char *name = (const char *)glGetString(GL_RENDERER);
	return name != NULL ? name : NAME_UNKNOWN;
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* Where a number of pixels lies between -1 and 1, of so many. */
static GLfloat placed(int64_t pixels, uint32_t of) {
	return (GLfloat)(2.0 * (double)pixels / of - 1.0);
}

static void draw(const struct gl_composer *composer, const struct layer *layer) {
	GLfloat left = placed(layer->x, composer->width);
	GLfloat top = placed(layer->y, composer->height);
	GLfloat right = placed((int64_t)layer->x + layer->width, composer->width);
	GLfloat bottom = placed((int64_t)layer->y + layer->height, composer->height);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, (GLsizei)layer->width, (GLsizei)layer->height, 0,
			GL_RGBA, GL_UNSIGNED_BYTE, layer->pixels);
	glUniform4f(composer->box, left, top, right - left, bottom - top);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

int gl_composer_compose(struct gl_composer *composer, const struct layer *layers, size_t count,
		uint32_t *target) {
	if (!eglMakeCurrent(composer->display, EGL_NO_SURFACE, EGL_NO_SURFACE, composer->context)) {
		return -EIO;
	}
	glBindFramebuffer(GL_FRAMEBUFFER, composer->framebuffer);
	glBindTexture(GL_TEXTURE_2D, composer->texture);
	glViewport(0, 0, (GLsizei)composer->width, (GLsizei)composer->height);
	glClearColor(0, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glUseProgram(composer->program);
	glEnable(GL_BLEND);
	glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
	glEnableVertexAttribArray(0);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
	for (size_t i = 0; i < count; i++) {
		draw(composer, &layers[i]);
	}
	glReadPixels(0, 0, (GLsizei)composer->width, (GLsizei)composer->height, GL_RGBA,
			GL_UNSIGNED_BYTE, target);
	return glGetError() == GL_NO_ERROR ? 0 : -EIO;
}
