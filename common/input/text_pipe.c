// SPDX-License-Identifier: MIT
#include "text_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <gid/gid.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "closer.h"
#include "thread.h"

#define PIECE 4096u
#define MS_NS 1000000ull

/* --- a text ----------------------------------------------------------------------------------- */

struct copied_text *copied_text_create(const char *bytes, size_t size) {
	struct copied_text *text = malloc(sizeof(*text) + size);
	if (text != NULL) {
		text->refs = 1;
		text->size = size;
		memcpy(text->bytes, bytes, size);
	}
	return text;
}

struct copied_text *copied_text_ref(struct copied_text *text) {
	__atomic_add_fetch(&text->refs, 1, __ATOMIC_RELAXED);
	return text;
}

void copied_text_unref(struct copied_text *text) {
	if (text != NULL && __atomic_sub_fetch(&text->refs, 1, __ATOMIC_ACQ_REL) == 0) {
		free(text);
	}
}

/* --- helpers ---------------------------------------------------------------------------------- */

/* The work of one helper thread, and its descriptors: a program's, and pipes of our own. */
struct work {
	void (*go)(const struct work *work);
	unsigned *helpers;
	int theirs, way[2], from;
	uint64_t deadline;
	struct copied_text *text;
};

/* Of this process. */
static unsigned readers, writers;

/*
 * Closes the program's descriptor last: that may be the last close, which waits for whoever holds
 * the pipe.
 */
static void work_end(struct work *work) {
	const int ours[] = {work->way[0], work->way[1], work->from};
	copied_text_unref(work->text);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (ours[i] >= 0) {
			close(ours[i]);
		}
	}
	close(work->theirs);
	__atomic_sub_fetch(work->helpers, 1, __ATOMIC_RELAXED);
	free(work);
}

static void *work_main(void *data) {
	struct work *work = data;
	work->go(work);
	work_end(work);
	return NULL;
}

