// SPDX-License-Identifier: MIT
/** What the parts of the module share. */
#ifndef GID_WESTON_MODULE_H
#define GID_WESTON_MODULE_H

#include "gidd_connection.h"
#include "hidden_client.h"
#include "manager.h"
#include <libweston/libweston.h>

/* What a surface shows when the memory of its buffer is taken back. */
enum on_revoke {
	ON_REVOKE_KEEP,	 /* its last content */
	ON_REVOKE_BLANK, /* nothing */
};

struct module {
	struct weston_compositor *compositor;
	char *domain_name; /* NULL: $GID_DOMAIN, or the only one */
	enum on_revoke on_revoke;

	struct hidden_client *hidden;
	struct gidd_connection *connection;
	struct points *points;
	struct manager manager;		  /* its `global` NULL until the hidden client is ready */
	struct weston_log_scope *details; /* "gid": every buffer */

	struct pacer *pacer;   /* NULL: off */
	struct safety *safety; /* NULL: weston.ini has no roles */

	struct wl_list buffers; /* struct buffer::link */
	struct wl_listener compositor_destroy, screenshot_authority;
};

#endif
