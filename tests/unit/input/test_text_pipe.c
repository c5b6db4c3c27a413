// SPDX-License-Identifier: MIT
/* Texts through pipes, of programs that do all that they should not. */
#include <errno.h>
#include <fcntl.h>
#include <gid/gid.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <text_pipe.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

#define PATIENCE_MS 60000

static int epoll;
static struct text_reading reading = {.fd = -1};
static char text[CLIPBOARD_TEXT_MAX + 1];

/* Until there is something of the reading's. */
static int go(void) {
	struct epoll_event event;
	return epoll_wait(epoll, &event, 1, PATIENCE_MS) == 1 ? text_reading_go(&reading)
							      : -ETIMEDOUT;
}

/* What becomes of this text of a program's, which then closes. */
static int read_text(const char *bytes, size_t size) {
	int fd = text_reading_begin(&reading, epoll), ret = 0;
	for (size_t at = 0; fd >= 0 && at < size && ret == 0;) {
		size_t part = size - at < 4096 ? size - at : 4096;
		ssize_t put = write(fd, bytes + at, part);
		at += put > 0 ? (size_t)put : 0;
		ret = go();
	}
	close(fd);
	while (ret == 0) {
		ret = go();
	}
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

/* Of a pipe into which a program writes: whether nobody reads it any more. */
static bool is_let_go(int fd) {
	struct pollfd poll_fd = {fd, 0, 0};
	return poll(&poll_fd, 1, PATIENCE_MS) == 1 && (poll_fd.revents & POLLERR) != 0;
}

static void test_who_never_writes(void) {
	int fd = text_reading_begin(&reading, epoll);
	struct epoll_event event;
	tap_ok((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0, "a program's end is as it expects");
	tap_ok(text_reading_go(&reading) == 0, "there is nothing to wait for yet");
	tap_ok(reading.deadline <= gid_clock_now() + TEXT_PIPE_NS, "there is a limit");
	reading.deadline = gid_clock_now();
	tap_ok(text_reading_go(&reading) == -ETIMEDOUT, "which ends it");
	tap_ok(write(fd, "a", 1) == 1 && epoll_wait(epoll, &event, 1, PATIENCE_MS) == 1,
			"what comes is seen");
	text_reading_end(&reading);
	tap_ok(epoll_wait(epoll, &event, 1, 0) == 0, "until it has ended");
	tap_ok(is_let_go(fd), "and the program hears of that");
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

static void give(int fd, size_t size) {
	memset(text, 'y', sizeof(text));
	struct copied_text *copied = copied_text_create(text, size);
	text_pipe_give(fd, copied);
	copied_text_unref(copied);
}

/* Bytes that come by a pipe until its end. */
static size_t read_all(int fd) {
	size_t got = 0;
	ssize_t part;
	while ((part = read(fd, text, sizeof(text))) > 0) {
		got += (size_t)part;
	}
	return got;
}

static void test_writing(void) {
	int fd;
	give(open_pipe(&fd, false), 7);
	tap_ok(read_all(fd) == 7 && text[6] == 'y', "what has room is written, and that is all");
	close(fd);
	give(open_pipe(&fd, true), CLIPBOARD_TEXT_MAX);
	tap_ok(read_all(fd) == CLIPBOARD_TEXT_MAX, "where there is little room it comes in parts");
	close(fd);
	text_pipe_give(open_pipe(&fd, false), NULL);
	tap_ok(read_all(fd) == 0, "without a text there is none");
	close(fd);
}

static void test_who_never_reads(void) {
	int fd, end = open_pipe(&fd, true), other = dup(end);
	uint64_t begun = gid_clock_now();
	give(end, CLIPBOARD_TEXT_MAX);
	tap_ok(fcntl(other, F_SETFL, 0) == 0, "who else has the pipe can let writers wait");
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	close(other);
	struct pollfd hung_up = {fd, 0, 0};
	tap_ok(poll(&hung_up, 1, PATIENCE_MS) == 1, "but there is a limit");
	tap_ok(gid_clock_now() - begun >= TEXT_PIPE_NS - TEXT_PIPE_NS / 10, "not before its time");
	tap_ok(read_all(fd) < CLIPBOARD_TEXT_MAX, "after which no more comes");
	close(fd);
}

/* Each for its time; one more gets nothing. */
static void test_many_who_never_read(void) {
	int fds[TEXT_PIPE_WRITERS], fd;
	for (uint32_t i = 0; i < TEXT_PIPE_WRITERS; i++) {
		give(open_pipe(&fds[i], true), CLIPBOARD_TEXT_MAX);
	}
	give(open_pipe(&fd, true), 7);
	tap_ok(read_all(fd) == 0, "there is a limit to how many are served");
	close(fd);
	for (uint32_t i = 0; i < TEXT_PIPE_WRITERS; i++) {
		close(fds[i]);
	}
	size_t got = 0;
	for (int i = 0; i < 1000 && got == 0; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		give(open_pipe(&fd, true), 7);
		got = read_all(fd);
		close(fd);
	}
	tap_ok(got == 7, "until they have gone");
}

static void handle_signal(int number) {
	_exit(EXIT_FAILURE);
}

static void test_who_reads_no_more(void) {
	int fd, end = open_pipe(&fd, true);
	signal(SIGPIPE, handle_signal);
	int other = dup(end);
	give(end, CLIPBOARD_TEXT_MAX);
	close(fd);
	tap_ok(is_let_go(other), "who closes ends it, without a signal");
	close(other);
	int ends[2];
	tap_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a socket");
	give(ends[0], 7);
	tap_ok(read(ends[1], text, 1) == 0, "what is no pipe is not written");
	close(ends[1]);
}

/* For who reads and writes himself: more than any pipe has room for. */
static void test_ends_of_our_own(void) {
	int program, theirs = open_pipe(&program, true), ours = text_pipe_sink(theirs);
	close(theirs);
	tap_ok(ours >= 0 && (fcntl(ours, F_GETFL) & O_NONBLOCK) != 0, "our end never waits");
	size_t put = 0, got = 0;
	memset(text, 'z', sizeof(text));
	while (got < 3 * CLIPBOARD_TEXT_MAX) {
		size_t rest = 3 * CLIPBOARD_TEXT_MAX - put;
		ssize_t part = rest > 0 ? write(ours, text, rest < 5000 ? rest : 5000) : 0;
		put += part > 0 ? (size_t)part : 0;
		part = read(program, text + CLIPBOARD_TEXT_MAX - 100, 100);
		got += part > 0 ? (size_t)part : 0;
	}
	close(ours);
	tap_ok(read_all(program) == 0 && put == got, "all comes, and then the end");
	close(program);

	theirs = open_pipe(&program, false);
	ours = text_pipe_source(program);
	close(program);
	tap_ok(ours >= 0 && write(theirs, "text", 4) == 4, "one that a program writes");
	struct pollfd there = {ours, POLLIN, 0};
	tap_ok(poll(&there, 1, PATIENCE_MS) == 1 && read(ours, text, sizeof(text)) == 4 &&
					memcmp(text, "text", 4) == 0,
			"what it writes comes");
	close(theirs);
	tap_ok(poll(&there, 1, PATIENCE_MS) == 1 && read(ours, text, 1) == 0, "and then the end");
	close(ours);
	tap_ok(text_pipe_sink(epoll) == -EINVAL && text_pipe_source(epoll) == -EINVAL,
			"what is no pipe has none");
}

static void test_who_closes(void) {
	int program, theirs = open_pipe(&program, true), ours = text_pipe_sink(theirs);
	close(theirs);
	close(program);
	struct pollfd room = {ours, POLLOUT, 0};
	size_t put = 0;
	signal(SIGPIPE, handle_signal);
	while (put < 3 * CLIPBOARD_TEXT_MAX && poll(&room, 1, PATIENCE_MS) == 1) {
		ssize_t part = write(ours, text, sizeof(text));
		put += part > 0 ? (size_t)part : 0;
	}
	tap_ok(put >= 3 * CLIPBOARD_TEXT_MAX, "who closes ends nobody by a signal");
	close(ours);
}

int main(void) {
	epoll = epoll_create1(EPOLL_CLOEXEC);
	test_reading();
	test_who_never_writes();
	test_writing();
	test_who_never_reads();
	test_many_who_never_read();
	test_who_reads_no_more();
	test_ends_of_our_own();
	test_who_closes();
	return tap_finish();
}
