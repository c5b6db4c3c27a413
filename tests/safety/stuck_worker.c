// SPDX-License-Identifier: MIT
/*
 * To be preloaded to gid-cluster: while the file STUCK_WORKER is there, whoever begins to read a
 * picture waits for good, as for memory that a device keeps locked. Workers are known by what they
 * ask first: how long they have had a processor.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
	const char *path = getenv("STUCK_WORKER");
	bool is_worker = clock == CLOCK_THREAD_CPUTIME_ID && syscall(SYS_gettid) != getpid();
	while (is_worker && path != NULL && access(path, F_OK) == 0) {
		pause();
	}
	return (int)syscall(SYS_clock_gettime, clock, time);
}
