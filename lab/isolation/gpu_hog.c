// SPDX-License-Identifier: MIT
/*
 * gid-bench-gpu-hog: keeps the GPU busy, or the software renderer where there is no GPU. It draws
 * one picture after the other with an expensive fragment shader. At SIGTERM it writes a line of
 * JSON with the renderer and the number of pictures.
 */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../tests/hostile/programs/ending.h"

#define WIDTH 640
#define HEIGHT 360
#define CORNER 8

static const char *const vertex_source = "attribute vec2 at;"
					 "void main() { gl_Position = vec4(at, 0.0, 1.0); }";
static const char *const fragment_source =
		"precision highp float;"
		"uniform float seed;"
		"void main() {"
		"  vec2 z = gl_FragCoord.xy * 0.001 + seed;"
		"  for (int i = 0; i < 64; i++) {"
		"    z = fract(vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + 0.37);"
		"  }"
		"  gl_FragColor = vec4(z, 0.0, 1.0);"
		"}";

static bool make_context(void) {
	static const EGLint wanted[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
	EGLDisplay display = eglGetPlatformDisplay(
			EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL) ||
			!eglBindAPI(EGL_OPENGL_ES_API)) {
		return false;
	}
	EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, wanted);
	return context != EGL_NO_CONTEXT &&
			eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
}

static void attach_shader(GLuint program, GLenum type, const char *source) {
	GLuint shader = glCreateShader(type);
	glShaderSource(shader, 1, &source, NULL);
	glCompileShader(shader);
	glAttachShader(program, shader);
}

/* Draws into a texture: nothing is shown. */
static bool make_picture(void) {
	GLuint texture, target;
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, WIDTH, HEIGHT, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	glGenFramebuffers(1, &target);
	glBindFramebuffer(GL_FRAMEBUFFER, target);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
	glViewport(0, 0, WIDTH, HEIGHT);
	return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

static GLint make_program(void) {
	static const GLfloat whole[] = {-1, -1, 3, -1, -1, 3};
	GLint linked = 0;
	GLuint program = glCreateProgram();
	attach_shader(program, GL_VERTEX_SHADER, vertex_source);
	attach_shader(program, GL_FRAGMENT_SHADER, fragment_source);
	glBindAttribLocation(program, 0, "at");
	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &linked);
	glUseProgram(program);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, whole);
	glEnableVertexAttribArray(0);
	return linked ? glGetUniformLocation(program, "seed") : -1;
}

/* Does all set-up before the first picture: in an emulated guest that takes minutes. */
static void draw_corner(void) {
	glEnable(GL_SCISSOR_TEST);
	glScissor(0, 0, CORNER, CORNER);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glFinish();
	glDisable(GL_SCISSOR_TEST);
}

int main(void) {
	unsigned pictures = 0;
	if (!make_context() || !make_picture()) {
		fprintf(stderr, "gid-bench-gpu-hog: no GL without a window on this machine\n");
		return EXIT_FAILURE;
	}
	GLint seed = make_program();
	if (seed < 0) {
		fprintf(stderr, "gid-bench-gpu-hog: the shader cannot be had\n");
		return EXIT_FAILURE;
	}
	ending_init();
	draw_corner();
	fprintf(stderr, "gid-bench-gpu-hog: computes\n"); /* tells the caller that it has started */
	for (; !ending; pictures++) {
		glUniform1f(seed, (GLfloat)(pictures % 1000) * 0.001f);
		glDrawArrays(GL_TRIANGLES, 0, 3);
		glFinish();
	}
	printf("{\"by\": \"%s\", \"pictures\": %u}\n", (const char *)glGetString(GL_RENDERER),
			pictures);
	return EXIT_SUCCESS;
}
