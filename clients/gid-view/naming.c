// SPDX-License-Identifier: MIT
#include "naming.h"

#include <stdio.h>
#include <string.h>

#include "xdg-shell-client-protocol.h"

void naming_init(struct naming *naming, struct window *window, const char *domain, bool title,
		bool app_id) {
	*naming = (struct naming){
			.window = window, .domain = domain, .title = title, .app_id = app_id};
}

/*
 * By its app-id a compositor knows a program, and gives it a role, perhaps: no other domain's may
 * pass for one of ours.
 */
static void set_app_id(const struct naming *naming) {
	char app_id[GID_NAME_MAX + 1 + sizeof(naming->said.app_id)];
	snprintf(app_id, sizeof(app_id), "%s.%s", naming->domain, naming->said.app_id);
	xdg_toplevel_set_app_id(naming->window->toplevel, app_id);
}

void naming_take(struct naming *naming, const struct gid_frame *frame) {
	struct window_note said, before = naming->said;
	if (frame->note_size == 0 || !window_note_read(&said, frame->note, frame->note_size)) {
		return;
	}
	naming->window->of_program = true;
	naming->said = said;
	if (naming->title && said.title[0] != '\0' && strcmp(said.title, before.title) != 0) {
		xdg_toplevel_set_title(naming->window->toplevel, said.title);
	}
	if (naming->app_id && said.app_id[0] != '\0' && strcmp(said.app_id, before.app_id) != 0) {
		set_app_id(naming);
	}
}
