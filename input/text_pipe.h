// SPDX-License-Identifier: MIT
/**
 * Copied texts on their way through pipes, as Wayland's programs give and take them. Nothing here
 * waits: who writes without end, or neither writes nor reads, has a time limit and a size.
 */
#ifndef GID_TEXT_PIPE_H
#define GID_TEXT_PIPE_H

#include "clipboard_format.h"

#define TEXT_PIPE_NS 5000000000ull /* for one text */

/* A text that several have. */
struct copied_text {
	unsigned refs;
	size_t size;
	char bytes[];
};

/* NULL for want of memory. */
struct copied_text *copied_text_create(const char *bytes, size_t size);
struct copied_text *copied_text_ref(struct copied_text *text);

/* Accepts NULL. */
void copied_text_unref(struct copied_text *text);

/* One that a program gives. */
struct text_reading {
	int fd; /* -1: there is none */
	uint64_t deadline;
	size_t size;
	char bytes[CLIPBOARD_TEXT_MAX + 1];
};

/* Begins it: an epoll instance sees when there is more. Returns the end that the program gets,
 * which is the caller's; or -errno. */
int text_reading_begin(struct text_reading *reading, int epoll);

/* Returns 1: that is all, and it is a text or empty; 0: there is more to come; -EFBIG: more than
 * CLIPBOARD_TEXT_MAX; -EILSEQ: no text; -ETIMEDOUT; or another -errno. */
int text_reading_go(struct text_reading *reading);

/* Whatever came. Also where there is none. */
void text_reading_end(struct text_reading *reading);

/* One that a program takes. */
struct text_writing {
	int fd; /* -1: there is none */
	int epoll;
	int way[2]; /* a pipe of ours, by which it goes */
	uint64_t deadline;
	size_t at, moved; /* bytes that are in that pipe, or were; and that are in the program's */
	struct copied_text *text;
};

/* Closes the descriptor, of whatever that is, in place of writing. */
void text_writing_refuse(int fd);

/* Begins it, with what goes at once. The descriptor is the writing's, and is closed in its end; it
 * is refused where it is no pipe. */
void text_writing_begin(struct text_writing *writing, int epoll, int fd, struct copied_text *text);

/* As far as it goes now: it may end. Also where there is none. */
void text_writing_go(struct text_writing *writing);
void text_writing_end(struct text_writing *writing);

#endif
