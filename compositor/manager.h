// SPDX-License-Identifier: MIT
/** gid_buffer_manager_v1, the global, and gid_buffer_feedback_v1 for what can be shown. */
#ifndef GID_COMPOSITOR_MANAGER_H
#define GID_COMPOSITOR_MANAGER_H

#include "gidd_connection.h"
#include "params.h"

/* All zero: the global does not exist; all functions then do nothing. */
struct manager {
	struct wl_global *global;
	const struct gidd_connection *connection;
	const struct params_backend *backend;
	void *data;			  /* the backend's */
	struct wl_list feedbacks, params; /* wl_resource links */
};

/*
 * Makes the global. What is given is borrowed until manager_finish(). Returns 0, or -ENOMEM and
 * changes nothing.
 */
int manager_init(struct manager *manager, struct wl_display *display,
		const struct gidd_connection *connection, const struct params_backend *backend,
		void *data);

/* Destroys the global. Feedback objects stay with their clients, and get no events any more. */
void manager_finish(struct manager *manager);

/* Sends all feedback objects everything again, as formats changed, or gidd came or went. */
void manager_send_feedback(struct manager *manager);

/* For a backend's send_formats(). `memory`: bits of gid_buffer_feedback_v1.memory. */
void manager_send_format(
		struct wl_resource *feedback, uint32_t fourcc, uint64_t modifier, uint32_t memory);

#endif
