// SPDX-License-Identifier: MIT
/*
 * An owner that dies takes its slabs with it, however large and however many: the reader's own
 * thread takes hardly a page of them out of its page tables, nor frees any, for that takes longer
 * than a frame. All calls that unmap and close come by here, and are judged by the pages that they
 * found.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "closer.h"
#include "connection.h"
#include "descriptors.h"
#include "large_pages.h"
#include "map_call.h"
#include "memory.h"
#include "pages.h"
#include "slab_pair.h"

#define SLOTS 3u
#define MUCH                                                                                       \
	((size_t)5 << (SIZE_MAX > UINT32_MAX ? 30 : 28)) /* over 32 bits, where there is that */
#define QUICK_PAGES (GID_CLOSER_QUICK / 4096)
#define RESTING 64u /* as import.c has at most */
#define SMALL_OF ((off_t)8 << 20)
#define BUDGET_US 100000u
#define SLOW_NS UINT64_C(5000000)
#define SLOW_COUNT 60u /* three times the budget */

/* --- calls ------------------------------------------------------------------------------------ */

static int pagemap = -1;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* shut: helpers wait */
static size_t ours_most, theirs_most;			 /* pages of one call */
static size_t ours_all, theirs_all;			 /* of all */
static size_t closed_most; /* bytes of a file whose last descriptor here was ours to close */
static int theirs_class, theirs_priority; /* of the helper, when it last unmapped */
static bool theirs_slow;		  /* it computes for so long each time */
static volatile sig_atomic_t over_budget;

static bool is_ours(void) {
	return syscall(SYS_gettid) == getpid();
}

static void judge(const void *data, size_t size) {
	size_t pages = count_pages(pagemap, data, size);
	size_t *most = is_ours() ? &ours_most : &theirs_most;
	*most = pages > *most ? pages : *most;
	*(is_ours() ? &ours_all : &theirs_all) += pages;
}

/*
 * Of a large page that is unmapped in part the rest goes from the page tables at the same time. It
 * is one entry there: it counts with all that were unmapped, and not with what one call took.
 */
static int unmap(void *data, size_t size) {
	const uintptr_t large = gid_large_page_size();
	const uintptr_t from = (uintptr_t)data & ~(large - 1);
	const uintptr_t end = ((uintptr_t)data + size + large - 1) & ~(large - 1);
	size_t *all = is_ours() ? &ours_all : &theirs_all;
	const size_t within = count_pages(pagemap, data, size);
	const size_t before = count_pages(pagemap, (void *)from, end - from);
	judge(data, size);
	int ret = (int)syscall(SYS_munmap, data, size);
	const size_t after = count_pages(pagemap, (void *)from, end - from);
	*all += before > within + after ? before - within - after : 0;
	return ret;
}

int munmap(void *data, size_t size) {
	if (!is_ours()) {
		struct sched_param param = {0};
		pthread_mutex_lock(&gate);
		theirs_class = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
		sched_getparam(0, &param);
		theirs_priority = param.sched_priority;
		pthread_mutex_unlock(&gate);
		uint64_t end = gid_clock_now() + SLOW_NS;
		while (theirs_slow && gid_clock_now() < end) {
		}
	}
	return unmap(data, size);
}

void *mmap(void *data, size_t size, int protection, int flags, int fd, off_t offset) {
	if ((flags & MAP_FIXED) != 0) {
		judge(data, size);
	}
	return map_call(data, size, protection, flags, fd, offset);
}

/* With its last descriptor a file is freed, where nobody else has one. */
static void judge_closed(int fd) {
	struct stat status;
	if (is_ours() && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
			count_descriptors(&status) == 1) {
		size_t bytes = (size_t)status.st_blocks * 512;
		closed_most = bytes > closed_most ? bytes : closed_most;
	}
}

int close(int fd) {
	judge_closed(fd);
	return (int)syscall(SYS_close, fd);
}

int dup3(int fd, int other, int flags) {
	judge_closed(other);
	return (int)syscall(SYS_dup3, fd, other, flags);
}

/* --- slabs ----------------------------------------------------------------------------------- */

static bool is_revoked(void *data) {
	struct gid_slab_info info;
	gid_slab_get_info(data, &info);
	return info.revoked;
}

static bool is_forgotten(void *data) {
	return reader->imported_of[1].slabs == 0;
}

