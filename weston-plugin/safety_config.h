// SPDX-License-Identifier: MIT
/**
 * The sections [gid-safety] of weston.ini, one role each, and those of [gid-window], which are
 * roles of ordinary windows. Constant once read.
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
	struct config_place place;  /* where nothing was read: none */
	char *role;		    /* NULL: an ordinary window */
	char *app_id;		    /* of surfaces that get the role by themselves, or NULL */
	char *title;		    /* that they must have, too, or NULL: any */
	struct client_list clients; /* who may take the role, or have the window */
	int32_t width, height;	    /* that the picture must have, in pixels; 0: any */
	int32_t heartbeat_ms, lease_ms;
	int32_t client_ms;   /* how long a client may leave its events unread; 0: for ever */
	bool visible;	     /* here, too */
	bool copy;	     /* pictures that cannot be lent are copied, once */
	bool hash;	     /* frames say what their pixels are */
	uint64_t pixels_max; /* copied for one picture, of twice as many that are drawn; 0: any */
	char stream[GID_NAME_MAX + 1];
	char label[GID_NAME_MAX + 8];	   /* in the log: "role NAME" or "window STREAM" */
	struct input_source input;	   /* of an ordinary window */
	struct gid_protection *protection; /* NULL: frames have no checks */
	/* The largest that whose input it takes can have it, in pixels; 0: that is up to others. */
	int32_t width_max, height_max;
};

/*
 * Reads one section [gid-safety]. Returns 0, or -EINVAL after saying what is wrong in Weston's log,
 * or -ENOMEM. The configuration is to be finished in either case.
 */
int safety_config_read(struct safety_config *config, const struct config_place *place);

/* The same for one section [gid-window]. */
int safety_config_read_window(struct safety_config *config, const struct config_place *place);

void safety_config_finish(struct safety_config *config);

#endif
