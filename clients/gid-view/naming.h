// SPDX-License-Identifier: MIT
/*
 * The names of our window, where the stream is a window of a program: those that its program gives
 * it, by what frames say in their notes.
 */
#ifndef GID_VIEW_NAMING_H
#define GID_VIEW_NAMING_H

#include <window_note.h>

#include "common/window.h"

struct naming {
	struct window *window;
	const char *domain; // whose program it is
	bool title, app_id; // follows the program's
	const char *own_title, *own_app_id;
	struct window_note said;
	char full_app_id[GID_NAME_MAX + 1 + WINDOW_APP_ID_MAX + 1]; // with the domain's name
};

/* `title`, `app_id`: whether each follows the program's. All outlive it. */
void naming_init(struct naming *naming, struct window *window, const char *domain, bool title,
		bool app_id);

/* To be called for each frame that is received: says also whether it is of a program's window. */
void naming_take(struct naming *naming, const struct gid_frame *frame);

#endif