/* Starts a helper. After an error, -errno, the caller still owns the descriptors and the text. */
static int start_work(const struct work *what, unsigned max) {
	struct work *work = malloc(sizeof(*work));
	int error = work != NULL ? -EBUSY : -ENOMEM;
	if (work != NULL && __atomic_add_fetch(what->helpers, 1, __ATOMIC_RELAXED) <= max) {
		*work = *what;
		error = gid_thread_start(NULL, GID_THREAD_STACK, work_main, work);
	}
	if (error != 0) {
		if (work != NULL) {
			__atomic_sub_fetch(what->helpers, 1, __ATOMIC_RELAXED);
		}
		free(work);
	}
	return error;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Copies a program's pipe to ours until the program closes it, or until our side closes its end. */
static void relay(const struct work *work) {
	struct pollfd both[] = {{work->theirs, POLLIN, 0}, {work->way[1], 0, 0}};
	char bytes[PIECE];
	ssize_t got = 1, put = 0;
	while (got != 0 && put >= 0) {
		if (poll(both, 2, -1) < 0 || both[1].revents != 0) {
			return;
		}
		got = read(work->theirs, bytes, sizeof(bytes));
		/* An error is not the end of a text: our pipe stays open until its time limit. */
		both[0].fd = got < 0 ? -1 : work->theirs;
		put = got > 0 ? write(work->way[1], bytes, (size_t)got) : 0;
	}
}

static int watch(int epoll, int fd) {
	struct epoll_event event = {.events = EPOLLIN};
	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static void close_both(const int ends[2]) {
	close(ends[0]);
	close(ends[1]);
}

/*
 * Starts a helper that reads a program's pipe, and takes its descriptor. Returns our end, or
 * -errno.
 */
static int start_reading(int theirs) {
	int ours[2];
	if (pipe2(ours, O_CLOEXEC) != 0) {
		return -errno;
	}
	const struct work work = {.go = relay,
			.helpers = &readers,
			.theirs = theirs,
			.way = {-1, ours[1]},
			.from = -1};
	int error = fcntl(ours[0], F_SETFL, O_NONBLOCK) == 0 ? start_work(&work, TEXT_PIPE_READERS)
							     : -errno;
	if (error != 0) {
		close_both(ours);
	}
	return error != 0 ? error : ours[0];
}

/* Only our own end is non-blocking: programs may not expect that of theirs. */
int text_reading_begin(struct text_reading *reading, int epoll) {
	int theirs[2];
	if (pipe2(theirs, O_CLOEXEC) != 0) {
		return -errno;
	}
	int fd = start_reading(theirs[0]);
	if (fd < 0) {
		close_both(theirs);
		return fd;
	}
	int error = watch(epoll, fd);
	if (error != 0) { /* the helper notices, and closes the other end */
		close(fd);
		close(theirs[1]);
		return error;
	}
	reading->fd = fd;
	reading->deadline = gid_clock_now() + TEXT_PIPE_NS;
	reading->size = 0;
	return theirs[1];
}

int text_reading_go(struct text_reading *reading) {
	ssize_t got;
	do {
		got = read(reading->fd, reading->bytes + reading->size,
				sizeof(reading->bytes) - reading->size);
		reading->size += got > 0 ? (size_t)got : 0;
		if (reading->size > CLIPBOARD_TEXT_MAX) {
			return -EFBIG;
		}
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0 && errno != EAGAIN) {
		return -errno;
	}
	if (got < 0) {
		return gid_clock_now() < reading->deadline ? 0 : -ETIMEDOUT;
	}
	return reading->size == 0 || clipboard_text_is_valid(reading->bytes, reading->size)
			? 1
			: -EILSEQ;
}

void text_reading_end(struct text_reading *reading) {
	if (reading->fd >= 0) {
		close(reading->fd);
	}
	reading->fd = -1;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Writing to any other file may block for good. */
bool text_pipe_is(int fd) {
	char path[32], name[8] = "";
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, name, sizeof(name) - 1) > 0 && strncmp(name, "pipe:[", 6) == 0;
}

/* Returns whether there is room in time. */
static bool wait_for_room(const struct work *work, uint64_t deadline) {
	struct pollfd room = {work->theirs, POLLOUT, 0};
	uint64_t now = gid_clock_now();
	return now < deadline && poll(&room, 1, (int)((deadline - now) / MS_NS + 1)) > 0;
}

/*
 * Writes through a pipe of our own and splice(): that is the only way of writing that never blocks,
 * even if somebody else who has the program's end keeps making it blocking. Returns whether all was
 * written in time.
 */
static bool put(const struct work *work, const char *bytes, size_t size, uint64_t deadline) {
	size_t at = 0, moved = 0;
	while (moved < size && wait_for_room(work, deadline)) {
		ssize_t part = at < size ? write(work->way[1], bytes + at, size - at) : 0;
		at += part > 0 ? (size_t)part : 0;
		ssize_t ret = splice(work->way[0], NULL, work->theirs, NULL, CLIPBOARD_TEXT_MAX,
				SPLICE_F_NONBLOCK);
		if (ret < 0 && errno != EAGAIN && errno != EINTR) {
			return false;
		}
		moved += ret > 0 ? (size_t)ret : 0;
	}
	return moved == size;
}

static void write_text(const struct work *work) {
	put(work, work->text->bytes, work->text->size, work->deadline);
}

/*
 * Copies our pipe to the program's until our side closes its end. What the program does not take
 * any more is read and dropped, so that our writer gets no SIGPIPE. Not spliced from pipe to pipe:
 * that would lock our pipe while it waits for the other one.
 */
static void pass_on(const struct work *work) {
	char bytes[PIECE];
	ssize_t got;
	bool takes = true;
	while ((got = read(work->from, bytes, sizeof(bytes))) > 0) {
		takes = takes && put(work, bytes, (size_t)got, gid_clock_now() + TEXT_PIPE_NS);
	}
}

void text_pipe_give(int fd, struct copied_text *text) {
	int way[2];
	if (text == NULL || !text_pipe_is(fd) || pipe2(way, O_CLOEXEC | O_NONBLOCK) != 0) {
		gid_closer_close(fd);
		return;
	}
	const struct work work = {.go = write_text,
			.helpers = &writers,
			.theirs = fd,
			.way = {way[0], way[1]},
			.from = -1,
			.deadline = gid_clock_now() + TEXT_PIPE_NS,
			.text = copied_text_ref(text)};
	if (start_work(&work, TEXT_PIPE_WRITERS) != 0) {
		copied_text_unref(text);
		close_both(way);
		gid_closer_close(fd);
	}
}

/* --- pipes that others read and write --------------------------------------------------------- */

/*
 * Starts a helper that writes a program's pipe, and takes its descriptor. Returns our end, or
 * -errno.
 */
static int start_passing_on(int theirs) {
	int ours[2], way[2];
	if (pipe2(ours, O_CLOEXEC) != 0) {
		return -errno;
	}
	if (pipe2(way, O_CLOEXEC | O_NONBLOCK) != 0) {
		int error = -errno;
		close_both(ours);
		return error;
	}
	const struct work work = {.go = pass_on,
			.helpers = &writers,
			.theirs = theirs,
			.way = {way[0], way[1]},
			.from = ours[0]};
	int error = fcntl(ours[1], F_SETFL, O_NONBLOCK) == 0 ? start_work(&work, TEXT_PIPE_WRITERS)
							     : -errno;
	if (error != 0) {
		close_both(ours);
		close_both(way);
	}
	return error != 0 ? error : ours[1];
}

/* The helper gets a copy of the descriptor, so that the last close is never the caller's. */
static int with_copy(int fd, int (*start)(int theirs)) {
	if (!text_pipe_is(fd)) {
		return -EINVAL;
	}
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0) {
		return -errno;
	}
	int ours = start(copy);
	if (ours < 0) {
		close(copy);
	}
	return ours;
}

int text_pipe_source(int fd) {
	return with_copy(fd, start_reading);
}

int text_pipe_sink(int fd) {
	return with_copy(fd, start_passing_on);
}
