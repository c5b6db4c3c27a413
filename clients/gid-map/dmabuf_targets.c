// SPDX-License-Identifier: MIT
#include "dmabuf_targets.h"

#include <EGL/eglext.h>
#include <GLES2/gl2ext.h>
#include <drm_fourcc.h>
#include <err.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "linux-dmabuf-v1-client-protocol.h"

#define STRIDE_ALIGN 64u // bytes, a cache line
// llvmpipe draws whole blocks of so many rows, also past the last one.
#define ROW_ALIGN 4u

/* --- memory ----------------------------------------------------------------------------------- */

/* Returns a dma-buf, or -1 with errno. */
static int make_dmabuf(size_t size) {
	int memfd = memfd_create("gid-map", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int dmabuf = -1;
	if (memfd >= 0 && device >= 0 && ftruncate(memfd, (off_t)size) == 0 &&
			fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK) == 0) {
		const struct udmabuf_create create = {.memfd = (uint32_t)memfd,
				.flags = UDMABUF_FLAGS_CLOEXEC,
				.size = size};
		dmabuf = ioctl(device, UDMABUF_CREATE, &create);
	}
	if (dmabuf < 0) {
		warn("no memory that graphics cards take: /dev/udmabuf (modprobe udmabuf)");
	}
	if (device >= 0) {
		close(device);
	}
	if (memfd >= 0) {
		close(memfd);
	}
	return dmabuf;
}

/* --- one of them ------------------------------------------------------------------------------ */

static void handle_release(void *data, struct wl_buffer *buffer) {
	struct dmabuf_targets *targets = data;
	for (unsigned i = 0; i < DMABUF_TARGETS; i++) {
		if (targets->targets[i].buffer == buffer) {
			targets->targets[i].busy = false;
		}
	}
	targets->released(targets->data);
}

static const struct wl_buffer_listener buffer_listener = {.release = handle_release};

static bool draw_into(struct dmabuf_targets *targets, struct dmabuf_target *target, int dmabuf,
		uint32_t stride) {
	const EGLAttrib attributes[] = {EGL_WIDTH, targets->width, EGL_HEIGHT, targets->height,
			EGL_LINUX_DRM_FOURCC_EXT, DRM_FORMAT_XRGB8888, EGL_DMA_BUF_PLANE0_FD_EXT,
			dmabuf, EGL_DMA_BUF_PLANE0_OFFSET_EXT, 0, EGL_DMA_BUF_PLANE0_PITCH_EXT,
			(EGLAttrib)stride, EGL_NONE};
	PFNGLEGLIMAGETARGETTEXTURE2DOESPROC set_image =
			(PFNGLEGLIMAGETARGETTEXTURE2DOESPROC)eglGetProcAddress(
					"glEGLImageTargetTexture2DOES");
	target->image = eglCreateImage(
			targets->display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL, attributes);
	if (target->image == EGL_NO_IMAGE || set_image == NULL) {
		warnx("EGL takes no dma-buf (error 0x%x)", eglGetError());
		return false;
	}
	glGenTextures(1, &target->texture);
	glBindTexture(GL_TEXTURE_2D, target->texture);
	set_image(GL_TEXTURE_2D, target->image);
	glGenFramebuffers(1, &target->frame);
	glBindFramebuffer(GL_FRAMEBUFFER, target->frame);
	glFramebufferTexture2D(
			GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target->texture, 0);
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
		warnx("OpenGL ES cannot draw into a dma-buf");
		return false;
	}
	return true;
}

