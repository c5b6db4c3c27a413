// SPDX-License-Identifier: MIT
/** Framebuffers, which planes show: of wlr_buffers, and of dumb buffers of the device. */
#ifndef KMS_FB_H
#define KMS_FB_H

#include <stddef.h>
#include <stdint.h>
#include <wlr/types/wlr_buffer.h>

/* The framebuffer of a wlr_buffer. Made when it is first needed, and destroyed with the buffer. */
struct kms_fb {
	struct wl_list link;
	struct wlr_buffer *buffer;
	struct wl_listener buffer_destroy;
	int fd;
	uint32_t id;
};

/*
 * Finds the buffer's framebuffer in the list, or makes one. Returns its id, or 0 with errno set:
 * the device cannot scan out such memory.
 */
uint32_t kms_fb_of_buffer(struct wl_list *list, int fd, struct wlr_buffer *buffer);

/* The same, for a buffer whose dma-buf the caller describes. */
uint32_t kms_fb_of_dmabuf(struct wl_list *list, int fd, struct wlr_buffer *buffer,
		const struct wlr_dmabuf_attributes *dmabuf);

/* Destroys all framebuffers in the list, before the device is closed. */
void kms_fbs_destroy(struct wl_list *list);

/* A dumb buffer of XRGB8888, which the CPU writes or reads. */
struct kms_dumb {
	int fd;
	uint32_t handle, id; /* id: the framebuffer's number */
	uint32_t width, height;
	uint32_t stride; /* in bytes */
	size_t size;
	void *data;
};

/* Makes a black picture. Returns 0 or -errno; kms_dumb_finish() is needed in either case. */
int kms_dumb_init(struct kms_dumb *dumb, int fd, uint32_t width, uint32_t height);
/*
 * The descriptor of a fence that is signalled already, since no device draws into this memory; or
 * -errno. The caller closes it.
 */
int kms_dumb_get_fence(const struct kms_dumb *dumb);

/* Also accepts a struct of zeroes. */
void kms_dumb_finish(struct kms_dumb *dumb);

#endif
