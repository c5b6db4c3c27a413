// SPDX-License-Identifier: MIT
#include "log_thread.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aux_thread.h"

#define LINES 256u
#define LINE_MAX_BYTES 512

/* Of the process, as standard error is. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t added;
	pthread_t thread;
	bool runs, ends;
	struct {
		size_t length;
		char text[LINE_MAX_BYTES];
	} lines[LINES]; /* a ring */
	unsigned next, count;
	unsigned long long left_out;
} queue = {.added = PTHREAD_COND_INITIALIZER};

static void write_line(const char *text, size_t length) {
	while (length > 0) {
		ssize_t written = write(STDERR_FILENO, text, length);
		if (written < 0 && errno != EINTR) {
			return; /* nobody reads it any more */
		}
		text += written > 0 ? written : 0;
		length -= written > 0 ? (size_t)written : 0;
	}
}

/* One line, with the lock given up while it is written. */
static void write_next(void) {
	char text[LINE_MAX_BYTES];
	size_t length = queue.lines[queue.next].length;
	memcpy(text, queue.lines[queue.next].text, length);
	queue.next = (queue.next + 1) % LINES;
	queue.count--;
	unsigned long long left_out = queue.left_out;
	queue.left_out = 0;
	pthread_mutex_unlock(&queue.lock);
	write_line(text, length);
	if (left_out > 0) {
		int more = snprintf(text, sizeof(text),
				"%llu lines were left out: they came faster than they were read\n",
				left_out);
		write_line(text, (size_t)more);
	}
	pthread_mutex_lock(&queue.lock);
}

static void *run(void *data) {
	pthread_mutex_lock(&queue.lock);
	while (!queue.ends || queue.count > 0) {
		if (queue.count > 0) {
			write_next();
		} else {
			pthread_cond_wait(&queue.added, &queue.lock);
		}
	}
	pthread_mutex_unlock(&queue.lock);
	return NULL;
}

/* A seat of libseat's own is a child that logs as we do, and has no thread to write for it. */
static void in_child(void) {
	queue.runs = false;
}

void log_thread_start(void) {
	aux_thread_init_lock(&queue.lock);
	queue.runs = aux_thread_start(&queue.thread, run, NULL) == 0;
	pthread_atfork(NULL, NULL, in_child);
}

void log_thread_stop(void) {
	if (!queue.runs) {
		return;
	}
	pthread_mutex_lock(&queue.lock);
	queue.ends = true;
	pthread_cond_signal(&queue.added);
	pthread_mutex_unlock(&queue.lock);
	if (aux_thread_join(queue.thread) == 0) {
		queue.runs = false;
	}
}

static size_t format_line(char *line, const char *label, const char *format, va_list args) {
	struct timespec now;
	struct tm time;
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &time);
	int length = snprintf(line, LINE_MAX_BYTES, "%02d:%02d:%02d.%03ld %s", time.tm_hour,
			time.tm_min, time.tm_sec, now.tv_nsec / 1000000, label);
	int text = vsnprintf(line + length, LINE_MAX_BYTES - 1 - (size_t)length, format, args);
	int room = LINE_MAX_BYTES - 2 - length;
	length += text < 0 ? 0 : text < room ? text : room;
	line[length] = '\n';
	return (size_t)length + 1;
}

void log_thread_add(const char *label, const char *format, va_list args) {
	char line[LINE_MAX_BYTES];
	size_t length = format_line(line, label, format, args);
	if (!queue.runs) {
		write_line(line, length);
		return;
	}
	pthread_mutex_lock(&queue.lock);
	if (queue.count < LINES) {
		unsigned at = (queue.next + queue.count) % LINES;
		memcpy(queue.lines[at].text, line, length);
		queue.lines[at].length = length;
		queue.count++;
		pthread_cond_signal(&queue.added);
	} else {
		queue.left_out++;
	}
	pthread_mutex_unlock(&queue.lock);
}
