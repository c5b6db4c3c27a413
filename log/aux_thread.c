// SPDX-License-Identifier: MIT
#include "aux_thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#define PATIENCE_NS 200000000
#define STACK_BYTES ((size_t)256 << 10) /* all of it may be locked in memory */

size_t aux_thread_stack(void) {
	return STACK_BYTES;
}

int aux_thread_start(pthread_t *thread, void *(*run)(void *), void *data) {
	pthread_attr_t attributes;
	struct sched_param ordinary = {0};
	sigset_t all, old;
	int error = pthread_attr_init(&attributes);
	if (error != 0) {
		return error;
	}
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &ordinary);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(thread, &attributes, run, data);
	if (error == EPERM) { /* our own class is below the ordinary one: SCHED_IDLE */
		pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED);
		error = pthread_create(thread, &attributes, run, data);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

void aux_thread_init_lock(pthread_mutex_t *lock) {
	pthread_mutexattr_t inherit;
	pthread_mutexattr_init(&inherit);
	pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &inherit);
	pthread_mutexattr_destroy(&inherit);
}

int aux_thread_join(pthread_t thread) {
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += PATIENCE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until);
}

int slice_ask(uint64_t ns) {
	struct sched_attr attr = {.size = sizeof(attr)};
	if (sched_getattr(0, &attr, sizeof(attr), 0) < 0) {
		return -errno;
	}
	if (attr.sched_policy != SCHED_OTHER && attr.sched_policy != SCHED_BATCH) {
		return 0;
	}
	attr.sched_flags |= SCHED_FLAG_RESET_ON_FORK;
	attr.sched_runtime = ns;
	return sched_setattr(0, &attr, 0) < 0 ? -errno : 0;
}
