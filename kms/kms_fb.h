// SPDX-License-Identifier: MIT
/** What a plane can show: the memory of a wlr_buffer, and memory that the device itself gave. */
#ifndef KMS_FB_H
#define KMS_FB_H

#include <stddef.h>
#include <stdint.h>
#include <wlr/types/wlr_buffer.h>

/* The framebuffer of a wlr_buffer, made when it is first asked for: until the buffer is gone. */
struct kms_fb {
	struct wl_list link;
	struct wlr_buffer *buffer;
	struct wl_listener buffer_destroy;
	int fd;
	uint32_t id;
};

/*
 * Finds it in the list, or makes one and adds it. Returns its number, or 0 with errno set: the
 * device does not take such memory.
 */
uint32_t kms_fb_of_buffer(struct wl_list *list, int fd, struct wlr_buffer *buffer);

/* The same of a buffer whose memory is said by the caller. */
uint32_t kms_fb_of_dmabuf(struct wl_list *list, int fd, struct wlr_buffer *buffer,
		const struct wlr_dmabuf_attributes *dmabuf);

/* Of all in the list, before the device is closed. */
void kms_fbs_destroy(struct wl_list *list);

/* A picture of XRGB8888 that a processor writes, or reads. */
struct kms_dumb {
	int fd;
	uint32_t handle, id; /* id: the framebuffer's number */
	uint32_t width, height;
	uint32_t stride; /* in bytes */
	size_t size;
	void *data;
};

/* All black. Returns 0 or -errno; the picture is to be finished in either case. */
int kms_dumb_init(struct kms_dumb *dumb, int fd, uint32_t width, uint32_t height);
/* A descriptor of a fence that is signalled already, as of memory that no device draws to; or
 * -errno. */
int kms_dumb_get_fence(const struct kms_dumb *dumb);

/* Takes one of zeroes, too. */
void kms_dumb_finish(struct kms_dumb *dumb);

#endif
