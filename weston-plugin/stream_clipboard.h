// SPDX-License-Identifier: MIT
/**
 * The clipboard of a seat (input_seat.h), shared with the user in another domain who views one of
 * our streams. Weston's log says when the other side comes and goes. Runs on the compositor's
 * thread.
 */
#ifndef GID_WESTON_STREAM_CLIPBOARD_H
#define GID_WESTON_STREAM_CLIPBOARD_H

#include <gid/domain.h>
#include <libweston/libweston.h>

#include "input_source.h"

struct stream_clipboard;

/*
 * `label` is for the log, as "output NAME". It, the seat, and the source, which has a clipboard,
 * must outlive this. Returns NULL without memory.
 */
struct stream_clipboard *stream_clipboard_create(
		struct weston_seat *seat, const char *label, const struct input_source *source);

/*
 * Withdraws the text that the other domain offered. To be called before the seat is destroyed.
 * Accepts NULL.
 */
void stream_clipboard_destroy(struct stream_clipboard *clipboard);

/* Uses this domain from now on; NULL: none. Accepts NULL. */
void stream_clipboard_set_domain(struct stream_clipboard *clipboard, struct gid_domain *domain);

#endif
