// SPDX-License-Identifier: MIT
#include "gles_device.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gles_program.h"

static const char *const uniform_names[UNIFORM_COUNT] = {
		[UNIFORM_TARGET_SIZE] = "target_size",
		[UNIFORM_SWAPPED] = "swapped",
		[UNIFORM_COLOUR] = "colour",
		[UNIFORM_PLANE_0] = "plane_0",
		[UNIFORM_PLANE_1] = "plane_1",
		[UNIFORM_PLANE_2] = "plane_2",
		[UNIFORM_ORIGIN] = "origin",
		[UNIFORM_SHIFT] = "shift",
		[UNIFORM_CORNER] = "corner",
		[UNIFORM_BOX] = "box",
		[UNIFORM_STEPS] = "steps",
		[UNIFORM_START] = "start",
		[UNIFORM_STRAIGHT] = "straight",
		[UNIFORM_OPAQUE] = "opaque",
		[UNIFORM_ORDER] = "order",
		[UNIFORM_BYTES] = "bytes",
		[UNIFORM_MATRIX] = "matrix",
		[UNIFORM_OFFSET] = "offset",
		[UNIFORM_ALPHA] = "alpha",
};

__attribute__((format(printf, 4, 5))) static int fail(
		char *text, size_t size, int error, const char *format, ...) {
	va_list args;
	va_start(args, format);
	vsnprintf(text, size, format, args);
	va_end(args);
	return error;
}

/* --- the display, which all contexts of the process share ------------------------------------- */

static pthread_mutex_t display_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned display_users;

/* Returns EGL_NO_DISPLAY if there is none. */
static EGLDisplay take_display(void) {
	if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_base") ||
			!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless")) {
		return EGL_NO_DISPLAY;
	}
	pthread_mutex_lock(&display_lock);
	EGLDisplay display = eglGetPlatformDisplayEXT(
			EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	if (display != EGL_NO_DISPLAY && !eglInitialize(display, NULL, NULL)) {
		display = EGL_NO_DISPLAY;
	}
	display_users += display != EGL_NO_DISPLAY;
	pthread_mutex_unlock(&display_lock);
	return display;
}

static void give_display(EGLDisplay display) {
	pthread_mutex_lock(&display_lock);
	if (--display_users == 0) {
		eglTerminate(display);
	}
	pthread_mutex_unlock(&display_lock);
}

/* Whether it draws with the processor. */
static bool is_software(EGLDisplay display) {
	EGLAttrib device;
	if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_query") ||
			!eglQueryDisplayAttribEXT(display, EGL_DEVICE_EXT, &device)) {
		return true; /* that is not known: it is not taken for a device */
	}
	const char *extensions = eglQueryDeviceStringEXT((EGLDeviceEXT)device, EGL_EXTENSIONS);
	return extensions == NULL ||
			epoxy_extension_in_string(extensions, "EGL_MESA_device_software");
}

/* Whether this process may make code, as drivers without a graphics device do. */
static bool may_make_code(void) {
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED) {
		return false;
	}
	bool may = mprotect(page, size, PROT_READ | PROT_EXEC) == 0;
	munmap(page, size);
	return may;
}

/* epoxy ends the process when it misses a library. */
static bool has_libraries(void) {
	void *library = dlopen("libGLESv2.so.2", RTLD_LAZY | RTLD_LOCAL);
	if (library == NULL) {
		return false;
	}
	dlclose(library);
	return epoxy_has_egl();
}

/* --- a context -------------------------------------------------------------------------------- */

static EGLContext make_context(EGLDisplay display) {
	static const EGLint robust[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0,
			EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET,
			EGL_NONE};
	static const EGLint plain[] = {
			EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0, EGL_NONE};
	if (!eglBindAPI(EGL_OPENGL_ES_API)) {
		return EGL_NO_CONTEXT;
	}
	EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, robust);
	return context != EGL_NO_CONTEXT
			? context
			: eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, plain);
}

