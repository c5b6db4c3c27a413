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

/* Whether the descriptor is of a pipe: asked without a lock that others have. */
bool text_pipe_is(int fd);

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
	int fd; /* of a pipe of ours, into which a helper puts it; -1: there is none */
	uint64_t deadline;
	size_t size;
	char bytes[CLIPBOARD_TEXT_MAX + 1];
};

/* Begins it: an epoll instance sees when there is more. Returns the end that the program gets,
 * which is the caller's; or -errno: -EBUSY where so many helpers are held up. */
int text_reading_begin(struct text_reading *reading, int epoll);

/* Returns 1: that is all, and it is a text or empty; 0: there is more to come; -EFBIG: more than
 * CLIPBOARD_TEXT_MAX; -EILSEQ: no text; -ETIMEDOUT; or another -errno. */
int text_reading_go(struct text_reading *reading);

/* Whatever came. Also where there is none. */
void text_reading_end(struct text_reading *reading);

/*
 * Has a helper write it into a descriptor, which is the helper's: in TEXT_PIPE_NS at most. Nothing
 * is written where that is no pipe, or so many helpers are at work.
 */
void text_pipe_give(int fd, struct copied_text *text);

/*
 * For who reads or writes a program's pipe itself, bytes of any number: our end of a pipe to a
 * helper, which does that in his place until he closes it. Our end never waits and makes no signal.
 * `fd` stays the caller's. Or -errno: -EINVAL: it is no pipe; -EBUSY: as above. Who takes nothing
 * for TEXT_PIPE_NS gets no more. Of a source there is no limit of size or time.
 */
int text_pipe_source(int fd);
int text_pipe_sink(int fd);

#endif
