// SPDX-License-Identifier: MIT
/** What is shared inside gid-buffer-v1 for wlroots: the manager, and its buffers. */
#ifndef GID_WLROOTS_BUFFER_H
#define GID_WLROOTS_BUFFER_H

#include "gid_buffer_v1.h"
#include "manager.h"
#include "shown_formats.h"
#include "yuv.h"

struct gid_buffer_manager {
	struct wlr_renderer *renderer;
	struct yuv *yuv; /* NULL: YUV is shown as the renderer takes it, or not */
	struct shown_formats formats;
	struct manager manager;
	struct connection *connection;
	struct connection_events connection_events;
	struct wl_list buffers; /* struct buffer::link */
	struct wl_listener display_destroy;
	bool told_refusal; /* of a picture that the renderer does not take */
};

/* Makes buffers of what clients ask for; its data: struct gid_buffer_manager. */
extern const struct params_backend buffer_backend;

/* Recognises our wl_buffers from now on. */
void buffers_register(void);

/* The domain ends, and with it all its slabs. */
void buffers_forget_domain(struct gid_buffer_manager *manager);

/* At the manager's end; what is still shown goes blank. */
void buffers_finish(struct gid_buffer_manager *manager);

#endif
