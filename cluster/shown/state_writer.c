// SPDX-License-Identifier: MIT
#include "state_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <gid/gid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wlr/util/log.h>

#include "thread.h"

#define LINE_MAX_BYTES 128 /* for a role, without its name */

struct state_writer {
	char *path, *partial;
	char boot[SAVED_STATE_BOOT_SIZE];
	pthread_t thread;
	pthread_mutex_t lock; /* protects all fields below */
	pthread_cond_t added;
	bool ends, told;
	/*
	 * The current file, and the one that replaces it next; -1: none. They are exchanged, so
	 * that the write each second opens nothing.
	 */
	int file, spare;
	size_t size;	     /* of each text buffer */
	int length;	     /* of `next`; 0: nothing to write */
	char *next, *writes; /* the next text; the thread's own copy */
};

/* --- files ------------------------------------------------------------------------------------ */

/* Returns the number of bytes read, at most `size`, or -errno. */
static ssize_t read_file(const char *path, char *data, size_t size) {
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		return -errno;
	}
	size_t length = 0;
	ssize_t got = 1;
	while (got > 0 && length < size) {
		got = read(fd, data + length, size - length);
		length += got > 0 ? (size_t)got : 0;
	}
	int error = errno;
	close(fd);
	return got < 0 ? -error : (ssize_t)length;
}

static void close_file(int *fd) {
	if (*fd >= 0) {
		close(*fd);
	}
	*fd = -1;
}

/* Another process may have removed or replaced the file: then it has no link. */
static bool has_name(int fd) {
	struct stat status;
	return fd >= 0 && fstat(fd, &status) == 0 && status.st_nlink == 1;
}

