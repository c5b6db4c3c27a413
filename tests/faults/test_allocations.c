// SPDX-License-Identifier: MIT
/*
 * All that two domains do with each other by libgid's public calls, again and again: each time the
 * next allocation fails. The calls say so or do without; nothing crashes, and once all is given
 * back, no memory, descriptor or mapping is left.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "stream_pair.h"

#define MOST 500 /* allocations in one run */
#define AGAIN 20
#define WAIT_MS 100    /* for what may never come, because what would bring it has failed */
#define LATE_MS 120000 /* for what comes, however busy the machine */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *memory);

static atomic_long left = -1; /* allocations until one fails; -1: none is to fail */
static atomic_long live;      /* allocations that were not freed */
/* Whether one is to fail in this run. */
static bool failing;
/* For how long gidd's answer is waited for, where it is to come and where it may never. Not by
 * setenv(), which allocates. */
static char late_answer[] = "GID_ANSWER_SECONDS=120", soon_answer[] = "GID_ANSWER_SECONDS=2";

static bool fails(void) {
	if (atomic_load(&left) < 0 || atomic_fetch_sub(&left, 1) != 0) {
		return false;
	}
	errno = ENOMEM;
	return true;
}

static void *count(void *memory) {
	if (memory != NULL) {
		atomic_fetch_add(&live, 1);
	}
	return memory;
}

void *malloc(size_t size) {
	return fails() ? NULL : count(__libc_malloc(size));
}

void *calloc(size_t number, size_t size) {
	return fails() ? NULL : count(__libc_calloc(number, size));
}

void *realloc(void *old, size_t size) {
	if (fails()) {
		return NULL;
	}
	void *memory = __libc_realloc(old, size);
	return old == NULL ? count(memory) : memory;
}

void free(void *memory) {
	if (memory != NULL) {
		atomic_fetch_sub(&live, 1);
	}
	__libc_free(memory);
}

/* --- one run ---------------------------------------------------------------------------------- */

static struct gid_slab *imported;
static int refusals; /* calls that said that they failed */

static bool said(int error) {
	refusals += error < 0;
	return error >= 0;
}

static bool is_in_time(long begin) {
	bool has_failed = failing && atomic_load(&left) < 0;
	return cockpit_now_ms() < begin + (has_failed ? WAIT_MS : LATE_MS);
}

static void hear_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	said(error);
	gid_slab_unref(imported);
	imported = slab;
}

static void hear_revoked(void *data, struct gid_slab *slab) {
	/* Nothing of it is to be kept. */
}

static int export_memory(struct gid_slab **slab) {
	int fd = memfd_create("lent", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, 4096) < 0) {
		return -errno;
	}
	char page[4096] = {0};
	(void)!pwrite(fd, page, sizeof(page), 0);
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	int error = gid_slab_export(open_domain, fd, 0, &layout, "lent", slab);
	close(fd);
	return error;
}

static void dispatch(struct gid_producer *producer) {
	struct pollfd fds[] = {{gid_domain_get_fd(open_domain), POLLIN, 0},
			{gid_domain_get_fd(cluster_domain), POLLIN, 0},
			{producer != NULL ? gid_producer_get_fd(producer) : -1, POLLIN, 0}};
	poll(fds, 3, 5);
	said(gid_domain_dispatch(open_domain));
	said(gid_domain_dispatch(cluster_domain));
	if (producer != NULL) {
		said(gid_producer_dispatch(producer));
	}
}

static void stream(struct gid_slab *slab) {
	struct gid_producer_options produce_options = {
			.size = sizeof(produce_options), .released = hear_released};
	struct gid_consumer_options consume_options = {
			.size = sizeof(consume_options), .reconnect = true, .state = hear_state};
	struct gid_producer *producer = NULL;
	struct gid_consumer *consumer = NULL;
	said(gid_producer_create(open_domain, "movie", &produce_options, &producer));
	said(gid_consumer_create(cluster_domain, "open", "movie", &consume_options, &consumer));
	long begin = cockpit_now_ms();
	bool sent = false, received = false;
	while (producer != NULL && consumer != NULL && !received && is_in_time(begin)) {
		dispatch(producer);
		if (!sent && gid_consumer_get_state(consumer) == GID_CONSUMER_LIVE) {
			sent = said(send_slot(producer, slab, 0));
		}
		struct gid_frame frame;
		if (sent && gid_consumer_receive(consumer, &frame) == 1) {
			received = true;
			struct gid_slab *seen = NULL;
			if (said(gid_slab_import(cluster_domain, frame.gid, &seen))) {
				gid_slab_view(seen, 0);
			}
			gid_slab_unref(seen);
			said(gid_consumer_release(consumer, &frame));
			dispatch(producer);
		}
	}
	refusals += !received;
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
}

