// SPDX-License-Identifier: MIT
/** gid_buffer_feedback_v1: tells clients which buffers can be made. */
#ifndef GID_WESTON_FEEDBACK_H
#define GID_WESTON_FEEDBACK_H

#include "module.h"

/* Makes the object `id` of gid_buffer_manager_v1.get_feedback, and tells it everything. */
void feedback_create(
	struct module *module, struct wl_client *client, uint32_t version, uint32_t id);

/* Something changed: tells everybody everything again. */
void feedback_send_all(struct module *module);

/* At the module's end; the objects stay. */
void feedback_finish(struct module *module);

#endif
