// SPDX-License-Identifier: MIT
/*
 * What a message costs with nothing but shared memory and an eventfd each way: written by one
 * process, read by another, which sleeps before it, and answered in the same way.
 */
#include <err.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

/* What both share. The slots are used in turn, as those of a stream are. */
struct probe_bare_memory {
	uint32_t bytes;
	uint8_t there[PROBE_BARE_SLOTS][PROBE_BARE_BYTES];
	uint8_t back[PROBE_BARE_SLOTS][PROBE_BARE_BYTES];
};

static void write_to(int fd, uint8_t *slot, uint32_t bytes, int pattern) {
	memset(slot, pattern, bytes);
	if (eventfd_write(fd, 1) < 0) {
		err(1, "eventfd");
	}
}

/* Whether all bytes have the value of the first. */
static bool read_from(int fd, const uint8_t *slot, const uint32_t *bytes) {
	eventfd_t value;
	if (eventfd_read(fd, &value) < 0) {
		err(1, "eventfd");
	}
	return memcmp(slot, slot + 1, *bytes - 1) == 0;
}

static void answer(const struct probe_bare *bare, int core) {
	struct probe_bare_memory *memory = bare->memory;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	probe_pin(core);
	for (uint32_t i = 0;; i = (i + 1) % PROBE_BARE_SLOTS) {
		bool is_whole = read_from(bare->there, memory->there[i], &memory->bytes);
		write_to(bare->back, memory->back[i], memory->bytes, is_whole);
	}
}

void probe_bare_start(struct probe_bare *bare, int core) {
	*bare = (struct probe_bare){
			.memory = mmap(NULL, sizeof(*bare->memory), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0),
			.there = eventfd(0, EFD_CLOEXEC),
			.back = eventfd(0, EFD_CLOEXEC),
	};
	if (bare->memory == MAP_FAILED || bare->there < 0 || bare->back < 0) {
		err(1, "shared memory and eventfds");
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
	uint32_t i = bare->next;
	bare->next = (i + 1) % PROBE_BARE_SLOTS;
	memory->bytes = bytes;
	uint64_t begin = probe_now();
	write_to(bare->there, memory->there[i], bytes, pattern);
	if (!read_from(bare->back, memory->back[i], &memory->bytes) || memory->back[i][0] != 1) {
		errx(1, "a bare message was not what was sent");
	}
	return probe_now() - begin;
}

void probe_bare_end(struct probe_bare *bare) {
	kill(bare->pid, SIGKILL);
	waitpid(bare->pid, NULL, 0);
	close(bare->there);
	close(bare->back);
	munmap(bare->memory, sizeof(*bare->memory));
}