static bool all_unmapped(void) {
	for (long i = 0; gid_closer_held(1) > 0 && i < COCKPIT_PATIENCE_MS; i++) {
		cockpit_sleep_ms(1);
	}
	return gid_closer_held(1) == 0;
}

/* A slab of 24 MiB, of which the reader has seen each page. */
static struct gid_slab *make_large(struct gid_slab **got) {
	struct gid_slab *slab = make(SLOTS);
	gid_slab_grant(slab, 2);
	if (gid_slab_import(reader, gid_slab_gid(slab, 0), got) < 0) {
		tap_ok(false, "it is imported: %s", gid_domain_error(reader));
	}
	for (uint32_t i = 0; i < SLOTS; i++) {
		memset(gid_slab_data(slab, i), 'x', gid_layout_size(&layout));
		gid_slab_view(*got, i);
	}
	return slab;
}

static void begin(void) {
	ours_most = theirs_most = ours_all = theirs_all = closed_most = 0;
}

static void check_unmapped(size_t pages, const char *what) {
	bool unmapped = all_unmapped();
	tap_ok(unmapped && theirs_all >= pages, "%s: %zu pages are unmapped by a helper", what,
			theirs_all);
	tap_ok(ours_most <= QUICK_PAGES, "and no more than %zu at once by who reads", ours_most);
	tap_ok(theirs_most <= 256, "nor does the helper more than %zu at once", theirs_most);
}

static void test_in_use(void) {
	struct gid_slab *got = NULL, *slab = make_large(&got);
	struct gid_slab_info info;
	gid_slab_get_info(got, &info);
	const char *view = gid_slab_view(got, 0);
	size_t size = SLOTS * info.slot_size, pages = count_pages(pagemap, view, size);
	tap_ok(pages == size / 4096 && view[size - 1] == 'x', "%zu pages are mapped", pages);
	gid_slab_destroy(slab, false);
	begin(); /* what is to come is the reader's */
	tap_ok(cockpit_until(reader, is_revoked, got) && view[0] == 0 && view[size - 1] == 0,
			"what is revoked in use is blank at once");
	check_unmapped(pages, "in use");
	gid_slab_unref(got);
	tap_ok(ours_most <= QUICK_PAGES, "what was blank is let go of as quickly");
}

static void test_at_rest(void) {
	struct gid_slab *got = NULL, *slab = make_large(&got);
	gid_slab_unref(got);
	gid_slab_destroy(slab, false);
	begin(); /* what is to come is the reader's */
	tap_ok(cockpit_until(reader, is_forgotten, NULL), "one at rest is forgotten");
	check_unmapped(SLOTS * gid_layout_size(&layout) / 4096, "at rest");
}

/* So many as there can be, each of a size that is quick to unmap by itself: all go at once. */
static void test_all_at_rest(void) {
	const struct gid_layout before = layout;
	struct gid_slab *slabs[RESTING], *got = NULL;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 512, 192, 64);
	for (uint32_t i = 0; i < RESTING; i++) {
		slabs[i] = make(1);
		gid_slab_grant(slabs[i], 2);
		gid_slab_import(reader, gid_slab_gid(slabs[i], 0), &got);
		gid_slab_view(got, 0);
		gid_slab_unref(got);
	}
	layout = before;
	tap_ok(reader->imported_of[1].slabs == RESTING, "%u slabs are at rest", RESTING);
	for (uint32_t i = 0; i < RESTING; i++) {
		gid_slab_destroy(slabs[i], false);
	}
	begin(); /* what is to come is the reader's */
	tap_ok(cockpit_until(reader, is_forgotten, NULL) && all_unmapped(), "all are forgotten");
	tap_ok(ours_all <= 8 * QUICK_PAGES, "%zu pages of them are unmapped by who reads",
			ours_all);
}

/* As any program can send it: one page of a file that has many. Its only descriptors are others'.
 */
static uint32_t export_small_of_large(void) {
	union gid_wire_message message, answer;
	int fd = memfd_create("large", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ftruncate(fd, SMALL_OF) < 0 || posix_fallocate(fd, 0, SMALL_OF) != 0 ||
			pwrite(fd, "", 1, 0) != 1 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE) <
					0) {
		return 0;
	}
	int read_only = gid_memory_reopen(fd);
	syscall(SYS_close, fd);
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 32, 32, 64);
	gid_wire_begin(&message, GID_WIRE_EXPORT, 0);
	message.export.memory = GID_MEMORY_MEMFD;
	message.export.slot_size = 4096;
	message.export.slot_count = 1;
	gid_wire_put_layout(&message.export.layout, &layout);
	int error = gid_domain_request(owner, &message, &read_only, 1, &answer, NULL);
	syscall(SYS_close, read_only);
	return error < 0 ? 0 : answer.result.value;
}

