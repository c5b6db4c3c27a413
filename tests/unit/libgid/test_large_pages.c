// SPDX-License-Identifier: MIT
/* Memory of large pages: who gets it, what its readers have of it, and that all goes without. */
#include "large_pages.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"
#include "tap.h"

#define TRIES 20 /* a busy machine may be slow once */
#define LONG_NS UINT64_C(1000000000)

static size_t large;
static bool is_slow; /* this machine: between two looks at the clock */

/* Of libgid's own code, as it is linked here. */
uint64_t __real_gid_clock_now(void);
uint64_t __wrap_gid_clock_now(void);

uint64_t __wrap_gid_clock_now(void) {
	static uint64_t more;
	more += is_slow ? LONG_NS : 0;
	return __real_gid_clock_now() + more;
}

/* As /proc tells of the mapping that begins there: bytes that a reader finds as large pages. */
static size_t large_bytes(const void *data) {
	char line[512], wanted[32];
	unsigned long kb = 0;
	bool here = false, found = false;
	snprintf(wanted, sizeof(wanted), "%lx-", (unsigned long)(uintptr_t)data);
	FILE *file = fopen("/proc/self/smaps", "re");
	while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
		here = here || strncmp(line, wanted, strlen(wanted)) == 0;
		found = here && sscanf(line, "ShmemPmdMapped: %lu", &kb) == 1;
	}
	if (file != NULL) {
		fclose(file);
	}
	return kb * 1024;
}

/* A sanitizer has pages of its own for each look at others: it tells nothing of ours. */
static long faults(void) {
	struct rusage usage = {0};
#ifndef __SANITIZE_ADDRESS__
	getrusage(RUSAGE_SELF, &usage);
#endif
	return usage.ru_minflt;
}

static bool is_all(const char *data, size_t size, char value) {
	return data[0] == value && memcmp(data, data + 1, size - 1) == 0;
}

/* Whether this kernel has large pages for who asks so: not by what is tested here. */
static bool kernel_has_them(void) {
	struct gid_memory_own memory;
	if (gid_memory_create(&memory, "test", 2 * large) < 0) {
		return false;
	}
	char *data = memory.data;
	data += -(uintptr_t)data % large;
	bool has = madvise(data, large, 25 /* MADV_COLLAPSE */) == 0;
	gid_memory_finish(&memory);
	return has;
}

static size_t make(struct gid_memory_own *memory, size_t size) {
	size_t got = 0;
	for (int i = 0; i < TRIES && got < size / large * large; i++) {
		if (i > 0) {
			gid_memory_finish(memory);
		}
		if (gid_memory_create(memory, "test", size) < 0) {
			return 0;
		}
		got = large_bytes(memory->data);
	}
	return got;
}

static void test_sizes(void) {
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	tap_ok(page != 4096 || large == (size_t)2 << 20, "a large page has %zu bytes", large);
	tap_ok(gid_large_round(4 * large - large / 16) == 4 * large, "a little more is rounded up");
	tap_ok(gid_large_round(3 * large + page) == 3 * large + page &&
					gid_large_round(page) == page && gid_large_round(0) == 0,
			"much more is not");
	tap_ok(gid_large_round(UINT64_MAX - page + 1) == UINT64_MAX - page + 1,
			"what would overflow stays as it is");
}

static void test_places(void) {
	int fd = memfd_create("test", MFD_CLOEXEC);
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 2 * large;
	bool in_place = ftruncate(fd, (off_t)(4 * large)) == 0;
	for (size_t offset = 0; in_place && offset <= 2 * large; offset += large / 8 + page) {
		const size_t at = offset & ~(page - 1);
		char *data = gid_large_map(size + 5, PROT_READ, MAP_SHARED, fd, at);
		in_place = data != MAP_FAILED && ((uintptr_t)data - at) % large == 0 &&
				mincore(data + size, page, &(unsigned char){0}) == 0 &&
				mincore(data + size + page, page, &(unsigned char){0}) < 0;
		munmap(data, size + page);
	}
	tap_ok(in_place, "mappings lie as in the file, with nothing left behind them");
	tap_ok(gid_large_map(large, PROT_READ, MAP_SHARED, -1, 0) == MAP_FAILED && errno == EBADF,
			"what cannot be mapped says why");
	close(fd);
}

