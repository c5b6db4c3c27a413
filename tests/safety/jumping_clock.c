// SPDX-License-Identifier: MIT
/*
 * To be preloaded: the time of day is ten years too late in one second, and ten years too early in
 * the next. The monotonic clock is as it is.
 */
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define JUMP_S ((time_t)10 * 365 * 86400)

static time_t jump(void) {
	struct timespec now;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return now.tv_sec % 2 == 0 ? JUMP_S : -JUMP_S;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
	int error = (int)syscall(SYS_clock_gettime, clock, now);
	if (error == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
		now->tv_sec += jump();
	}
	return error;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
	struct timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	*now = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
	return 0;
}

time_t time(time_t *at) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (at != NULL) {
		*at = now.tv_sec;
	}
	return now.tv_sec;
}
