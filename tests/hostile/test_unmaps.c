// SPDX-License-Identifier: MIT
/*
 * An owner that dies takes its slabs with it, however large: the reader's own thread takes no page
 * of them out of its page tables, for that takes longer than a frame. All calls that unmap come by
 * here, and are judged by the pages that they found mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "closer.h"
#include "connection.h"
#include "slab_pair.h"

#define SLOTS 3u
#define MUCH (UINT64_C(5) << 30)

/* --- calls ------------------------------------------------------------------------------------ */

static int pagemap = -1;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* shut: helpers wait */
static size_t ours_most, theirs_most, theirs_all;	 /* pages of one call; of all */
static int theirs_class, theirs_priority;		 /* of the helper, when it last unmapped */

static bool is_ours(void) {
	return syscall(SYS_gettid) == getpid();
}

/* Pages that this process has mapped there now, as its page tables have them. */
static size_t count_pages(const void *data, size_t size) {
	uint64_t entries[512];
	size_t count = 0, first = (uintptr_t)data / 4096, left = size / 4096;
	while (pagemap >= 0 && left > 0) {
		size_t part = left < 512 ? left : 512;
		if (pread(pagemap, entries, part * 8, (off_t)(first * 8)) != (ssize_t)(part * 8)) {
			break;
		}
		for (size_t i = 0; i < part; i++) {
			count += entries[i] >> 63;
		}
		first += part;
		left -= part;
	}
	return count;
}

static void judge(const void *data, size_t size) {
	size_t pages = count_pages(data, size);
	size_t *most = is_ours() ? &ours_most : &theirs_most;
	*most = pages > *most ? pages : *most;
	theirs_all += is_ours() ? 0 : pages;
}

int munmap(void *data, size_t size) {
	if (!is_ours()) {
		struct sched_param param = {0};
		pthread_mutex_lock(&gate);
		theirs_class = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
		sched_getparam(0, &param);
		theirs_priority = param.sched_priority;
		pthread_mutex_unlock(&gate);
	}
	judge(data, size);
	return (int)syscall(SYS_munmap, data, size);
}

void *mmap(void *data, size_t size, int protection, int flags, int fd, off_t offset) {
	if ((flags & MAP_FIXED) != 0) {
		judge(data, size);
	}
	return (void *)syscall(SYS_mmap, data, size, protection, flags, fd, offset);
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
	ours_most = theirs_most = theirs_all = 0;
}

static void check_unmapped(size_t pages, const char *what) {
	bool unmapped = all_unmapped();
	tap_ok(unmapped && theirs_all >= pages, "%s: %zu pages are unmapped by a helper", what,
			theirs_all);
	tap_ok(ours_most <= 1024, "and no more than %zu at once by who reads", ours_most);
	tap_ok(theirs_most <= 256, "nor does the helper more than %zu at once", theirs_most);
}

static void test_in_use(void) {
	struct gid_slab *got = NULL, *slab = make_large(&got);
	struct gid_slab_info info;
	gid_slab_get_info(got, &info);
	const char *view = gid_slab_view(got, 0);
	size_t size = SLOTS * info.slot_size, pages = count_pages(view, size);
	tap_ok(pages == size / 4096 && view[size - 1] == 'x', "%zu pages are mapped", pages);
	gid_slab_destroy(slab, false);
	begin(); /* what is to come is the reader's */
	tap_ok(cockpit_until(reader, is_revoked, got) && view[0] == 0 && view[size - 1] == 0,
			"what is revoked in use is blank at once");
	check_unmapped(pages, "in use");
	gid_slab_unref(got);
	tap_ok(ours_most <= 1024, "what was blank is let go of as quickly");
}

static void test_at_rest(void) {
	struct gid_slab *got = NULL, *slab = make_large(&got);
	gid_slab_unref(got);
	gid_slab_destroy(slab, false);
	begin(); /* what is to come is the reader's */
	tap_ok(cockpit_until(reader, is_forgotten, NULL), "one at rest is forgotten");
	check_unmapped(SLOTS * gid_layout_size(&layout) / 4096, "at rest");
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
		test_bound();
		test_class();
	}
	return slab_pair_finish();
}
