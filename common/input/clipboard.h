// SPDX-License-Identifier: MIT
/**
 * One end of a clipboard that two domains share: what a program copies here goes out as a stream,
 * and what was copied there is offered here. Both ends are the same. Belongs to the thread of its
 * gid_domain, and never waits: neither for gidd nor for programs that give or take a text.
 *
 * A text that came is not sent back, even where a program copies it that has just pasted it. At
 * most ten texts a second are asked for here, and as many are taken.
 */
#ifndef GID_CLIPBOARD_H
#define GID_CLIPBOARD_H

#include <gid/domain.h>
#include <stdbool.h>
#include <stdint.h>

#include "input_format.h"

#define CLIPBOARD_TYPE "text/plain;charset=utf-8" /* the MIME type of texts on Wayland */

struct clipboard;

/* From gid_domain_dispatch() and clipboard_dispatch(). None of them destroys the clipboard. */
struct clipboard_events {
	/*
	 * Asks the program that copied last to write its text into the descriptor, which the callee
	 * owns. If there is no text, the callee closes it.
	 */
	void (*ask)(void *data, int fd);
	/* Whether a text of the other end may be taken now. */
	bool (*wants)(void *data);
	/* A text came, and is to be offered to programs here. */
	void (*came)(void *data);
	/* clipboard_deadline() has changed. */
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

/*
 * To be called before the domain is destroyed. Texts that programs are reading go on. Accepts NULL.
 */
void clipboard_destroy(struct clipboard *clipboard);

/* The domain is connected; NULL: it goes away. */
void clipboard_set_domain(struct clipboard *clipboard, struct gid_domain *domain);

/*
 * A program has copied something: it is asked for its text as soon as somebody at the other end
 * reads. `anew`: it copied just now. If not, the text may be the one that crossed last, and is not
 * sent again then.
 */
void clipboard_changed(struct clipboard *clipboard, bool anew);

/* Asks for nothing any more: what was copied is gone. */
void clipboard_forget(struct clipboard *clipboard);

/* Writes the text that came last into a program's pipe. Takes the descriptor. */
void clipboard_give(struct clipboard *clipboard, int fd);

/* Readable when clipboard_dispatch() has something to do. It never changes. */
int clipboard_get_fd(const struct clipboard *clipboard);

/* When clipboard_dispatch() is to be called in any case; UINT64_MAX: never. */
uint64_t clipboard_deadline(const struct clipboard *clipboard);
void clipboard_dispatch(struct clipboard *clipboard);

#endif
