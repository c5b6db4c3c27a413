// SPDX-License-Identifier: MIT
/**
 * Copied texts on their way through pipes, as Wayland's programs give and take them. Nothing here
 * waits: a text that is read or given here has a time limit, and one that is read a size. A pipe
 * is locked while a program reads or writes it, also with memory that never comes, so that even
 * its close can wait for good: helper threads alone touch pipes that programs have.
 */
#ifndef GID_TEXT_PIPE_H
#define GID_TEXT_PIPE_H

#include "clipboard_format.h"

#define TEXT_PIPE_NS 5000000000ull /* for one text */
/* Helpers of this process that read, and that write; one more text is refused. */
#define TEXT_PIPE_READERS 4u
#define TEXT_PIPE_WRITERS 16u

/* Whether the descriptor is a pipe. Takes no lock that others can hold. */
bool text_pipe_is(int fd);

/* A text with several owners. */
struct copied_text {
	unsigned refs;
	size_t size;
	char bytes[];
};

/* NULL without memory. */
struct copied_text *copied_text_create(const char *bytes, size_t size);
struct copied_text *copied_text_ref(struct copied_text *text);

/* Accepts NULL. */
void copied_text_unref(struct copied_text *text);

/* A text that is being read from a program. */
struct text_reading {
	int fd; /* our pipe, into which a helper copies the text; -1: none */
	uint64_t deadline;
	size_t size;
	char bytes[CLIPBOARD_TEXT_MAX + 1];
};

/*
 * Begins to read a text; `epoll` is told when there is more. Returns the end of the pipe for the
 * program, which the caller owns; or -errno: -EBUSY: too many helpers are held up.
 */
int text_reading_begin(struct text_reading *reading, int epoll);

/* Returns 1: that is all, and it is a text or empty; 0: there is more to come; -EFBIG: more than
 * CLIPBOARD_TEXT_MAX; -EILSEQ: no text; -ETIMEDOUT; or another -errno. */
int text_reading_go(struct text_reading *reading);

/* Ends it, complete or not. Does nothing if there is none. */
void text_reading_end(struct text_reading *reading);

/*
 * Starts a helper that writes the text into the descriptor, within TEXT_PIPE_NS. Takes the
 * descriptor. Writes nothing if it is no pipe, or if too many helpers are at work.
 */
void text_pipe_give(int fd, struct copied_text *text);

/*
 * For callers that read or write any number of bytes themselves: our end of a pipe to a helper,
 * which reads or writes the program's pipe until the caller closes this end. It never blocks, and
 * causes no SIGPIPE. `fd` stays the caller's. -errno: -EINVAL: it is no pipe; -EBUSY: as above. A
 * program that takes nothing for TEXT_PIPE_NS gets no more. A source has no limit of size or time.
 */
int text_pipe_source(int fd);
int text_pipe_sink(int fd);

#endif
