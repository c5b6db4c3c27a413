// SPDX-License-Identifier: MIT
#include "kms_writeback.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <linux/sync_file.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wlr/util/log.h>
#include <xf86drmMode.h>

#include "kms_device.h"
#include "kms_layer.h"
#include "kms_request.h"

#define TIMEOUT_MS 1000

/* Keeps the buffers of the pending frame unchanged until they are written back. */
static void writeback_hold(struct kms_writeback *writeback) {
	writeback->primary = wlr_buffer_lock(writeback->output->next);
	kms_layers_hold(writeback->output);
}

static void writeback_let_go(struct kms_writeback *writeback) {
	if (writeback->primary != NULL) {
		wlr_buffer_unlock(writeback->primary);
		writeback->primary = NULL;
		kms_layers_let_go(writeback->output);
	}
}

static void writeback_stop(struct kms_writeback *writeback) {
	writeback_let_go(writeback);
	if (writeback->fence >= 0) {
		close(writeback->fence); /* no other descriptor has it: `fences` forgets it, too */
		writeback->fence = -1;
	}
	if (writeback->timeout != NULL) {
		wl_event_source_timer_update(writeback->timeout, 0);
	}
}

static void writeback_end(struct kms_writeback *writeback, bool written) {
	void (*done)(void *, const struct kms_dumb *) = writeback->done;
	writeback_stop(writeback);
	writeback->done = NULL;
	if (done != NULL) {
		done(writeback->data, written ? &writeback->picture : NULL);
	}
}

static int handle_fence(int fd, uint32_t mask, void *data) {
	struct kms_writeback *writeback = data;
	struct sync_file_info info = {0};
	/* What was ready when the loop looked may have ended since, and another have begun. */
	if (writeback->fence >= 0 &&
			(ioctl(writeback->fence, SYNC_IOC_FILE_INFO, &info) < 0 ||
					info.status != 0)) {
		/* A device that cannot write signals its fence with an error. */
		writeback_end(writeback, info.status == 1);
	}
	return 0;
}

static int handle_timeout(void *data) {
	struct kms_writeback *writeback = data;
	writeback_end(writeback, false);
	return 0;
}

/* All that pictures are read back with is made here: none of them takes memory. */
static int writeback_watch(struct kms_writeback *writeback) {
	struct wl_event_loop *loop = writeback->output->device->loop;
	if (writeback->fences < 0) {
		writeback->fences = epoll_create1(EPOLL_CLOEXEC);
	}
	if (writeback->fence_source == NULL && writeback->fences >= 0) {
		writeback->fence_source = wl_event_loop_add_fd(loop, writeback->fences,
				WL_EVENT_READABLE, handle_fence, writeback);
	}
	if (writeback->timeout == NULL) {
		writeback->timeout = wl_event_loop_add_timer(loop, handle_timeout, writeback);
	}
	return writeback->fence_source != NULL && writeback->timeout != NULL ? 0 : -ENOMEM;
}

struct kms_writeback *kms_writeback_create(struct kms_output *output) {
	struct kms_writeback *writeback = calloc(1, sizeof(*writeback));
	if (writeback != NULL) {
		*writeback = (struct kms_writeback){.output = output, .fence = -1, .fences = -1};
	}
	return writeback;
}

void kms_writeback_forget(struct kms_writeback *writeback) {
	writeback_stop(writeback);
	kms_dumb_finish(&writeback->picture);
	writeback->done = NULL;
	writeback->found = writeback->linked = writeback->asked = false;
}

void kms_writeback_destroy(struct kms_writeback *writeback) {
	if (writeback == NULL) {
		return;
	}
	kms_writeback_forget(writeback);
	if (writeback->timeout != NULL) {
		wl_event_source_remove(writeback->timeout);
	}
	if (writeback->fence_source != NULL) {
		wl_event_source_remove(writeback->fence_source);
	}
	if (writeback->fences >= 0) {
		close(writeback->fences);
	}
	free(writeback);
}

bool kms_writeback_has(const struct kms_writeback *writeback, uint32_t connector) {
	return writeback->found && writeback->connector.id == connector;
}

void kms_writeback_want(struct kms_output *output) {
	output->writeback->wanted = true;
}

bool kms_writeback_is_there(const struct kms_output *output) {
	return output->writeback->linked && output->writeback->picture.data != NULL;
}

bool kms_writeback_is_ready(const struct kms_output *output) {
	return kms_writeback_is_there(output) && output->writeback->fence < 0 &&
			!output->writeback->asked;
}

void kms_writeback_ask(struct kms_output *output,
		void (*done)(void *data, const struct kms_dumb *picture), void *data) {
	struct kms_writeback *writeback = output->writeback;
	writeback->asked = true;
	writeback->done = done;
	writeback->data = data;
}

