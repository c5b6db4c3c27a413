// SPDX-License-Identifier: MIT
/**
 * What is connected to a KMS device. To find out, the kernel asks the screens, some of which answer
 * slowly or not at all, and its caller waits. So a thread of its own calls.
 */
#ifndef KMS_PROBE_H
#define KMS_PROBE_H

#include <stddef.h>
#include <stdint.h>
#include <wayland-server-core.h>
#include <xf86drmMode.h>

#include "kms_objects.h"

struct kms_connectors {
	size_t count;
	struct {
		uint32_t id;
		drmModeConnector *found; /* NULL: it has just gone */
		struct kms_connector properties;
	} all[];
};

/* Asks, and waits. NULL: the device does not say which connectors it has, or there is no memory. */
struct kms_connectors *kms_connectors_read(int fd);
void kms_connectors_destroy(struct kms_connectors *connectors);

struct kms_probe;

/*
 * `done` is called in the loop with each answer, which it does not keep. The thread has its own
 * descriptor of the device. NULL: there is no memory, descriptor or thread left.
 */
struct kms_probe *kms_probe_create(struct wl_event_loop *loop, int fd,
		void (*done)(void *data, const struct kms_connectors *connectors), void *data);
/* Does not wait for the thread, which ends when it has its answer. */
void kms_probe_destroy(struct kms_probe *probe);

/* Has the thread ask. What changed before this call is in the last answer. */
void kms_probe_ask(struct kms_probe *probe);

#endif
