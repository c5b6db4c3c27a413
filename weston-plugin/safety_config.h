// SPDX-License-Identifier: MIT
/**
 * The sections of weston.ini: [gid-safety], one for each role, and [gid-window], one for each
 * ordinary window. Constant once read.
 */
#ifndef GID_WESTON_SAFETY_CONFIG_H
#define GID_WESTON_SAFETY_CONFIG_H

#include <gid/protection.h>
#include <stdbool.h>
#include <stdint.h>

#include "client_list.h"
#include "config_place.h"
#include "input_source.h"

struct safety_config {
	struct config_place place;  /* its section; all zero if none was read */
	char *role;		    /* NULL: an ordinary window */
	char *app_id;		    /* surfaces that have it get the role without asking; or NULL */
	char *title;		    /* that they must have as well, or NULL: any */
	struct client_list clients; /* that may take the role, or own the window */
	int32_t width, height;	    /* required size of the picture in pixels; 0: any */
	int32_t heartbeat_ms, lease_ms;
	int32_t client_ms;   /* how long a client may leave its events unread; 0: without limit */
	bool visible;	     /* on Weston's own outputs, too */
	bool copy;	     /* content that cannot be lent is copied, once */
	bool hash;	     /* frames have a content hash */
	uint64_t pixels_max; /* of a copy; surfaces in it may have twice as many; 0: any */
	char stream[GID_NAME_MAX + 1];
	char label[GID_NAME_MAX + 8];	   /* in the log: "role NAME" or "window STREAM" */
	struct input_source input;	   /* of an ordinary window */
	struct gid_protection *protection; /* NULL: frames are not protected */
	/*
	 * The largest size in pixels that the sender of the input may request; 0: it may request
	 * none.
	 */
	int32_t width_max, height_max;
};

/*
 * Reads one section [gid-safety]. Returns 0; -EINVAL after logging the mistake; -ENOMEM. Call
 * safety_config_finish() in any case.
 */
int safety_config_read(struct safety_config *config, const struct config_place *place);

/* The same for one section [gid-window]. */
int safety_config_read_window(struct safety_config *config, const struct config_place *place);

void safety_config_finish(struct safety_config *config);

#endif
