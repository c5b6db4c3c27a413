// SPDX-License-Identifier: MIT
/* Texts through pipes, of programs that do all that they should not. */
#include <errno.h>
#include <fcntl.h>
#include <gid/gid.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <text_pipe.h>
#include <unistd.h>

#include "tap.h"

static int epoll;
static struct text_reading reading = {.fd = -1};
static struct text_writing writing = {.fd = -1};
static char text[CLIPBOARD_TEXT_MAX + 1];

/* What becomes of this text of a program's, which then closes. */
static int read_text(const char *bytes, size_t size) {
	int fd = text_reading_begin(&reading, epoll), ret = 0;
	for (size_t at = 0; fd >= 0 && at < size && ret == 0;) {
		size_t part = size - at < 4096 ? size - at : 4096;
		ssize_t put = write(fd, bytes + at, part);
		at += put > 0 ? (size_t)put : 0;
		ret = text_reading_go(&reading);
	}
	close(fd);
	ret = ret == 0 ? text_reading_go(&reading) : ret;
	text_reading_end(&reading);
	return ret;
}

static void test_reading(void) {
	memset(text, 'x', sizeof(text));
	tap_ok(read_text("Grüße", 7) == 1 && reading.size == 7 &&
					memcmp(reading.bytes, "Grüße", 7) == 0,
			"a text is read");
	tap_ok(read_text(text, CLIPBOARD_TEXT_MAX) == 1 && reading.size == CLIPBOARD_TEXT_MAX,
			"the longest, too");
	tap_ok(read_text("", 0) == 1 && reading.size == 0, "and nothing");
	tap_ok(read_text("a\xff", 2) == -EILSEQ, "what is no text is none");
	tap_ok(read_text("a\0b", 3) == -EILSEQ, "nor is what has a NUL");
	tap_ok(read_text(text, CLIPBOARD_TEXT_MAX + 1) == -EFBIG, "one byte more is too much");
}

static void test_who_never_writes(void) {
	int fd = text_reading_begin(&reading, epoll);
	struct epoll_event event;
	tap_ok((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0, "a program's end is as it expects");
	tap_ok(text_reading_go(&reading) == 0, "there is nothing to wait for yet");
	tap_ok(reading.deadline <= gid_clock_now() + TEXT_PIPE_NS, "there is a limit");
	reading.deadline = gid_clock_now();
	tap_ok(text_reading_go(&reading) == -ETIMEDOUT, "which ends it");
	tap_ok(write(fd, "a", 1) == 1 && epoll_wait(epoll, &event, 1, 0) == 1,
			"what comes is seen");
	text_reading_end(&reading);
	tap_ok(epoll_wait(epoll, &event, 1, 0) == 0, "until it has ended");
	close(fd);
}

/* A program's pipe, its own end in `fd`, of one page where that is wanted. */
static int open_pipe(int *fd, bool small) {
	int ends[2];
	tap_ok(pipe2(ends, O_CLOEXEC) == 0 &&
					(!small || fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096),
			"a pipe");
	*fd = ends[0];
	return ends[1];
}

static void begin(int fd, size_t size) {
	memset(text, 'y', sizeof(text));
	struct copied_text *copied = copied_text_create(text, size);
	text_writing_begin(&writing, epoll, fd, copied);
	copied_text_unref(copied);
}

static void test_writing(void) {
	int fd;
	begin(open_pipe(&fd, false), 7);
	tap_ok(writing.fd < 0, "what has room is written at once");
	tap_ok(read(fd, text, sizeof(text)) == 7 && text[6] == 'y' && read(fd, text, 1) == 0,
			"and that is all");
	close(fd);
	begin(open_pipe(&fd, true), CLIPBOARD_TEXT_MAX);
	size_t got = 0;
	ssize_t part;
	while (writing.fd >= 0 && (part = read(fd, text, sizeof(text))) > 0) {
		got += (size_t)part;
		text_writing_go(&writing);
	}
	while ((part = read(fd, text, sizeof(text))) > 0) {
		got += (size_t)part;
	}
	tap_ok(got == CLIPBOARD_TEXT_MAX, "where there is little room it comes in parts");
	close(fd);
}

static void test_who_never_reads(void) {
	struct epoll_event event;
	int fd, end = open_pipe(&fd, true), other = dup(end);
	begin(end, CLIPBOARD_TEXT_MAX);
	tap_ok(writing.fd >= 0, "it waits for who reads");
	tap_ok(fcntl(other, F_SETFL, 0) == 0, "who else has the pipe can let writers wait");
	text_writing_go(&writing);
	tap_ok(writing.fd >= 0, "which does not let it wait");
	writing.deadline = gid_clock_now();
	text_writing_go(&writing);
	tap_ok(writing.fd < 0, "but there is a limit");
	close(fd);
	tap_ok(epoll_wait(epoll, &event, 1, 0) == 0, "after which nothing is seen of it");
	close(other);
}

static void handle_signal(int number) {
	_exit(EXIT_FAILURE);
}

static void test_who_reads_no_more(void) {
	int fd, end = open_pipe(&fd, true);
	signal(SIGPIPE, handle_signal);
	begin(end, CLIPBOARD_TEXT_MAX);
	close(fd);
	text_writing_go(&writing);
	tap_ok(writing.fd < 0, "who closes ends it, without a signal");
	int ends[2];
	tap_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a socket");
	begin(ends[0], 7);
	tap_ok(writing.fd < 0 && read(ends[1], text, 1) == 0, "what is no pipe is not written");
	close(ends[1]);
}

int main(void) {
	epoll = epoll_create1(EPOLL_CLOEXEC);
	test_reading();
	test_who_never_writes();
	test_writing();
	test_who_never_reads();
	test_who_reads_no_more();
	return tap_finish();
}
