// SPDX-License-Identifier: MIT
/**
 * One end of a clipboard that two domains have in common: what a program copies here goes out as a
 * stream, and what was copied there is offered here. Both ends are the same. Belongs to the thread
 * of its gid_domain, and never waits: not for gidd, nor for programs that give or take a text.
 *
 * What came is not sent back, also where a program copies it that has just pasted it. At most ten
 * texts a second are asked for here, and as many are taken.
 */
#ifndef GID_CLIPBOARD_H
#define GID_CLIPBOARD_H

#include <gid/domain.h>
#include <stdbool.h>
#include <stdint.h>

#include "input_format.h"

#define CLIPBOARD_TYPE "text/plain;charset=utf-8" /* of texts, for Wayland's programs */

struct clipboard;

/* From gid_domain_dispatch() and clipboard_dispatch(). None of them destroys the clipboard. */
struct clipboard_events {
	/* Has the program that copied last write its text into the descriptor, which is the
	 * callee's. Where there is no such text, it is closed. */
	void (*ask)(void *data, int fd);
	/* Whether a text of the other end may come now. */
	bool (*wants)(void *data);
	/* It came: programs here are to be offered it. */
	void (*came)(void *data);
	/* Look again soon, see clipboard_deadline(). */
	void (*woken)(void *data);
	/* For the log: what happened, without its end of line. */
	void (*say)(void *data, const char *what);
};

/*
 * `ours` is the stream of our domain, and `theirs` one of `owner`; all strings outlive it. Returns
 * 0 or -errno.
 */
int clipboard_create(const char *ours, const char *owner, const char *theirs,
		const struct clipboard_events *events, void *data, struct clipboard **created);

/* Texts on their way to programs go on. Before the domain is destroyed. Accepts NULL. */
void clipboard_destroy(struct clipboard *clipboard);

/* The domain came; NULL: it goes. */
void clipboard_set_domain(struct clipboard *clipboard, struct gid_domain *domain);

/*
 * There is something copied: its program is asked for it as soon as somebody at the other end
 * reads. `anew`: that was just now. Else it may be the text that crossed last, which is not sent
 * again.
 */
void clipboard_changed(struct clipboard *clipboard, bool anew);

/* Nobody is asked any more, whatever was copied. */
void clipboard_forget(struct clipboard *clipboard);

/* Writes the text that came last into a pipe of a program's. The descriptor is the clipboard's. */
void clipboard_give(struct clipboard *clipboard, int fd);

/* Readable when clipboard_dispatch() has something to do. It never changes. */
int clipboard_get_fd(const struct clipboard *clipboard);

/* When it has something to do without that; UINT64_MAX: never. */
uint64_t clipboard_deadline(const struct clipboard *clipboard);
void clipboard_dispatch(struct clipboard *clipboard);

#endif
