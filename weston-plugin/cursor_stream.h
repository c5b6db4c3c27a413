// SPDX-License-Identifier: MIT
/**
 * The cursor of a seat whose user is in another domain, as a stream beside that of the picture: its
 * user's own compositor draws it, without waiting for a picture. It also tells when a program has
 * locked the pointer. Belongs to the compositor's thread.
 */
#ifndef GID_WESTON_CURSOR_STREAM_H
#define GID_WESTON_CURSOR_STREAM_H

#include <gid/domain.h>
#include <libweston/libweston.h>

struct cursor_stream;

enum cursor_place {
	CURSOR_IN_PICTURE, /* where nobody reads it, it is drawn on Weston's outputs */
	CURSOR_ELSEWHERE,  /* it is never drawn there */
};

/*
 * `shown`, the stream of the picture, is such that cursor_stream_name() has one for it. Before any
 * client has a surface. NULL for want of memory. All functions below take NULL.
 */
struct cursor_stream *cursor_stream_create(
		struct weston_compositor *compositor, const char *shown, enum cursor_place place);
void cursor_stream_destroy(struct cursor_stream *cursor);

/* The domain came; NULL: it goes. */
void cursor_stream_set_domain(struct cursor_stream *cursor, struct gid_domain *domain);

/* Whose pointer it is; NULL: nobody's now. To be called before the seat is gone. */
void cursor_stream_set_seat(struct cursor_stream *cursor, struct weston_seat *seat);

/* After what the seat was told: tells what is new. */
void cursor_stream_look(struct cursor_stream *cursor);

#endif
