// SPDX-License-Identifier: MIT
/*
 * Programs that copy or paste, and keep the pipe locked in the kernel for good: by a write from
 * memory that never comes, or a read into it. Run by stuck_page.py.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <text_pipe.h>
#include <unistd.h>

#include "holding.h"
#include "tap.h"

static char *never; /* the first byte of a page that never comes, behind one that is there */
static size_t page;
static int epoll;
static struct text_reading reading;
static struct copied_text *text;

/* A program's end, which it writes into or reads from. */
static int end;

static void *hold_write(void *data) {
	ssize_t put = write(end, never - page, 2 * page);
	return put < 0 ? data : NULL;
}

static void *hold_read(void *data) {
	return read(end, never, 7) < 0 ? data : NULL;
}

static void *go(void *data) {
	struct epoll_event event;
	epoll_wait(epoll, &event, 1, 300);
	text_reading_go(&reading);
	return NULL;
}

static void *end_reading(void *data) {
	text_reading_end(&reading);
	return NULL;
}

static void *give(void *data) {
	text_pipe_give(end, text);
	return NULL;
}

/* The helper of the one before may not have ended quite. */
static int begin_reading(void) {
	int fd = -EBUSY;
	for (int i = 0; i < 100 && fd == -EBUSY; i++) {
		fd = text_reading_begin(&reading, epoll);
		nanosleep(&(struct timespec){.tv_nsec = fd == -EBUSY ? 10000000 : 0}, NULL);
	}
	return fd;
}

/* Whether another program's text is read. */
static bool others_are_read(void) {
	int fd = begin_reading(), ret = 0;
	bool wrote = fd >= 0 && write(fd, "text", 4) == 4;
	close(fd);
	while (wrote && ret == 0) {
		struct epoll_event event;
		ret = epoll_wait(epoll, &event, 1, HOLDING_PATIENCE_S * 1000) == 1
				? text_reading_go(&reading)
				: -ETIMEDOUT;
	}
	text_reading_end(&reading);
	return ret == 1 && reading.size == 4;
}

static void *write_ours(void *data) {
	char bytes[4096] = "";
	ssize_t put;
	do {
		put = write(end, bytes, sizeof(bytes));
	} while (put > 0);
	close(end);
	return NULL;
}

/* Who writes at an end of ours has as much room as a pipe, and does not wait for more. */
static void test_ends_of_our_own(void) {
	int ends[2];
	tap_ok(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], "before", 6) == 6, "a pipe");
	end = ends[0];
	holding_start(hold_read);
	end = text_pipe_sink(ends[1]);
	tap_ok(end >= 0 && holding_returns(write_ours), "writing stops nobody");
}

static void test_copies(void) {
	for (uint32_t i = 0; i < TEXT_PIPE_READERS; i++) {
		if (!tap_ok(others_are_read(), "a text is read")) {
			return;
		}
		end = begin_reading();
		holding_start(hold_write);
		tap_ok(holding_returns(go) && holding_returns(end_reading),
				"who holds its pipe stops nobody");
	}
	tap_ok(begin_reading() == -EBUSY, "so many helpers wait, and no more");
}

static void test_pastes(void) {
	int ends[2];
	tap_ok(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], "before", 6) == 6, "a pipe");
	end = ends[0];
	holding_start(hold_read);
	end = ends[1];
	tap_ok(holding_returns(give), "who holds its pipe is not waited for");
	tap_ok(pipe2(ends, O_CLOEXEC) == 0, "another one");
	end = ends[1];
	struct pollfd there = {ends[0], POLLIN, 0};
	tap_ok(holding_returns(give) && poll(&there, 1, HOLDING_PATIENCE_S * 1000) == 1 &&
					(there.revents & POLLIN) != 0,
			"gets its text");
}

int main(int argc, char **argv) {
	page = (size_t)sysconf(_SC_PAGESIZE);
	int file = open(argv[argc - 1], O_RDONLY | O_CLOEXEC);
	char *pages = mmap(
			NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(pages, 0, page);
	never = mmap(pages + page, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	text = copied_text_create("text", 4);
	if (!tap_ok(never != MAP_FAILED, "memory that never comes")) {
		return tap_finish();
	}
	test_ends_of_our_own();
	test_copies();
	test_pastes();
	int status = tap_finish();
	fflush(stdout);
	_exit(status); /* a search for leaks would stop the threads first, which nobody can */
}
