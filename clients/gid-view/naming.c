// SPDX-License-Identifier: MIT
#include "naming.h"

#include <stdio.h>
#include <string.h>

void naming_init(struct naming *naming, struct window *window, const char *domain, bool title,
		bool app_id) {
	*naming = (struct naming){
			.window = window,
			.domain = domain,
			.title = title,
			.app_id = app_id,
			.own_title = window->options.title,
			.own_app_id = window->options.app_id,
	};
}

/*
 * A compositor identifies a program by its app-id, and may give it a role: the app-id of another
 * domain must not pass for one of ours.
 */
static void follow_app_id(struct naming *naming) {
	snprintf(naming->full_app_id, sizeof(naming->full_app_id), "%s.%s", naming->domain,
			naming->said.app_id);
	window_set_app_id(naming->window,
			naming->said.app_id[0] != '\0' ? naming->full_app_id : naming->own_app_id);
}

static void follow_title(struct naming *naming) {
	window_set_title(naming->window,
			naming->said.title[0] != '\0' ? naming->said.title : naming->own_title);
}

void naming_take(struct naming *naming, const struct gid_frame *frame) {
	struct window_note said, before = naming->said;
	if (frame->note_size == 0 || !window_note_read(&said, frame->note, frame->note_size)) {
		return;
	}
	naming->window->of_program = true;
	naming->said = said;
	window_set_picture_scale(naming->window, said.scale);
	if (naming->title && strcmp(said.title, before.title) != 0) {
		follow_title(naming);
	}
	if (naming->app_id && strcmp(said.app_id, before.app_id) != 0) {
		follow_app_id(naming);
	}
}
