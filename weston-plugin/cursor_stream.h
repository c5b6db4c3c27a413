// SPDX-License-Identifier: MIT
/**
 * The cursor of a seat whose user is in another domain, as a stream beside that of the picture. The
 * user's compositor draws it without waiting for a picture. The notes of its frames also tell
 * whether a client has locked the pointer. Runs on the compositor's thread.
 */
#ifndef GID_WESTON_CURSOR_STREAM_H
#define GID_WESTON_CURSOR_STREAM_H

#include <gid/domain.h>
#include <libweston/libweston.h>

struct cursor_stream;

enum cursor_place {
	CURSOR_IN_PICTURE, /* Weston's outputs show it while there is no consumer */
	CURSOR_ELSEWHERE,  /* Weston's outputs never show it */
};

/*
 * `shown` is the stream of the picture, for which cursor_stream_name() has a name. To be called
 * before clients have surfaces. Returns NULL without memory. All functions below accept NULL.
 */
struct cursor_stream *cursor_stream_create(
		struct weston_compositor *compositor, const char *shown, enum cursor_place place);
void cursor_stream_destroy(struct cursor_stream *cursor);

/* Uses this domain from now on; NULL: none. */
void cursor_stream_set_domain(struct cursor_stream *cursor, struct gid_domain *domain);

/* Follows the pointer of this seat; NULL: none. To be called again before the seat is destroyed. */
void cursor_stream_set_seat(struct cursor_stream *cursor, struct weston_seat *seat);

/* To be called after the seat was given events: sends what changed. */
void cursor_stream_look(struct cursor_stream *cursor);

#endif