/* 0 or -errno. */
static int open_spare(struct state_writer *writer) {
	if (has_name(writer->spare)) {
		return 0;
	}
	close_file(&writer->spare);
	unlink(writer->partial); /* left by a dead process, or someone's symlink */
	writer->spare = open(writer->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return writer->spare < 0 ? -errno : 0;
}

static int write_text(int fd, const char *text, size_t length) {
	ssize_t written = pwrite(fd, text, length, 0);
	if (written < 0 || ftruncate(fd, (off_t)length) < 0) {
		return -errno;
	}
	return (size_t)written < length ? -ENOSPC : 0;
}

/*
 * Whoever opens the file sees all of the old text or all of the new one, and can read it until the
 * next but one is written.
 */
static int put_in_place(struct state_writer *writer) {
	int file = writer->file;
	if (has_name(file) &&
			renameat2(AT_FDCWD, writer->partial, AT_FDCWD, writer->path,
					RENAME_EXCHANGE) == 0) {
		writer->file = writer->spare;
		writer->spare = file;
		return 0;
	}
	if (rename(writer->partial, writer->path) < 0) {
		return -errno;
	}
	close_file(&writer->file);
	writer->file = writer->spare;
	writer->spare = -1;
	return 0;
}

static void drop_spare(struct state_writer *writer) {
	if (has_name(writer->spare)) {
		unlink(writer->partial);
	}
	close_file(&writer->spare);
}

static int write_file(struct state_writer *writer, const char *text, size_t length) {
	int error = open_spare(writer);
	if (error == 0) {
		error = write_text(writer->spare, text, length);
	}
	if (error == 0) {
		error = put_in_place(writer);
	}
	if (error < 0) {
		drop_spare(writer);
		return error;
	}
	return open_spare(writer); /* for the next write, when the domain may be sealed */
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Called with the lock, and unlocks it while it writes. */
static void state_writer_work(struct state_writer *writer) {
	size_t length = (size_t)writer->length;
	char *text = writer->next;
	writer->next = writer->writes;
	writer->writes = text;
	writer->length = 0;
	pthread_mutex_unlock(&writer->lock);
	int ret = write_file(writer, text, length);
	if (ret < 0 && !writer->told) {
		writer->told = true;
		wlr_log(WLR_ERROR, "the state of the roles is not kept: %s: %s", writer->path,
				strerror(-ret));
	}
	pthread_mutex_lock(&writer->lock);
}

static void *run(void *data) {
	struct state_writer *writer = data;
	pthread_mutex_lock(&writer->lock);
	while (!writer->ends || writer->length > 0) {
		if (writer->length > 0) {
			state_writer_work(writer);
		} else {
			pthread_cond_wait(&writer->added, &writer->lock);
		}
	}
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

void state_writer_write(struct state_writer *writer, const struct saved_role *roles, size_t count) {
	pthread_mutex_lock(&writer->lock);
	int length = saved_state_format(roles, count, writer->boot, writer->next, writer->size);
	writer->length = length > 0 ? length : 0;
	pthread_cond_signal(&writer->added);
	pthread_mutex_unlock(&writer->lock);
}

/* --- begin and end ---------------------------------------------------------------------------- */

static void state_writer_read(struct state_writer *writer, struct saved_role *roles, size_t count) {
	char *text = malloc(SAVED_STATE_SIZE_MAX);
	ssize_t size = text != NULL ? read_file(writer->path, text, SAVED_STATE_SIZE_MAX) : -ENOMEM;
	int ret = size < 0 ? (int)size
			   : saved_state_parse(roles, count, writer->boot, gid_clock_now(), text,
					     (size_t)size);
	if (ret == -EINVAL) {
		wlr_log(WLR_INFO,
				"%s is ignored: written before the last reboot, or not a state file",
				writer->path);
	} else if (ret < 0 && ret != -ENOENT) {
		wlr_log(WLR_ERROR, "%s: %s", writer->path, strerror(-ret));
	}
	free(text);
}

static void state_writer_free(struct state_writer *writer) {
	drop_spare(writer);
	close_file(&writer->file);
	free(writer->next);
	free(writer->writes);
	free(writer->partial);
	free(writer->path);
	free(writer);
}

struct state_writer *state_writer_create(const char *path, struct saved_role *roles, size_t count) {
	struct state_writer *writer = calloc(1, sizeof(*writer));
	if (writer == NULL) {
		return NULL;
	}
	writer->file = writer->spare = -1;
	writer->size = SAVED_STATE_BOOT_SIZE + LINE_MAX_BYTES;
	for (size_t i = 0; i < count; i++) {
		writer->size += strlen(roles[i].name) + LINE_MAX_BYTES;
	}
	writer->path = strdup(path);
	writer->next = malloc(writer->size);
	writer->writes = malloc(writer->size);
	if (asprintf(&writer->partial, "%s.partial", path) < 0) {
		writer->partial = NULL;
	}
	if (writer->path == NULL || writer->partial == NULL || writer->next == NULL ||
			writer->writes == NULL) {
		state_writer_free(writer);
		return NULL;
	}
	/* Without boot_id, as in a bare container, state outlives a reboot. */
	ssize_t length = read_file(
			"/proc/sys/kernel/random/boot_id", writer->boot, sizeof(writer->boot) - 1);
	writer->boot[length > 0 ? length : 0] = '\0';
	state_writer_read(writer, roles, count);
	gid_thread_init_lock(&writer->lock);
	pthread_cond_init(&writer->added, NULL);
	if (gid_thread_start(&writer->thread, GID_THREAD_STACK, run, writer) != 0) {
		state_writer_free(writer);
		return NULL;
	}
	return writer;
}

void state_writer_destroy(struct state_writer *writer) {
	if (writer == NULL) {
		return;
	}
	pthread_mutex_lock(&writer->lock);
	writer->ends = true;
	pthread_cond_signal(&writer->added);
	pthread_mutex_unlock(&writer->lock);
	/*
	 * A file system may block the thread, which still uses the memory. The process ends soon.
	 */
	if (gid_thread_join(writer->thread) == 0) {
		state_writer_free(writer);
	}
}
