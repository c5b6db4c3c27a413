// SPDX-License-Identifier: MIT
/** futex(2) over words in memory that domains of one kernel share. */
#ifndef GID_FUTEX_H
#define GID_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this kernel can wait for two words at once (Linux 5.16), and lets us. */
bool gid_futex_is_there(void);

/* Wakes the thread that waits for the word: one of any process, or of ours alone. */
void gid_futex_wake_shared(const uint32_t *word);
void gid_futex_wake_private(const uint32_t *word);

/*
 * Sleeps until someone wakes us by one of the words, or until `deadline` (CLOCK_MONOTONIC, ns).
 * Returns at once where a word has not the value that is expected, or where `shared` is not mapped
 * any more. It may be mapped read-only. Returns 0, or -ETIMEDOUT at the deadline.
 */
int gid_futex_wait(const uint32_t *shared, uint32_t shared_value, const uint32_t *own,
	uint32_t own_value, uint64_t deadline);

#endif
