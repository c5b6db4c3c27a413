// SPDX-License-Identifier: MIT
/* What no transport between two cores can do without: a thread that sleeps until it is woken. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "handoff.h"

static void futex(uint32_t *word, int operation, uint32_t value) {
	(void)syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void *sleeper_run(void *data) {
	struct sleeper *sleeper = data;
	handoff_pin(sleeper->cpu);
	uint32_t woken = 0;
	while (!__atomic_load_n(&sleeper->ended, __ATOMIC_ACQUIRE)) {
		futex(sleeper->word, FUTEX_WAIT, woken);
		woken = __atomic_load_n(sleeper->word, __ATOMIC_ACQUIRE);
	}
	return NULL;
}

bool sleeper_start(struct sleeper *sleeper, int cpu) {
	/* In shared memory, as between processes: the kernel then looks for the page. */
	void *page = mmap(NULL, HANDOFF_PAGE, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (page == MAP_FAILED) {
		fprintf(stderr, "a page of shared memory: %s\n", strerror(errno));
		return false;
	}
	*sleeper = (struct sleeper){.word = page, .cpu = cpu};
	int error = pthread_create(&sleeper->thread, NULL, sleeper_run, sleeper);
	if (error != 0) {
		fprintf(stderr, "a thread: %s\n", strerror(error));
		munmap(page, HANDOFF_PAGE);
	}
	return error == 0;
}

void sleeper_wake(struct sleeper *sleeper) {
	__atomic_add_fetch(sleeper->word, 1, __ATOMIC_SEQ_CST);
	futex(sleeper->word, FUTEX_WAKE, INT_MAX);
}

void sleeper_end(struct sleeper *sleeper) {
	__atomic_store_n(&sleeper->ended, true, __ATOMIC_RELEASE);
	sleeper_wake(sleeper);
	pthread_join(sleeper->thread, NULL);
	munmap(sleeper->word, HANDOFF_PAGE);
}