static void test_owner(struct gid_memory_own *memory) {
	const size_t got = make(memory, 4 * large);
	tap_ok(got == 4 * large, "%zu of 4 large pages", got / large);
	tap_ok(is_all(memory->data, memory->size, 0), "they are zeroed");
	const long before = faults();
	memset(memory->data, 7, memory->size);
	tap_ok(faults() == before, "to write them faults %ld times: never", faults() - before);
	tap_ok(gid_memory_check(memory->fd, memory->size, 1) == 0 &&
					gid_memory_check_present(memory->fd) == 0,
			"they are sealed and there, as others are");
}

static void test_reader(const struct gid_memory_own *memory) {
	pid_t child = fork();
	if (child == 0) {
		const void *view = NULL;
		munmap(memory->data, memory->size);
		bool good = gid_memory_map_untouched(memory->fd, 0, memory->size, &view) == 0;
		const long before = faults();
		gid_memory_touch(view, memory->size);
		good = good && faults() - before <= 8 && is_all(view, memory->size, 7) &&
				large_bytes(view) == memory->size &&
				gid_memory_replace(view, memory->size, 1, -1, 0) == 0 &&
				is_all(view, memory->size, 0);
		_exit(good ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	tap_ok(status == 0, "another process has them by a fault for each, and loses them whole");
	const void *part = NULL;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 2 * large;
	tap_ok(gid_memory_map_untouched(memory->fd, page, size, &part) == 0,
			"a part of them is mapped");
	gid_memory_touch(part, size);
	tap_ok(large_bytes(part) == large && is_all(part, size, 7), "as large as it can be");
	gid_memory_unmap(part, size);
}

static void test_moved(struct gid_memory_own *memory) {
	struct gid_memory_own into;
	void *data = memory->data;
	make(&into, memory->size);
	tap_ok(gid_memory_move(memory, &into) == 0 && into.data == data &&
					is_all(into.data, into.size, 7),
			"their content moves into others, at the same address");
	gid_memory_finish(memory);
	tap_ok(is_all(into.data, into.size, 7), "which stays when they go");
	gid_memory_finish(&into);
}

/* The first large page takes too long, and so is the only one. */
static void test_slow(void) {
	struct gid_memory_own memory;
	is_slow = true;
	int error = gid_memory_create(&memory, "test", 4 * large);
	is_slow = false;
	if (!tap_ok(error == 0, "a slow machine makes memory")) {
		return;
	}
	const size_t got = large_bytes(memory.data);
	const long before = faults();
	memset(memory.data, 7, memory.size);
	tap_ok(got <= large && faults() == before,
			"which is all there: %zu of 4 large pages, but not all of them",
			got / large);
	gid_memory_finish(&memory);
}

/* With what is there in any case: all pages, zeroed. */
static bool is_made_small(void) {
	struct gid_memory_own memory;
	if (gid_memory_create(&memory, "test", 4 * large) < 0 || large_bytes(memory.data) != 0) {
		return false;
	}
	const long before = faults();
	memset(memory.data, 0, memory.size);
	bool good = faults() == before && gid_memory_check_present(memory.fd) == 0;
	gid_memory_finish(&memory);
	return good;
}

static int run_small(bool realtime) {
	pid_t child = fork();
	if (child == 0) {
		const struct sched_param param = {.sched_priority = 1};
		if (realtime ? sched_setscheduler(0, SCHED_FIFO, &param) < 0
			     : prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) < 0) {
			_exit(2);
		}
		_exit(is_made_small() ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static void test_without(void) {
	tap_ok(run_small(false) == 0, "where there are none memory is made without");
}

static void test_realtime(void) {
	const int status = run_small(true);
	tap_ok(status != 1, "nor does a real-time thread wait for one%s",
			status == 0 ? "" : " # SKIP there is no such thread here");
}

int main(void) {
	struct gid_memory_own memory;
	large = gid_large_page_size();
	test_sizes();
	test_places();
	test_without();
	test_realtime();
	if (kernel_has_them()) {
		test_owner(&memory);
		test_reader(&memory);
		test_moved(&memory);
		test_slow();
	} else {
		tap_ok(true, "large pages # SKIP this kernel has none");
	}
	return tap_finish();
}
