// SPDX-License-Identifier: MIT
/*
 * To be preloaded: whoever asks for the time loses the processor for a while just then, as it
 * happens now and then on a busy machine.
 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LATE_NS 200000

int clock_gettime(clockid_t clock, struct timespec *now) {
	const int error = (int)syscall(SYS_clock_gettime, clock, now);
	if (clock == CLOCK_MONOTONIC) {
		syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = LATE_NS}, NULL);
	}
	return error;
}
