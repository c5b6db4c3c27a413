// SPDX-License-Identifier: MIT
/*
 * Sends the user's input in the window to the producer, as the stream input/STREAM of our domain.
 * Also shares the clipboard, if configured.
 */
#ifndef GID_VIEW_VIEW_INPUT_H
#define GID_VIEW_VIEW_INPUT_H

#include <input_sender.h>
#include <systemd/sd-event.h>

#include "cursor.h"
#include "options.h"
#include "seats.h"
#include "view_clipboard.h"

struct view_input {
	sd_event *event;
	sd_event_source *timer;
	struct gid_domain *domain;
	struct input_sender *sender; // NULL: the timer creates it
	char stream[INPUT_NAME_SIZE];
	struct cursor cursor;
	struct seat_place place;
	struct seats seats;
	struct view_clipboard clipboard;
	uint32_t lease_ms;
	uint32_t devices;
	int32_t width, height; // of a picture that fits the window; 0: any size
	int32_t scale;	       // of its screen, in 120ths; 0: unknown
	char *keymap;	       // NULL: none
	int told;	       // the last error that was reported
	uint32_t readers;      // consumers of `stream`, as last reported
};

/*
 * `owner` owns the stream that the window shows; it and `options` must outlive this. Returns 0, or
 * -1 after an error message. The input stream need not exist yet.
 */
int view_input_init(struct view_input *input, sd_event *event, struct wayland *wayland,
		const struct window *window, struct gid_domain *domain, const char *owner,
		const struct options *options);

/* To be called after gid_domain_dispatch(). Accepts zeroes. */
void view_input_dispatch(struct view_input *input);

/* Requests a picture of this size in pixels from the producer, for a screen of this scale. */
void view_input_set_size(struct view_input *input, int32_t width, int32_t height, int32_t scale);

/* Requests that the shown window be closed. Returns false if the input stream has no consumer. */
bool view_input_close(struct view_input *input);

/*
 * Releases all that is pressed. To be called before the window, the connection and the domain end.
 * Accepts zeroes.
 */
void view_input_finish(struct view_input *input);

#endif