static bool grant_raw(uint32_t slab, bool allow) {
	union gid_wire_message message, answer;
	gid_wire_begin(&message, GID_WIRE_GRANT, 0);
	message.grant.slab = slab;
	message.grant.domain = 2;
	message.grant.allow = allow;
	return gid_domain_request(owner, &message, NULL, 0, &answer, NULL) == 0;
}

/* Nothing tells how much is freed where a small slab was. */
static void test_small_of_large(bool in_use) {
	struct gid_slab *got = NULL;
	uint32_t slab = export_small_of_large();
	tap_ok(slab != 0 && grant_raw(slab, true) &&
					gid_slab_import(reader, gid_make(1, slab, 0, 0), &got) == 0,
			"one page of a large file is imported");
	if (got == NULL) {
		return;
	}
	gid_slab_view(got, 0);
	if (!in_use) {
		gid_slab_unref(got);
	}
	begin();
	tap_ok(grant_raw(slab, false) &&
					(in_use ? cockpit_until(reader, is_revoked, got)
						: cockpit_until(reader, is_forgotten, NULL)),
			"and revoked");
	tap_ok(closed_most <= GID_CLOSER_QUICK, "who reads frees none of it (%zu bytes)",
			closed_most);
	if (in_use) {
		gid_slab_unref(got);
	}
}

static void test_bound(void) {
	struct gid_slab *slab = make(1), *got = NULL;
	gid_slab_grant(slab, 2);
	void *room = mmap(
			NULL, MUCH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_mutex_lock(&gate);
	gid_closer_unmap(room, MUCH, 1);
	tap_ok(gid_closer_held(1) == MUCH && gid_closer_held(2) == 0,
			"what is still to be unmapped is its owner's");
	tap_ok(gid_slab_import(reader, gid_slab_gid(slab, 0), &got) == -EDQUOT,
			"who has too much of that gets nothing more mapped");
	pthread_mutex_unlock(&gate);
	tap_ok(all_unmapped() && gid_slab_import(reader, gid_slab_gid(slab, 0), &got) == 0,
			"until it is unmapped");
	gid_slab_unref(got);
	gid_slab_destroy(slab, false);
}

static void unmap_one(void) {
	void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	gid_closer_unmap(page, 4096, 1);
	all_unmapped();
}

static void handle_over_budget(int number) {
	over_budget = 1;
}

/*
 * gid-cluster limits what a real-time thread of it computes without a sleep, and ends by that
 * limit. What a helper unmaps for it in many small works is not one long one. Called in a real-time
 * class.
 */
static void test_budget(void) {
	struct rlimit before;
	getrlimit(RLIMIT_RTTIME, &before);
	const struct rlimit limit = {BUDGET_US, before.rlim_max};
	signal(SIGXCPU, handle_over_budget);
	setrlimit(RLIMIT_RTTIME, &limit);
	theirs_slow = true;
	for (unsigned i = 0; i < SLOW_COUNT; i++) {
		unmap_one();
	}
	theirs_slow = false;
	setrlimit(RLIMIT_RTTIME, &before);
	tap_ok(!over_budget, "many small works of it are not one long one");
}

/*
 * A helper that is taken the processor away while it unmaps keeps all others from mapping anything:
 * no ordinary program may do that to a display's thread.
 */
static void test_class(void) {
	const struct sched_param ordinary = {0}, high = {.sched_priority = 3};
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &high) < 0) {
		unmap_one();
		tap_ok(theirs_class == SCHED_OTHER,
				"without the right to a class a helper has none");
		return;
	}
	unmap_one();
	tap_ok(theirs_class == SCHED_FIFO && theirs_priority == 1,
			"for a real-time thread the helper has class %d, priority %d", theirs_class,
			theirs_priority);
	test_budget();
	sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &ordinary);
	unmap_one();
	tap_ok(theirs_class == SCHED_OTHER, "and is an ordinary one again for others");
}

int main(void) {
	pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (slab_pair_init()) {
		gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 1920, 1080, 64);
		test_in_use();
		test_at_rest();
		test_all_at_rest();
		test_small_of_large(true);
		test_small_of_large(false);
		test_bound();
		test_class();
	}
	return slab_pair_finish();
}