/* --- commits ---------------------------------------------------------------------------------- */

static bool writes_rgb(const struct kms_connector *connector, int fd) {
	uint32_t id = (uint32_t)connector->values[KMS_CONNECTOR_WRITEBACK_PIXEL_FORMATS];
	drmModePropertyBlobRes *blob = id != 0 ? drmModeGetPropertyBlob(fd, id) : NULL;
	bool writes = false;
	for (uint32_t i = 0; blob != NULL && i < blob->length / sizeof(uint32_t); i++) {
		writes = writes || ((const uint32_t *)blob->data)[i] == DRM_FORMAT_XRGB8888;
	}
	drmModeFreePropertyBlob(blob);
	return writes;
}

static bool is_taken(const struct kms_output *output, uint32_t connector) {
	const struct kms_output *other;
	wl_list_for_each(other, &output->device->outputs, link) {
		if (other != output && kms_writeback_has(other->writeback, connector)) {
			return true;
		}
	}
	return false;
}

void kms_writeback_find(struct kms_writeback *writeback) {
	const struct kms_output *output = writeback->output;
	int fd = output->device->fd;
	drmModeRes *list = writeback->wanted && !writeback->found ? drmModeGetResources(fd) : NULL;
	for (int i = 0; list != NULL && i < list->count_connectors && !writeback->found; i++) {
		struct kms_connector *connector = &writeback->connector;
		uint32_t id = list->connectors[i];
		writeback->found = kms_connector_read(connector, fd, id) == 0 &&
				connector->properties[KMS_CONNECTOR_WRITEBACK_FB_ID] != 0 &&
				(connector->possible_crtcs &
						(UINT32_C(1) << output->crtc->index)) &&
				writes_rgb(connector, fd) && !is_taken(output, id);
	}
	drmModeFreeResources(list);
}

void kms_writeback_add_link(struct kms_writeback *writeback, struct kms_request *request) {
	if (writeback->found && !writeback->aside) {
		kms_request_set(request, writeback->connector.id,
				writeback->connector.properties[KMS_CONNECTOR_CRTC_ID],
				writeback->output->crtc->id);
	}
}

void kms_writeback_add_off(struct kms_writeback *writeback, struct kms_request *request) {
	if (writeback->linked) {
		kms_request_set(request, writeback->connector.id,
				writeback->connector.properties[KMS_CONNECTOR_CRTC_ID], 0);
	}
}

void kms_writeback_add(struct kms_writeback *writeback, struct kms_request *request) {
	const struct kms_connector *connector = &writeback->connector;
	if (writeback->asked && !writeback->aside) {
		writeback->fence = -1; /* the kernel fills in 32 bits, before the commit returns */
		kms_request_set(request, connector->id,
				connector->properties[KMS_CONNECTOR_WRITEBACK_FB_ID],
				writeback->picture.id);
		kms_request_set(request, connector->id,
				connector->properties[KMS_CONNECTOR_WRITEBACK_OUT_FENCE_PTR],
				(uint64_t)(uintptr_t)&writeback->fence);
	}
}

void kms_writeback_sent(
		struct kms_writeback *writeback, bool sets_mode, uint32_t width, uint32_t height) {
	struct epoll_event event = {.events = EPOLLIN};
	int fd = writeback->output->device->fd;
	if (sets_mode) {
		writeback_end(writeback, false); /* a writeback that was pending or asked for */
		writeback->asked = false;
		kms_dumb_finish(&writeback->picture);
		writeback->linked = writeback->found;
		if (writeback->found &&
				(writeback_watch(writeback) < 0 ||
						kms_dumb_init(&writeback->picture, fd, width,
								height) < 0)) {
			kms_dumb_finish(&writeback->picture); /* it is there, for nothing */
		}
		return;
	}
	if (!writeback->asked) {
		return;
	}
	writeback->asked = false;
	if (writeback->fence < 0 ||
			epoll_ctl(writeback->fences, EPOLL_CTL_ADD, writeback->fence, &event) < 0) {
		writeback_end(writeback, false);
		return;
	}
	writeback_hold(writeback);
	wl_event_source_timer_update(writeback->timeout, TIMEOUT_MS);
}

bool kms_writeback_set_aside(struct kms_writeback *writeback, bool sets_mode) {
	writeback->aside = sets_mode ? writeback->found : writeback->asked;
	return writeback->aside;
}

void kms_writeback_take_back(struct kms_writeback *writeback, bool taken_without) {
	writeback->aside = false;
	if (!taken_without) {
		return; /* it was not the reason */
	}
	wlr_log(WLR_ERROR, "output %s: what it shows cannot be read back: the device refuses that",
			writeback->output->base.name);
	writeback->found = writeback->linked = writeback->wanted = writeback->asked = false;
	writeback_end(writeback, false);
}