static bool target_init(struct dmabuf_targets *targets, struct dmabuf_target *target,
		struct zwp_linux_dmabuf_v1 *linux_dmabuf) {
	uint32_t stride = ((uint32_t)targets->width * 4 + STRIDE_ALIGN - 1) / STRIDE_ALIGN *
			STRIDE_ALIGN;
	size_t rows = ((size_t)targets->height + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int dmabuf = make_dmabuf((stride * rows + page - 1) / page * page);
	if (dmabuf < 0) {
		return false;
	}
	bool made = draw_into(targets, target, dmabuf, stride);
	if (made) {
		struct zwp_linux_buffer_params_v1 *params =
				zwp_linux_dmabuf_v1_create_params(linux_dmabuf);
		zwp_linux_buffer_params_v1_add(params, dmabuf, 0, 0, stride,
				DRM_FORMAT_MOD_LINEAR >> 32, DRM_FORMAT_MOD_LINEAR & 0xffffffff);
		target->buffer = zwp_linux_buffer_params_v1_create_immed(
				params, targets->width, targets->height, DRM_FORMAT_XRGB8888, 0);
		zwp_linux_buffer_params_v1_destroy(params);
		wl_buffer_add_listener(target->buffer, &buffer_listener, targets);
	}
	close(dmabuf);
	return made;
}

static void target_finish(struct dmabuf_targets *targets, struct dmabuf_target *target) {
	if (target->buffer != NULL) {
		wl_buffer_destroy(target->buffer);
	}
	glDeleteFramebuffers(1, &target->frame);
	glDeleteTextures(1, &target->texture);
	if (target->image != EGL_NO_IMAGE) {
		eglDestroyImage(targets->display, target->image);
	}
}

/* --- all of them ------------------------------------------------------------------------------ */

static bool init_egl(struct dmabuf_targets *targets) {
	static const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
	targets->display = eglGetPlatformDisplay(
			EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	if (targets->display == EGL_NO_DISPLAY || !eglInitialize(targets->display, NULL, NULL) ||
			!eglBindAPI(EGL_OPENGL_ES_API)) {
		warnx("EGL draws nothing without a window (error 0x%x)", eglGetError());
		return false;
	}
	targets->context = eglCreateContext(
			targets->display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, version);
	if (targets->context == EGL_NO_CONTEXT ||
			!eglMakeCurrent(targets->display, EGL_NO_SURFACE, EGL_NO_SURFACE,
					targets->context)) {
		warnx("EGL gives no context without a window (error 0x%x)", eglGetError());
		return false;
	}
	return true;
}

bool dmabuf_targets_init(
		struct dmabuf_targets *targets, struct wayland *wayland, int width, int height) {
	targets->width = width;
	targets->height = height;
	if (wayland->linux_dmabuf == NULL) {
		warnx("the compositor takes no dma-bufs (zwp_linux_dmabuf_v1 version 3): Weston "
		      "does with --renderer=gl");
		return false;
	}
	bool made = init_egl(targets);
	for (unsigned i = 0; i < DMABUF_TARGETS && made; i++) {
		made = target_init(targets, &targets->targets[i], wayland->linux_dmabuf);
	}
	return made;
}

void dmabuf_targets_finish(struct dmabuf_targets *targets) {
	if (targets->display == EGL_NO_DISPLAY) {
		return;
	}
	for (unsigned i = 0; i < DMABUF_TARGETS && targets->context != EGL_NO_CONTEXT; i++) {
		target_finish(targets, &targets->targets[i]);
	}
	eglMakeCurrent(targets->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglTerminate(targets->display);
}

struct dmabuf_target *dmabuf_targets_begin(struct dmabuf_targets *targets) {
	for (unsigned i = 0; i < DMABUF_TARGETS; i++) {
		if (!targets->targets[i].busy) {
			glBindFramebuffer(GL_FRAMEBUFFER, targets->targets[i].frame);
			return &targets->targets[i];
		}
	}
	return NULL;
}

void dmabuf_targets_end(struct dmabuf_target *target, struct wl_surface *surface) {
	glFinish(); // without a card there are no fences that others could wait for
	target->busy = true;
	wl_surface_attach(surface, target->buffer, 0, 0);
	wl_surface_damage_buffer(surface, 0, 0, INT32_MAX, INT32_MAX);
}
