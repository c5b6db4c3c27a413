// SPDX-License-Identifier: MIT
#include "log_writer.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "thread.h"

#define LINES 128u

struct line {
	size_t size;
	char text[LOG_LINE_BYTES];
};

/* Of the process, as standard error is. */
static struct {
	char name[96];
	atomic_ullong lost;
	atomic_bool runs;
	pthread_t thread;
	pthread_mutex_t lock; /* for all below */
	pthread_cond_t added;
	bool ends;
	struct line lines[LINES]; /* a ring */
	unsigned next, count;
} writer = {.added = PTHREAD_COND_INITIALIZER};

static struct line line_of(const char *text, size_t size) {
	struct line line = {.size = size < LOG_LINE_BYTES ? size : LOG_LINE_BYTES};
	memcpy(line.text, text, line.size);
	line.text[line.size - 1] = '\n';
	return line;
}

/* 0 bytes: nothing was lost. */
static struct line line_of_lost(unsigned long long lost) {
	struct line line = {0};
	if (lost > 0) {
		line.size = (size_t)snprintf(line.text, sizeof(line.text),
				"%s: %llu lines are lost: nobody took them\n", writer.name, lost);
	}
	return line;
}

/* --- to standard error ------------------------------------------------------------------------ */

static void pass_on(const struct line *line, bool (*put)(const struct line *line)) {
	if (!put(line)) {
		atomic_fetch_add(&writer.lost, 1);
	}
}

/*
 * Reports how many lines were lost. If that line is lost, too, the count is kept for the next
 * report.
 */
static void pass_on_lost(bool (*put)(const struct line *line)) {
	unsigned long long lost = atomic_exchange(&writer.lost, 0);
	struct line line = line_of_lost(lost);
	if (!put(&line)) {
		atomic_fetch_add(&writer.lost, lost);
	}
}

/* --- the thread ------------------------------------------------------------------------------- */

/*
 * Writes a line, and waits while there is no room: another program with the same standard error may
 * have made it non-blocking. Returns whether all was written.
 */
static bool write_in_time(const struct line *line) {
	struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
	size_t done = 0;
	while (done < line->size) {
		ssize_t written = write(STDERR_FILENO, line->text + done, line->size - done);
		if (written < 0 && errno == EAGAIN) {
			poll(&out, 1, -1);
		} else if (written == 0 || (written < 0 && errno != EINTR)) {
			return false;
		}
		done += written > 0 ? (size_t)written : 0;
	}
	return true;
}

/* One line, with the lock given up while it is written. */
static void write_next(void) {
	struct line line = writer.lines[writer.next];
	writer.next = (writer.next + 1) % LINES;
	writer.count--;
	pthread_mutex_unlock(&writer.lock);
	pass_on(&line, write_in_time);
	pass_on_lost(write_in_time);
	pthread_mutex_lock(&writer.lock);
}

static void *run(void *data) {
	pthread_mutex_lock(&writer.lock);
	while (!writer.ends || writer.count > 0) {
		if (writer.count > 0) {
			write_next();
		} else {
			pthread_cond_wait(&writer.added, &writer.lock);
		}
	}
	pthread_mutex_unlock(&writer.lock);
	return NULL;
}

/* After fork() there is no thread: a child, such as libseat's own seat, writes at once. */
static void in_child(void) {
	atomic_store(&writer.runs, false);
}

void log_writer_start(const char *name) {
	snprintf(writer.name, sizeof(writer.name), "%s", name);
	gid_thread_init_lock(&writer.lock);
	pthread_atfork(NULL, NULL, in_child);
	atomic_store(&writer.runs,
			gid_thread_start(&writer.thread, GID_THREAD_STACK, run, NULL) == 0);
}

void log_writer_stop(void) {
	if (!atomic_load(&writer.runs)) {
		return;
	}
	pthread_mutex_lock(&writer.lock);
	writer.ends = true;
	pthread_cond_signal(&writer.added);
	pthread_mutex_unlock(&writer.lock);
	if (gid_thread_join(writer.thread) == 0) {
		atomic_store(&writer.runs, false);
	}
}

/* --- who logs --------------------------------------------------------------------------------- */

/* By one call, so that lines of several processes stay whole. */
static bool write_at_once(const struct line *line) {
	struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
	return line->size == 0 ||
			(poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0 &&
					write(STDERR_FILENO, line->text, line->size) > 0);
}

static void log_at_once(const struct line *line) {
	pass_on_lost(write_at_once);
	pass_on(line, write_at_once);
}

static void log_later(const struct line *line) {
	pthread_mutex_lock(&writer.lock);
	if (writer.count < LINES) {
		writer.lines[(writer.next + writer.count) % LINES] = *line;
		writer.count++;
		pthread_cond_signal(&writer.added);
	} else {
		atomic_fetch_add(&writer.lost, 1);
	}
	pthread_mutex_unlock(&writer.lock);
}

void log_write(const char *text, size_t size) {
	if (size == 0) {
		return;
	}
	struct line line = line_of(text, size);
	if (atomic_load(&writer.runs)) {
		log_later(&line);
	} else {
		log_at_once(&line);
	}
}