static bool compile(GLuint program, GLenum type, const char *defined, const char *text) {
	const char *parts[] = {gles_version_text, defined, text};
	GLint compiled = GL_FALSE;
	GLuint shader = glCreateShader(type);
	glShaderSource(shader, 3, parts, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
	glAttachShader(program, shader);
	glDeleteShader(shader); /* with the program */
	return compiled == GL_TRUE;
}

static int make_program(struct gles_program *of, enum gles_kind kind, bool bilinear) {
	char defined[64];
	GLint linked = GL_FALSE;
	GLuint program = glCreateProgram();
	snprintf(defined, sizeof(defined), "#define KIND %d\n#define FILTER %d\n", kind, bilinear);
	if (compile(program, GL_VERTEX_SHADER, "", gles_vertex_text) &&
			compile(program, GL_FRAGMENT_SHADER, defined, gles_fragment_text)) {
		glLinkProgram(program);
		glGetProgramiv(program, GL_LINK_STATUS, &linked);
	}
	if (linked != GL_TRUE) {
		glDeleteProgram(program);
		return -ENOTSUP;
	}
	for (int i = 0; i < UNIFORM_COUNT; i++) {
		of->uniforms[i] = glGetUniformLocation(program, uniform_names[i]);
	}
	of->program = program;
	return 0;
}

int gles_device_use(struct gles_device *device, enum gles_kind kind, bool bilinear) {
	struct gles_program *of = &device->programs[kind][bilinear];
	int ret = of->program == 0 ? make_program(of, kind, bilinear) : 0;
	if (ret < 0) {
		return ret;
	}
	glUseProgram(of->program);
	device->uniforms = of->uniforms;
	glUniform2f(of->uniforms[UNIFORM_TARGET_SIZE], (float)device->width, (float)device->height);
	glUniform1i(of->uniforms[UNIFORM_SWAPPED], device->swapped);
	return 0;
}

/* Of the texture that is bound: with the usual ones it would need smaller pictures of itself. */
static void set_filters(void) {
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

/* What stays as it is in the context. */
static void set_up(struct gles_device *device) {
	glGenFramebuffers(1, &device->framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, device->framebuffer);
	for (int i = 0; i < GLES_PLANES; i++) {
		glGenTextures(1, &device->planes[i].texture);
		glBindTexture(GL_TEXTURE_2D, device->planes[i].texture);
		set_filters();
	}
	glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
	glPixelStorei(GL_PACK_ALIGNMENT, 1);
	glDisable(GL_DITHER);
	glEnable(GL_BLEND);
	glEnableVertexAttribArray(0);
	glEnableVertexAttribArray(1);
	const GLsizei size = sizeof(struct gles_vertex);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, size, &device->vertices[0].x);
	glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, size, &device->vertices[0].dx);
}

static int set_up_context(struct gles_device *device, char *text, size_t text_size) {
	device->context = make_context(device->display);
	if (device->context == EGL_NO_CONTEXT || !gles_device_enter(device)) {
		return fail(text, text_size, -ENOENT,
				"EGL has no context of OpenGL ES 3 without a surface (error 0x%x)",
				(unsigned)eglGetError());
	}
	GLint largest = 0;
	glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
	device->largest = (uint32_t)largest;
	snprintf(device->renderer, sizeof(device->renderer), "%s",
			(const char *)glGetString(GL_RENDERER));
	device->imports =
			epoxy_has_egl_extension(device->display, "EGL_EXT_image_dma_buf_import") &&
			epoxy_has_egl_extension(device->display, "EGL_KHR_image_base") &&
			epoxy_has_gl_extension("GL_OES_EGL_image");
	device->tells_resets = epoxy_has_gl_extension("GL_KHR_robustness") ||
			epoxy_has_gl_extension("GL_EXT_robustness");
	if (gles_device_use(device, GLES_COLOUR, false) < 0) {
		return fail(text, text_size, -ENOENT, "%s cannot make the programs that draw",
				device->renderer);
	}
	set_up(device);
	return 0;
}

int gles_device_create(struct gles_device **result, bool hardware, char *text, size_t text_size) {
	if (!has_libraries()) {
		return fail(text, text_size, -ENOENT,
				"libEGL.so.1 or libGLESv2.so.2 is not there: install libegl1 and "
				"libgles2");
	}
	struct gles_device *device = calloc(1, sizeof(*device));
	if (device == NULL) {
		return fail(text, text_size, -ENOMEM, "no memory");
	}
	int ret = 0;
	device->display = take_display();
	if (device->display == EGL_NO_DISPLAY) {
		ret = fail(text, text_size, -ENOENT,
				"EGL has no display without a window (error 0x%x): install a "
				"driver, such as libgl1-mesa-dri",
				(unsigned)eglGetError());
		goto error_device;
	}
	device->is_software = is_software(device->display);
	if (hardware && device->is_software) {
		ret = fail(text, text_size, -ENOENT, "EGL finds no graphics device");
	} else if (device->is_software && !may_make_code()) {
		ret = fail(text, text_size, -EPERM,
				"without a graphics device, EGL's driver makes code as it runs, "
				"which MemoryDenyWriteExecute= or the like forbids here");
	} else {
		ret = set_up_context(device, text, text_size);
	}
	if (ret < 0) {
		goto error_display;
	}
	*result = device;
	return 0;

error_display:
	gles_device_destroy(device);
	return ret;

error_device:
	free(device);
	return ret;
}

