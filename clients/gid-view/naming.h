// SPDX-License-Identifier: MIT
/*
 * Names our window after the window that the stream shows, if it shows one: by the app-id and title
 * in the notes of its frames.
 */
#ifndef GID_VIEW_NAMING_H
#define GID_VIEW_NAMING_H

#include <window_note.h>

#include "common/window.h"

struct naming {
	struct window *window;
	const char *domain; // that owns the stream
	bool title, app_id; // follow the shown window's
	const char *own_title, *own_app_id;
	struct window_note said;
	char full_app_id[GID_NAME_MAX + 1 + WINDOW_APP_ID_MAX + 1]; // after the domain's name
};

/* `title`, `app_id`: which of them follow the shown window's. All pointers must outlive it. */
void naming_init(struct naming *naming, struct window *window, const char *domain, bool title,
		bool app_id);

/* To be called for each received frame. Also notes whether the stream shows a window. */
void naming_take(struct naming *naming, const struct gid_frame *frame);

#endif
