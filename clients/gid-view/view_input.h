// SPDX-License-Identifier: MIT
/*
 * What the user does at the window, as the input stream of what it shows: input/STREAM of our
 * domain. With it goes the clipboard, where that is wanted.
 */
#ifndef GID_VIEW_VIEW_INPUT_H
#define GID_VIEW_VIEW_INPUT_H

#include <input_sender.h>
#include <systemd/sd-event.h>

#include "cursor.h"
#include "options.h"
#include "seat.h"
#include "view_clipboard.h"

struct view_input {
	sd_event *event;
	sd_event_source *timer;
	struct gid_domain *domain;
	struct input_sender *sender; // NULL: to be made when the timer ticks
	char stream[INPUT_NAME_SIZE];
	struct cursor cursor;
	struct seat seat;
	struct view_clipboard clipboard;
	uint32_t lease_ms;
	uint64_t lose_time; // when the window is without the keyboard for good; UINT64_MAX: not now
	uint32_t devices;
	int32_t width, height; // of the picture that would fit the window; 0: any does
	int32_t scale;	       // of its screen, in 120ths; 0: it is not known
	char *keymap;	       // NULL: there is none
	int told;	       // the error that was said last
	uint32_t readers;      // of it, as was said last
};

/*
 * `owner` is whose stream the window shows; it and `options` outlive it. Returns 0, or -1 after
 * saying on stderr what is wrong. The stream itself may come later.
 */
int view_input_init(struct view_input *input, sd_event *event, struct wayland *wayland,
		const struct window *window, struct gid_domain *domain, const char *owner,
		const struct options *options);

/* After gid_domain_dispatch(). Also of zeroes. */
void view_input_dispatch(struct view_input *input);

/* Asks who makes the picture for one of so many pixels, of a screen of that scale. */
void view_input_set_size(struct view_input *input, int32_t width, int32_t height, int32_t scale);

/* Asks who shows the window there to close it. Returns whether anybody hears that. */
bool view_input_close(struct view_input *input);

/* Nothing stays pressed. Before the window, the connection and the domain end; also of zeroes. */
void view_input_finish(struct view_input *input);

#endif