static void lend(struct gid_slab *slab) {
	struct gid_slab *now = NULL;
	said(gid_slab_grant(slab, 2));
	int error = gid_slab_import_async(
			cluster_domain, gid_slab_gid(slab, 0), hear_imported, NULL, &imported);
	if (error == -EINPROGRESS) {
		long begin = cockpit_now_ms();
		while (imported == NULL && is_in_time(begin)) {
			dispatch(NULL);
		}
		gid_slab_import_cancel(cluster_domain, NULL);
	} else {
		said(error);
	}
	if (imported != NULL) {
		said(gid_slab_on_revoked(imported, hear_revoked, NULL));
	}
	said(gid_slab_import(cluster_domain, gid_slab_gid(slab, 1), &now));
	said(gid_slab_revoke(slab, 2));
	dispatch(NULL);
	gid_slab_unref(now);
	gid_slab_unref(imported);
	imported = NULL;
}

static void do_all(void) {
	char *json = NULL;
	struct gid_slab *slab = NULL, *lent = NULL;
	open_domain = cluster_domain = NULL;
	if (said(gid_domain_connect("open", &open_domain)) &&
			said(gid_domain_connect("cluster", &cluster_domain))) {
		said(gid_domain_status(open_domain, &json));
		said(export_memory(&lent));
		if (said(gid_slab_create(open_domain, &layout, 0, 2, "video/x-raw", &slab))) {
			lend(slab);
			stream(slab);
		}
	}
	free(json);
	gid_slab_destroy(slab, true);
	gid_slab_destroy(lent, false);
	gid_domain_destroy(cluster_domain);
	gid_domain_destroy(open_domain);
}

/* --- all runs --------------------------------------------------------------------------------- */

struct left_over {
	long allocations, descriptors, mappings;
};

/* Once libgid's helpers have closed what they were given. */
static struct left_over look(void) {
	struct left_over found;
	found.descriptors = cockpit_count_settled("/proc/self/fd");
	found.mappings = cockpit_count("/proc/self/maps");
	found.allocations = atomic_load(&live);
	return found;
}

/* False: there was no allocation with this number. */
static bool run_failing(long number) {
	refusals = 0;
	failing = true;
	putenv(soon_answer);
	atomic_store(&left, number);
	do_all();
	failing = false;
	putenv(late_answer);
	return atomic_exchange(&left, -1) < 0;
}

/*
 * A helper thread may have begun or ended, and have some memory: what leaks leaks each time, and
 * there are fewer helpers than AGAIN.
 */
static bool leaks(long number, const struct left_over *clean) {
	struct left_over found = look();
	if (found.allocations <= clean->allocations && found.descriptors <= clean->descriptors &&
			found.mappings <= clean->mappings) {
		return false;
	}
	for (int i = 0; i < AGAIN; i++) {
		run_failing(number);
	}
	struct left_over again = look();
	long allocations = again.allocations - found.allocations;
	long descriptors = again.descriptors - found.descriptors;
	long mappings = again.mappings - found.mappings;
	if (allocations < AGAIN && descriptors < AGAIN && mappings < AGAIN) {
		return false;
	}
	printf("# allocation %ld, %d times: %ld allocations, %ld descriptors, %ld mappings more\n",
			number, AGAIN, allocations, descriptors, mappings);
	return true;
}

int main(void) {
	if (!tap_ok(cockpit_init(), "two domains run")) {
		return tap_finish();
	}
	putenv(late_answer);
	do_all(); /* what is made once, and kept */
	refusals = 0;
	do_all();
	tap_ok(refusals == 0, "with all the memory that there is, nothing fails");
	int untold = 0, leaking = 0;
	long number = 0;
	for (; number < MOST; number++) {
		struct left_over clean = look();
		if (!run_failing(number)) {
			break;
		}
		untold += refusals == 0;
		leaking += leaks(number, &clean);
	}
	tap_ok(number > 20 && number < MOST, "%ld allocations failed, one in each run", number);
	printf("# in %d of the runs nobody was told: it went without\n", untold);
	tap_ok(leaking == 0, "none of them left anything (but %d)", leaking);
	refusals = 0;
	do_all();
	tap_ok(refusals == 0, "and then all is as it was");
	cockpit_finish();
	return tap_finish();
}
