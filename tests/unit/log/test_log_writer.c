// SPDX-License-Identifier: MIT
/*
 * A log whose reader has stopped: nobody waits for it, not even where another program of the same
 * pipe fills that between the question whether there is room and the line. What found room comes,
 * whole and in order, and how much did not is told.
 */
#include "log_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log_budget.h"
#include "tap.h"

#define MANY 1000
#define LINE "line %d of a log, which is as long as such lines are\n"

static int reader; /* of what stands at standard error */

int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);

/* By the same description as standard error, whose flags are for all who have it. */
static void fill_pipe(void) {
	char zeroes[4096] = {0};
	fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
	while (write(STDERR_FILENO, zeroes, sizeof(zeroes)) > 0) {
	}
	while (write(STDERR_FILENO, zeroes, 1) > 0) {
	}
	fcntl(STDERR_FILENO, F_SETFL, 0);
}

/* Another program writes as much as there is room for, right after we were told of that. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout) {
	int ret = __real_poll(fds, count, timeout);
	fill_pipe();
	return ret;
}

static void open_pipe(void) {
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0 || dup2(ends[1], STDERR_FILENO) < 0) {
		abort();
	}
	close(ends[1]);
	reader = ends[0];
}

static void log_number(int number) {
	char line[LOG_LINE_BYTES];
	int size = snprintf(line, sizeof(line), LINE, number);
	log_write(line, (size_t)size);
}

/* The next line, without what others wrote. */
static void read_line(char line[LOG_LINE_BYTES + 1]) {
	size_t size = 0;
	while (size == 0 || line[size - 1] != '\n') {
		char byte;
		if (read(reader, &byte, 1) != 1) {
			abort();
		}
		if (byte != '\0' && size < LOG_LINE_BYTES) {
			line[size++] = byte;
		}
	}
	line[size] = '\0';
}

static void test_order(void) {
	char line[LOG_LINE_BYTES + 1];
	bool ordered = true;
	for (int i = 0; i < 20; i++) {
		log_number(i);
	}
	for (int i = 0; i < 20; i++) {
		char expected[LOG_LINE_BYTES];
		snprintf(expected, sizeof(expected), LINE, i);
		read_line(line);
		ordered = ordered && strcmp(line, expected) == 0;
	}
	tap_ok(ordered, "lines come as they were written");
	char *long_line = malloc(10 * LOG_LINE_BYTES);
	memset(long_line, 'x', 10 * LOG_LINE_BYTES);
	log_write(long_line, 10 * LOG_LINE_BYTES);
	free(long_line);
	read_line(line);
	tap_ok(strlen(line) == LOG_LINE_BYTES, "the rest of a long one is cut off");
}

/* `flags`: those that another program left at standard error. */
static void test_reader_that_stopped(int flags) {
	char line[LOG_LINE_BYTES + 1];
	int lines = 0, last = -1, number;
	unsigned long long lost = 0, more;
	bool ordered = true;
	fill_pipe();
	fcntl(STDERR_FILENO, F_SETFL, flags);
	for (int i = 0; i < MANY; i++) {
		log_number(i);
	}
	tap_ok(true, "nobody waits for who reads the log");
	while ((unsigned long long)lines + lost < MANY) {
		read_line(line);
		if (sscanf(line, "test: %llu lines are lost: nobody took them\n", &more) == 1) {
			lost += more;
		} else {
			ordered = ordered && sscanf(line, LINE, &number) == 1 && number > last;
			last = number;
			lines++;
		}
	}
	tap_ok(ordered && lines > 0, "what there was room for comes later (%d lines)", lines);
	tap_ok(lost > 0 && (unsigned long long)lines + lost == MANY,
			"and how many are lost is told (%llu)", lost);
}

static void test_end(void) {
	fill_pipe();
	log_number(0);
	log_writer_stop();
	tap_ok(true, "nor does the end of the program wait for long");
}

static void test_budget(void) {
	const struct log_rate rate = {.lines = 3, .line_ns = 10};
	struct log_budget budget = {0};
	int taken = 0;
	for (int i = 0; i < 5; i++) {
		taken += log_budget_take(&budget, rate, 100);
	}
	tap_ok(taken == 3 && budget.left_out == 2, "so many lines at once, the others are counted");
	tap_ok(log_budget_take(&budget, rate, 110) && !log_budget_take(&budget, rate, 119),
			"then one more whenever its time has passed");
}

int main(void) {
	alarm(60);
	test_budget();
	open_pipe();
	log_writer_start("test");
	test_order();
	test_reader_that_stopped(0);
	test_reader_that_stopped(O_NONBLOCK);
	test_end();
	return tap_finish();
}
