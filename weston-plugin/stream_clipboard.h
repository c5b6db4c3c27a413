// SPDX-License-Identifier: MIT
/**
 * The clipboard of a seat of ours (input_seat.h), which the user in another domain has in common
 * with it who looks at a stream of ours. Weston's log says when it comes and goes. Belongs to the
 * compositor's thread.
 */
#ifndef GID_WESTON_STREAM_CLIPBOARD_H
#define GID_WESTON_STREAM_CLIPBOARD_H

#include <gid/domain.h>
#include <libweston/libweston.h>

#include "input_source.h"

struct stream_clipboard;

/*
 * `label` is for the log, as "output NAME". It, the source, which has a clipboard, and the seat
 * outlive it. NULL for want of memory.
 */
struct stream_clipboard *stream_clipboard_create(
		struct weston_seat *seat, const char *label, const struct input_source *source);

/* What came from the other domain is given to nobody any more. Before the seat ends. Accepts NULL.
 */
void stream_clipboard_destroy(struct stream_clipboard *clipboard);

/* The domain came; NULL: it goes. Accepts NULL. */
void stream_clipboard_set_domain(struct stream_clipboard *clipboard, struct gid_domain *domain);

#endif