void gles_device_destroy(struct gles_device *device) {
	if (device == NULL) {
		return;
	}
	if (device->context != EGL_NO_CONTEXT) {
		/* All textures and programs go with it. */
		eglMakeCurrent(device->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
		eglDestroyContext(device->display, device->context);
		eglReleaseThread();
	}
	give_display(device->display);
	free(device);
}

bool gles_device_enter(struct gles_device *device) {
	return eglGetCurrentContext() == device->context ||
			eglMakeCurrent(device->display, EGL_NO_SURFACE, EGL_NO_SURFACE,
					device->context);
}

bool gles_device_is_lost(struct gles_device *device) {
	device->lost = device->lost ||
			(device->tells_resets && glGetGraphicsResetStatusEXT() != GL_NO_ERROR);
	return device->lost;
}

void gles_device_note_errors(struct gles_device *device) {
	/* A lost context has one forever; another has one of each kind at most. */
	for (int i = 0; i < 8 && glGetError() != GL_NO_ERROR; i++) {
		device->failed = true;
	}
}

bool gles_device_take_failure(struct gles_device *device) {
	gles_device_note_errors(device);
	if (!device->failed) {
		return false;
	}
	device->failed = false;
	for (int i = 0; i < GLES_PLANES; i++) { /* one of them may have no memory */
		device->planes[i].width = device->planes[i].height = 0;
	}
	return true;
}

/* --- textures and rectangles ------------------------------------------------------------------ */

int gles_device_resize(struct gles_device *device, uint32_t width, uint32_t height) {
	if (device->width == width && device->height == height) {
		return 0;
	}
	device->width = device->height = 0;
	glDeleteTextures(1, &device->target);
	glGenTextures(1, &device->target);
	glBindTexture(GL_TEXTURE_2D, device->target);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, (GLsizei)width, (GLsizei)height);
	set_filters();
	glFramebufferTexture2D(
			GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, device->target, 0);
	if (glGetError() != GL_NO_ERROR ||
			glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
		return -ENOMEM;
	}
	glViewport(0, 0, (GLsizei)width, (GLsizei)height);
	device->width = width;
	device->height = height;
	return 0;
}

void gles_device_size_plane(struct gles_device *device, uint32_t plane, GLenum format,
		uint32_t width, uint32_t height) {
	struct gles_plane *of = &device->planes[plane];
	glActiveTexture(GL_TEXTURE0 + plane);
	if (of->format == format && of->width == width && of->height == height) {
		glBindTexture(GL_TEXTURE_2D, of->texture);
		return;
	}
	glDeleteTextures(1, &of->texture);
	glGenTextures(1, &of->texture);
	glBindTexture(GL_TEXTURE_2D, of->texture);
	if (format != 0) {
		glTexStorage2D(GL_TEXTURE_2D, 1, format, (GLsizei)width, (GLsizei)height);
	}
	set_filters();
	of->format = format;
	of->width = width;
	of->height = height;
}

void gles_device_flush(struct gles_device *device) {
	if (device->quads > 0) {
		glDrawArrays(GL_TRIANGLES, 0, (GLsizei)device->quads * 6);
		device->quads = 0;
	}
}

void gles_device_add(struct gles_device *device, const pixman_box32_t *box, int dx, int dy) {
	if (device->quads == GLES_QUADS) {
		gles_device_flush(device);
	}
	struct gles_vertex *vertices = &device->vertices[device->quads++ * 6];
	const float x1 = (float)box->x1, y1 = (float)box->y1;
	const float x2 = (float)box->x2, y2 = (float)box->y2;
	const float corners[6][2] = {{x1, y1}, {x2, y1}, {x1, y2}, {x1, y2}, {x2, y1}, {x2, y2}};
	for (int i = 0; i < 6; i++) {
		vertices[i] = (struct gles_vertex){
				corners[i][0], corners[i][1], (float)dx, (float)dy};
	}
}
