// SPDX-License-Identifier: MIT
#include "kms_fb.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

/*
 * Closes the GEM handles of an import: the framebuffer keeps the memory. Planes may share a handle.
 */
static void close_handles(int fd, const uint32_t handles[4]) {
	for (int i = 0; i < 4; i++) {
		bool again = false;
		for (int k = 0; k < i; k++) {
			again = again || handles[k] == handles[i];
		}
		if (handles[i] != 0 && !again) {
			drmCloseBufferHandle(fd, handles[i]);
		}
	}
}

static int import(int fd, const struct wlr_dmabuf_attributes *dmabuf, uint32_t *id) {
	uint32_t handles[4] = {0}, strides[4] = {0}, offsets[4] = {0};
	uint64_t modifiers[4] = {0}, can = 0;
	int ret = 0;
	for (int i = 0; i < dmabuf->n_planes && ret == 0; i++) {
		strides[i] = dmabuf->stride[i];
		offsets[i] = dmabuf->offset[i];
		modifiers[i] = dmabuf->modifier;
		ret = drmPrimeFDToHandle(fd, dmabuf->fd[i], &handles[i]) != 0 ? -errno : 0;
	}
	uint32_t width = (uint32_t)dmabuf->width, height = (uint32_t)dmabuf->height;
	if (ret == 0 && dmabuf->modifier != DRM_FORMAT_MOD_INVALID &&
			drmGetCap(fd, DRM_CAP_ADDFB2_MODIFIERS, &can) == 0 && can == 1) {
		ret = drmModeAddFB2WithModifiers(fd, width, height, dmabuf->format, handles,
				strides, offsets, modifiers, id, DRM_MODE_FB_MODIFIERS);
	} else if (ret == 0 &&
			(dmabuf->modifier == DRM_FORMAT_MOD_INVALID ||
					dmabuf->modifier == DRM_FORMAT_MOD_LINEAR)) {
		ret = drmModeAddFB2(fd, width, height, dmabuf->format, handles, strides, offsets,
				id, 0);
	} else if (ret == 0) {
		ret = -ENOTSUP;
	}
	close_handles(fd, handles);
	return ret;
}

static void kms_fb_destroy(struct kms_fb *fb) {
	wl_list_remove(&fb->link);
	wl_list_remove(&fb->buffer_destroy.link);
	drmModeRmFB(fb->fd, fb->id);
	free(fb);
}

static void handle_buffer_destroy(struct wl_listener *listener, void *data) {
	struct kms_fb *fb = wl_container_of(listener, fb, buffer_destroy);
	kms_fb_destroy(fb);
}

static struct kms_fb *find_fb(struct wl_list *list, const struct wlr_buffer *buffer) {
	struct kms_fb *fb;
	wl_list_for_each(fb, list, link) {
		if (fb->buffer == buffer) {
			return fb;
		}
	}
	return NULL;
}

uint32_t kms_fb_of_dmabuf(struct wl_list *list, int fd, struct wlr_buffer *buffer,
		const struct wlr_dmabuf_attributes *dmabuf) {
	struct kms_fb *fb = find_fb(list, buffer);
	if (fb != NULL) {
		return fb->id;
	}
	fb = calloc(1, sizeof(*fb));
	int ret = fb != NULL ? import(fd, dmabuf, &fb->id) : -ENOMEM;
	if (ret != 0) {
		free(fb);
		errno = -ret;
		return 0;
	}
	fb->fd = fd;
	fb->buffer = buffer;
	fb->buffer_destroy.notify = handle_buffer_destroy;
	wl_signal_add(&buffer->events.destroy, &fb->buffer_destroy);
	wl_list_insert(list, &fb->link);
	return fb->id;
}

uint32_t kms_fb_of_buffer(struct wl_list *list, int fd, struct wlr_buffer *buffer) {
	struct kms_fb *fb = find_fb(list, buffer);
	struct wlr_dmabuf_attributes dmabuf;
	if (fb != NULL) {
		return fb->id;
	}
	if (!wlr_buffer_get_dmabuf(buffer, &dmabuf)) {
		errno = ENOTSUP;
		return 0;
	}
	return kms_fb_of_dmabuf(list, fd, buffer, &dmabuf);
}

void kms_fbs_destroy(struct wl_list *list) {
	struct kms_fb *fb, *next;
	wl_list_for_each_safe(fb, next, list, link) {
		kms_fb_destroy(fb);
	}
}

int kms_dumb_init(struct kms_dumb *dumb, int fd, uint32_t width, uint32_t height) {
	*dumb = (struct kms_dumb){.fd = fd, .width = width, .height = height};
	uint64_t size = 0, offset = 0;
	int ret = drmModeCreateDumbBuffer(
			fd, width, height, 32, 0, &dumb->handle, &dumb->stride, &size);
	if (ret != 0) {
		return ret;
	}
	uint32_t handles[4] = {dumb->handle}, strides[4] = {dumb->stride}, offsets[4] = {0};
	ret = drmModeAddFB2(fd, width, height, DRM_FORMAT_XRGB8888, handles, strides, offsets,
			&dumb->id, 0);
	if (ret == 0) {
		ret = drmModeMapDumbBuffer(fd, dumb->handle, &offset);
	}
	if (ret != 0) {
		return ret;
	}
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	if (data == MAP_FAILED) {
		return -errno;
	}
	dumb->data = data;
	dumb->size = size;
	memset(data, 0, size);
	return 0;
}

int kms_dumb_get_fence(const struct kms_dumb *dumb) {
	struct dma_buf_export_sync_file export = {.flags = DMA_BUF_SYNC_READ, .fd = -1};
	int dmabuf;
	if (drmPrimeHandleToFD(dumb->fd, dumb->handle, DRM_CLOEXEC, &dmabuf) != 0) {
		return -errno;
	}
	int ret = ioctl(dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export) == 0 ? export.fd : -errno;
	close(dmabuf);
	return ret;
}

void kms_dumb_finish(struct kms_dumb *dumb) {
	if (dumb->data != NULL) {
		munmap(dumb->data, dumb->size);
	}
	if (dumb->id != 0) {
		drmModeRmFB(dumb->fd, dumb->id);
	}
	if (dumb->handle != 0) {
		drmModeDestroyDumbBuffer(dumb->fd, dumb->handle);
	}
	*dumb = (struct kms_dumb){0};
}
