// SPDX-License-Identifier: MIT
#include "closer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HELPERS_MAX 16u
#define IDLE_S 1
#define STACK_SIZE (256u << 10)
#define SPARES 64u

struct waiting {
	struct waiting *next;
	int fd;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock; /* held for moments: whoever holds it has the caller's priority */
static pthread_cond_t news;
static struct waiting *first, **last = &first;
/* For descriptors that come while there is no memory. Free where `fd` is negative. */
static struct waiting spares[SPARES];
static uint32_t queued, pending, helpers, idle;

/* --- one lock, in a child of fork(), too ------------------------------------------------------ */

static void init_lock(void) {
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	pthread_cond_init(&news, NULL);
}

static void before_fork(void) {
	pthread_mutex_lock(&lock);
}

static void after_fork(void) {
	pthread_mutex_unlock(&lock);
}

/* A child has no helpers. What they were closing it has, too, until it ends or runs a program. */
static void in_child(void) {
	init_lock();
	helpers = idle = 0;
	pending = queued;
}

static void init(void) {
	init_lock();
	for (uint32_t i = 0; i < SPARES; i++) {
		spares[i].fd = -1;
	}
	pthread_atfork(before_fork, after_fork, in_child);
}

/* --- helpers ---------------------------------------------------------------------------------- */

/* A file whose close is a matter of this kernel alone. Asks no file system. */
static bool is_memory(int fd) {
	return fcntl(fd, F_GET_SEALS) >= 0;
}

/* So that its last close does not wait for what is still to be sent. */
static void forget_linger(int fd) {
	struct linger off = {0};
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
}

/* NULL: there is neither memory nor a spare. Called with the lock held, as the next. */
static struct waiting *waiting_create(int fd) {
	struct waiting *waiting = malloc(sizeof(*waiting));
	for (uint32_t i = 0; waiting == NULL && i < SPARES; i++) {
		waiting = spares[i].fd < 0 ? &spares[i] : NULL;
	}
	if (waiting != NULL) {
		*waiting = (struct waiting){.fd = fd};
	}
	return waiting;
}

static void waiting_destroy(struct waiting *waiting) {
	if (waiting >= spares && waiting < spares + SPARES) {
		waiting->fd = -1;
	} else {
		free(waiting);
	}
}

static struct waiting *take(void) {
	struct waiting *taken = first;
	if (taken != NULL) {
		queued--;
		first = taken->next;
		if (first == NULL) {
			last = &first;
		}
	}
	return taken;
}

/* Waits for more, but not for long. Called and returns with the lock held. */
static bool wait_for_more(void) {
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += IDLE_S;
	idle++;
	int error = 0;
	while (first == NULL && error == 0) {
		error = pthread_cond_timedwait(&news, &lock, &until);
	}
	idle--;
	return first != NULL;
}

static void *help(void *unused) {
	pthread_mutex_lock(&lock);
	do {
		struct waiting *taken;
		while ((taken = take()) != NULL) {
			pthread_mutex_unlock(&lock);
			close(taken->fd);
			pthread_mutex_lock(&lock);
			waiting_destroy(taken);
			pending--;
		}
	} while (wait_for_more());
	helpers--;
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* A thread that never competes with a real-time one that may be calling. Returns 0 or an error. */
static int start_helper(void) {
	pthread_attr_t attributes;
	struct sched_param ordinary = {0};
	sigset_t all, before;
	pthread_t helper;
	int error = pthread_attr_init(&attributes);
	if (error != 0) {
		return error;
	}
	size_t stack = STACK_SIZE > (size_t)PTHREAD_STACK_MIN ? STACK_SIZE
							      : (size_t)PTHREAD_STACK_MIN;
	pthread_attr_setstacksize(&attributes, stack);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &ordinary);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&helper, &attributes, help, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

/* --- closing ---------------------------------------------------------------------------------- */

void gid_closer_close(int fd) {
	if (fd < 0) {
		return;
	}
	if (is_memory(fd)) {
		close(fd);
		return;
	}
	forget_linger(fd);
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	struct waiting *waiting = waiting_create(fd);
	if (waiting == NULL) {
		/* Better one descriptor that stays open than a display that stands still. */
		pthread_mutex_unlock(&lock);
		return;
	}
	*last = waiting;
	last = &waiting->next;
	queued++;
	pending++;
	if (queued > idle && helpers < HELPERS_MAX && start_helper() == 0) {
		helpers++;
	}
	pthread_cond_signal(&news);
	pthread_mutex_unlock(&lock);
}

void gid_closer_hang_up(int socket) {
	if (socket >= 0) {
		shutdown(socket, SHUT_RDWR);
		gid_closer_close(socket);
	}
}

uint32_t gid_closer_pending(void) {
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	uint32_t count = pending;
	pthread_mutex_unlock(&lock);
	return count;
}
