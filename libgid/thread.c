// SPDX-License-Identifier: MIT
#include "thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#define PATIENCE_NS 200000000

static int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *data),
		void *data) {
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(thread, attributes, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

int gid_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *data), void *data) {
	const struct sched_param ordinary = {0};
	pthread_attr_t attributes;
	pthread_t nobodys;
	int error = -pthread_attr_init(&attributes);
	if (error != 0) {
		return error;
	}
	if (stack != GID_THREAD_STACK_USUAL) {
		pthread_attr_setstacksize(&attributes, stack);
	}
	if (thread == NULL) {
		thread = &nobodys;
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	}
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &ordinary);
	error = create(thread, &attributes, run, data);
	if (error == -EPERM) { /* our own class is below the ordinary one: SCHED_IDLE */
		pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED);
		error = create(thread, &attributes, run, data);
	}
	pthread_attr_destroy(&attributes);
	return error;
}

int gid_thread_join(pthread_t thread) {
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += PATIENCE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return -pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until);
}

void gid_thread_init_lock(pthread_mutex_t *lock) {
	pthread_mutexattr_t inherit;
	pthread_mutexattr_init(&inherit);
	pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &inherit);
	pthread_mutexattr_destroy(&inherit);
}
