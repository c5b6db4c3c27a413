// SPDX-License-Identifier: MIT
#include "text_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <gid/gid.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "closer.h"

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
	text->refs++;
	return text;
}

void copied_text_unref(struct copied_text *text) {
	if (text != NULL && --text->refs == 0) {
		free(text);
	}
}

/* --- reading ---------------------------------------------------------------------------------- */

static int watch(int epoll, int fd, uint32_t events) {
	struct epoll_event event = {.events = events};
	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

/* Our end alone is told not to wait: programs may not expect that of theirs. */
int text_reading_begin(struct text_reading *reading, int epoll) {
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0) {
		return -errno;
	}
	int error = fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? watch(epoll, ends[0], EPOLLIN)
							     : -errno;
	if (error != 0) {
		close(ends[0]);
		close(ends[1]);
		return error;
	}
	reading->fd = ends[0];
	reading->deadline = gid_clock_now() + TEXT_PIPE_NS;
	reading->size = 0;
	return ends[1];
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

/*
 * Whoever else has the program's end may let it wait for its reader again and again: only in this
 * way writing does not wait whatever is set there. A reader that is gone is no reason for a signal.
 */
static ssize_t move_on(const struct text_writing *writing) {
	sigset_t broken, before;
	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &broken, &before);
	ssize_t ret = splice(writing->way[0], NULL, writing->fd, NULL, CLIPBOARD_TEXT_MAX,
			SPLICE_F_NONBLOCK);
	int error = errno;
	if (ret < 0 && error == EPIPE && !sigismember(&before, SIGPIPE)) {
		sigtimedwait(&broken, NULL, &(struct timespec){0});
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret < 0 ? -error : ret;
}

/* Returns what was moved on, or -errno. */
static ssize_t writing_step(struct text_writing *writing) {
	size_t left = writing->text->size - writing->at;
	ssize_t put = left > 0 ? write(writing->way[1], writing->text->bytes + writing->at, left)
			       : 0;
	writing->at += put > 0 ? (size_t)put : 0;
	ssize_t moved = move_on(writing);
	writing->moved += moved > 0 ? (size_t)moved : 0;
	return moved;
}

void text_writing_go(struct text_writing *writing) {
	if (writing->fd < 0) {
		return;
	}
	ssize_t ret = 1;
	while (writing->moved < writing->text->size && (ret > 0 || ret == -EINTR)) {
		ret = writing_step(writing);
	}
	if (ret != -EAGAIN || gid_clock_now() >= writing->deadline) {
		text_writing_end(writing);
	}
}

void text_writing_refuse(int fd) {
	gid_closer_close(fd);
}

/* That it is a pipe is asked without its file system: any other file may hold up who writes, asks
 * or closes. */
void text_writing_begin(struct text_writing *writing, int epoll, int fd, struct copied_text *text) {
	int way[2];
	if (fcntl(fd, F_GETPIPE_SZ) < 0 || pipe2(way, O_CLOEXEC | O_NONBLOCK) != 0) {
		text_writing_refuse(fd);
		return;
	}
	*writing = (struct text_writing){.fd = fd,
			.epoll = epoll,
			.way = {way[0], way[1]},
			.deadline = gid_clock_now() + TEXT_PIPE_NS,
			.text = copied_text_ref(text)};
	if (watch(epoll, fd, EPOLLOUT) != 0) {
		text_writing_end(writing);
	}
	text_writing_go(writing);
}

/* Somebody else may have the descriptor, too: it is not forgotten by the epoll instance alone. */
void text_writing_end(struct text_writing *writing) {
	if (writing->fd >= 0) {
		epoll_ctl(writing->epoll, EPOLL_CTL_DEL, writing->fd, NULL);
		close(writing->way[0]);
		close(writing->way[1]);
		close(writing->fd);
		copied_text_unref(writing->text);
	}
	writing->fd = -1;
}
