// SPDX-License-Identifier: MIT
/*
 * What a message costs with nothing but shared memory and a futex each way: written by one
 * process, read by another, which sleeps before it, and answered in the same way. A futex is the
 * cheapest that the kernel has to wake another process, and only one that sleeps is woken.
 */
#include <err.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

/* A way: how many messages went it, and whether who reads them sleeps. A line of its own. */
struct way {
	_Alignas(64) atomic_uint count;
	atomic_uint sleeps;
};

/* What both share. The slots are used in turn, as those of a stream are. */
struct probe_bare_memory {
	struct way there_way, back_way;
	uint32_t bytes;
	uint8_t there[PROBE_BARE_SLOTS][PROBE_BARE_BYTES];
	uint8_t back[PROBE_BARE_SLOTS][PROBE_BARE_BYTES];
};

static void write_to(struct way *way, uint8_t *slot, uint32_t bytes, int pattern) {
	memset(slot, pattern, bytes);
	atomic_fetch_add(&way->count, 1);
	if (atomic_exchange(&way->sleeps, 0) != 0 &&
			syscall(SYS_futex, &way->count, FUTEX_WAKE, 1, NULL, NULL, 0) < 0) {
		err(1, "futex");
	}
}

/* Waits for the message after so many. Returns whether all bytes have the value of the first. */
static bool read_from(struct way *way, unsigned after, const uint8_t *slot, const uint32_t *bytes) {
	while (atomic_load(&way->count) == after) {
		atomic_store(&way->sleeps, 1);
		if (syscall(SYS_futex, &way->count, FUTEX_WAIT, after, NULL, NULL, 0) < 0 &&
				errno != EAGAIN && errno != EINTR) {
			err(1, "futex");
		}
	}
	return memcmp(slot, slot + 1, *bytes - 1) == 0;
}

static void answer(const struct probe_bare *bare, int core) {
	struct probe_bare_memory *memory = bare->memory;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	probe_pin(core);
	for (unsigned count = 0;; count++) {
		unsigned i = count % PROBE_BARE_SLOTS;
		bool is_whole = read_from(
				&memory->there_way, count, memory->there[i], &memory->bytes);
		write_to(&memory->back_way, memory->back[i], memory->bytes, is_whole);
	}
}

void probe_bare_start(struct probe_bare *bare, int core) {
	*bare = (struct probe_bare){
			.memory = mmap(NULL, sizeof(*bare->memory), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0),
	};
	if (bare->memory == MAP_FAILED) {
		err(1, "shared memory");
	}
	bare->pid = fork();
	if (bare->pid < 0) {
		err(1, "fork");
	}
	if (bare->pid == 0) {
		answer(bare, core);
	}
}

uint64_t probe_bare_trip(struct probe_bare *bare, uint32_t bytes, int pattern) {
	struct probe_bare_memory *memory = bare->memory;
	unsigned count = bare->count++, i = count % PROBE_BARE_SLOTS;
	memory->bytes = bytes;
	uint64_t begin = probe_now();
	write_to(&memory->there_way, memory->there[i], bytes, pattern);
	bool is_whole = read_from(&memory->back_way, count, memory->back[i], &memory->bytes);
	if (!is_whole || memory->back[i][0] != 1) {
		errx(1, "a bare message was not what was sent");
	}
	return probe_now() - begin;
}

void probe_bare_end(struct probe_bare *bare) {
	kill(bare->pid, SIGKILL);
	waitpid(bare->pid, NULL, 0);
	munmap(bare->memory, sizeof(*bare->memory));
}
