// SPDX-License-Identifier: MIT
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <gid/gid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wlr/util/log.h>

#include "aux_thread.h"

#define LINE_MAX_BYTES 128 /* of a role, without its name */

struct keeper {
	char *path, *partial;
	char boot[KEPT_BOOT_SIZE];
	pthread_t thread;
	pthread_mutex_t lock; /* for all below */
	pthread_cond_t added;
	bool ends, told;
	size_t size;	     /* of each text */
	int length;	     /* of `next`; 0: nothing is to be written */
	char *next, *writes; /* what is to be written; the thread's own copy */
};

/* --- files ------------------------------------------------------------------------------------ */

/* Returns how much was read, at most `size`, or -errno. */
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

static int write_file(const char *path, const char *partial, const char *text, size_t length) {
	unlink(partial); /* of a process that died, or anybody's link */
	int fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		return -errno;
	}
	ssize_t written = write(fd, text, length);
	int error = written < 0 ? errno : (size_t)written < length ? ENOSPC : 0;
	close(fd);
	if (error == 0 && rename(partial, path) < 0) {
		error = errno;
	}
	if (error != 0) {
		unlink(partial);
	}
	return -error;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* With the lock given up meanwhile. */
static void keeper_write(struct keeper *keeper) {
	size_t length = (size_t)keeper->length;
	char *text = keeper->next;
	keeper->next = keeper->writes;
	keeper->writes = text;
	keeper->length = 0;
	pthread_mutex_unlock(&keeper->lock);
	int ret = write_file(keeper->path, keeper->partial, text, length);
	if (ret < 0 && !keeper->told) {
		keeper->told = true;
		wlr_log(WLR_ERROR, "the state of the roles is not kept: %s: %s", keeper->path,
				strerror(-ret));
	}
	pthread_mutex_lock(&keeper->lock);
}

static void *run(void *data) {
	struct keeper *keeper = data;
	pthread_mutex_lock(&keeper->lock);
	while (!keeper->ends || keeper->length > 0) {
		if (keeper->length > 0) {
			keeper_write(keeper);
		} else {
			pthread_cond_wait(&keeper->added, &keeper->lock);
		}
	}
	pthread_mutex_unlock(&keeper->lock);
	return NULL;
}

void keeper_keep(struct keeper *keeper, const struct kept_role *roles, size_t count) {
	pthread_mutex_lock(&keeper->lock);
	int length = kept_format(roles, count, keeper->boot, keeper->next, keeper->size);
	keeper->length = length > 0 ? length : 0;
	pthread_cond_signal(&keeper->added);
	pthread_mutex_unlock(&keeper->lock);
}

/* --- begin and end ---------------------------------------------------------------------------- */

static void keeper_read(struct keeper *keeper, struct kept_role *roles, size_t count) {
	char *text = malloc(KEPT_SIZE_MAX);
	ssize_t size = text != NULL ? read_file(keeper->path, text, KEPT_SIZE_MAX) : -ENOMEM;
	int ret = size < 0 ? (int)size
			   : kept_parse(roles, count, keeper->boot, gid_clock_now(), text,
					     (size_t)size);
	if (ret == -EINVAL) {
		wlr_log(WLR_INFO, "%s is of another start of the machine, or no state of roles",
				keeper->path);
	} else if (ret < 0 && ret != -ENOENT) {
		wlr_log(WLR_ERROR, "%s: %s", keeper->path, strerror(-ret));
	}
	free(text);
}

static void keeper_free(struct keeper *keeper) {
	free(keeper->next);
	free(keeper->writes);
	free(keeper->partial);
	free(keeper->path);
	free(keeper);
}

struct keeper *keeper_create(const char *path, struct kept_role *roles, size_t count) {
	struct keeper *keeper = calloc(1, sizeof(*keeper));
	if (keeper == NULL) {
		return NULL;
	}
	keeper->size = KEPT_BOOT_SIZE + LINE_MAX_BYTES;
	for (size_t i = 0; i < count; i++) {
		keeper->size += strlen(roles[i].name) + LINE_MAX_BYTES;
	}
	keeper->path = strdup(path);
	keeper->next = malloc(keeper->size);
	keeper->writes = malloc(keeper->size);
	if (asprintf(&keeper->partial, "%s.partial", path) < 0) {
		keeper->partial = NULL;
	}
	if (keeper->path == NULL || keeper->partial == NULL || keeper->next == NULL ||
			keeper->writes == NULL) {
		keeper_free(keeper);
		return NULL;
	}
	/* Without it, as in a bare container, all starts of the machine are one. */
	ssize_t length = read_file(
			"/proc/sys/kernel/random/boot_id", keeper->boot, sizeof(keeper->boot) - 1);
	keeper->boot[length > 0 ? length : 0] = '\0';
	keeper_read(keeper, roles, count);
	aux_thread_init_lock(&keeper->lock);
	pthread_cond_init(&keeper->added, NULL);
	if (aux_thread_start(&keeper->thread, run, keeper) != 0) {
		keeper_free(keeper);
		return NULL;
	}
	return keeper;
}

void keeper_destroy(struct keeper *keeper) {
	if (keeper == NULL) {
		return;
	}
	pthread_mutex_lock(&keeper->lock);
	keeper->ends = true;
	pthread_cond_signal(&keeper->added);
	pthread_mutex_unlock(&keeper->lock);
	/* A thread that a file system holds back still needs it: the process ends soon. */
	if (aux_thread_join(keeper->thread) == 0) {
		keeper_free(keeper);
	}
}
