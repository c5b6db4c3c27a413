// SPDX-License-Identifier: MIT
#include "futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

bool gid_futex_is_there(void) {
	/* Waiting for no word at all is an error, where waiting is known. */
	return syscall(SYS_futex_waitv, NULL, 0, 0, NULL, CLOCK_MONOTONIC) < 0 && errno == EINVAL;
}

void gid_futex_wake_shared(const uint32_t *word) {
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void gid_futex_wake_private(const uint32_t *word) {
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

int gid_futex_wait(const uint32_t *shared, uint32_t shared_value, const uint32_t *own,
	uint32_t own_value, uint64_t deadline) {
	struct futex_waitv words[] = {
		{.val = shared_value, .uaddr = (uintptr_t)shared, .flags = FUTEX_32},
		{
			.val = own_value,
			.uaddr = (uintptr_t)own,
			.flags = FUTEX_32 | FUTEX_PRIVATE_FLAG,
		},
	};
	struct timespec until = {(time_t)(deadline / NS_PER_S), (long)(deadline % NS_PER_S)};
	long ret = syscall(SYS_futex_waitv, words, 2, 0, &until, CLOCK_MONOTONIC);
	return ret < 0 && errno == ETIMEDOUT ? -ETIMEDOUT : 0;
}
