// SPDX-License-Identifier: MIT
/*
 * Illegal access (5.21): a program of the domain `cluster` that reads a slab of `open` tries to
 * write into it by each way that the kernel has, and to get memory and streams that it was not
 * given. Each line tells how many of so many tries succeeded.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <gid/stream.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe.h"

#define READER "cluster"
#define OWNER "open"
#define SHARED "ping" /* the stream of `open` that `cluster` may read */
#define SECRET "secret"
#define GUESSES 2000
#define WAIT_NS (60 * UINT64_C(1000000000)) /* for what gidd tells, on a machine that is busy */

struct both {
	struct gid_domain *owner, *reader;
	struct gid_producer *shared, *secret;
	struct gid_slab *granted, *kept; /* the owner's */
	struct gid_slab *seen;		 /* the reader's import of `granted` */
};

static void print_count(const char *what, unsigned succeeded, unsigned tries) {
	struct figure figure;
	figure_init(&figure, "successes", tries);
	/* The figure is a sum: each sample is the same. */
	for (unsigned i = 0; i < tries; i++) {
		figure_add(&figure, succeeded);
	}
	probe_print(what, &figure);
	figure_finish(&figure);
}

static struct gid_slab *make_slab(struct gid_domain *domain) {
	struct gid_layout layout;
	struct gid_slab *slab;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 64, 64, 64);
	if (gid_slab_create(domain, &layout, 0, 1, NULL, &slab) < 0) {
		errx(1, "%s", gid_domain_error(domain));
	}
	memset(gid_slab_data(slab, 0), 0x5a, layout.planes[0].stride);
	return slab;
}

static struct gid_producer *publish(struct gid_domain *domain, const char *stream) {
	struct gid_producer_options options = {.size = sizeof(options), .quiet = true};
	struct gid_producer *producer;
	int ret = gid_producer_create(domain, stream, &options, &producer);
	if (ret < 0) {
		errx(1, "stream %s: %s", stream, gid_strerror(ret));
	}
	return producer;
}

static void both_init(struct both *both) {
	*both = (struct both){0};
	probe_connect(OWNER, &both->owner);
	probe_connect(READER, &both->reader);
	both->granted = make_slab(both->owner);
	both->kept = make_slab(both->owner);
	both->shared = publish(both->owner, SHARED);
	both->secret = publish(both->owner, SECRET);
	if (gid_slab_grant(both->granted, gid_domain_number(both->reader)) < 0) {
		errx(1, "%s", gid_domain_error(both->owner));
	}
	if (gid_slab_import(both->reader, gid_slab_gid(both->granted, 0), &both->seen) < 0) {
		errx(1, "a slab that was granted: %s", gid_domain_error(both->reader));
	}
}

static void both_finish(struct both *both) {
	gid_slab_unref(both->seen);
	gid_producer_destroy(both->shared);
	gid_producer_destroy(both->secret);
	gid_slab_destroy(both->granted, false);
	gid_slab_destroy(both->kept, false);
	gid_domain_destroy(both->reader);
	gid_domain_destroy(both->owner);
}

/* --- memory that may only be read ------------------------------------------------------------- */

static bool can_map_for_writing(int fd, size_t size) {
	void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED) {
		return false;
	}
	munmap(mapped, size);
	return true;
}

/* Each way to change a file's content or size. */
static unsigned writes_that_succeed(int fd, size_t size) {
	return (unsigned)can_map_for_writing(fd, size) + (unsigned)(pwrite(fd, "x", 1, 0) == 1) +
			(unsigned)(ftruncate(fd, 0) == 0) +
			(unsigned)(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
						   (off_t)size) == 0);
}

/* The file behind a mapping, by the kernel's own name of it; -1 if it cannot be opened. */
static int open_mapped_file(uintptr_t address) {
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], path[96];
	int fd = -1;
	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		uintptr_t begin, end;
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) == 2 && begin <= address &&
				address < end) {
			snprintf(path, sizeof(path), "/proc/self/map_files/%" PRIxPTR "-%" PRIxPTR,
					begin, end);
			fd = open(path, O_RDWR | O_CLOEXEC);
		}
	}
	if (maps != NULL) {
		fclose(maps);
	}
	return fd;
}

#define WAYS 4u /* of writes_that_succeed() */

static void try_to_write(struct both *both) {
	struct gid_slab_info info;
	char path[96];
	gid_slab_get_info(both->seen, &info);
	size_t size = (size_t)info.slot_size;
	uintptr_t view = (uintptr_t)gid_slab_view(both->seen, 0);
	unsigned made = mprotect((void *)view, size, PROT_READ | PROT_WRITE) == 0;
	print_count("a read-only mapping is made writable", made, 1);
	print_count("the descriptor is written", writes_that_succeed(info.fd, size), WAYS);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", info.fd);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned done = fd >= 0 ? writes_that_succeed(fd, size) : 0;
	print_count("it is opened again for writing, and written", done, WAYS);
	if (fd >= 0) {
		close(fd);
	}
	fd = open_mapped_file(view);
	done = fd >= 0 ? writes_that_succeed(fd, size) : 0;
	print_count("the mapping's file is opened for writing, and written", done, WAYS);
	if (fd >= 0) {
		close(fd);
	}
	const uint8_t *first = gid_slab_data(both->granted, 0);
	print_count("what the owner wrote is changed", first[0] != 0x5a, 1);
}

/* --- what was not given ----------------------------------------------------------------------- */

static unsigned import_one(struct both *both, gid_id gid) {
	struct gid_slab *slab;
	if (gid_slab_import(both->reader, gid, &slab) < 0) {
		return 0;
	}
	gid_slab_unref(slab);
	return 1;
}

/* Numbers near those that there are, and any others. */
static void try_to_guess(struct both *both) {
	gid_id known = gid_slab_gid(both->granted, 0);
	uint32_t number = gid_domain_number(both->owner);
	unsigned succeeded = 0;
	uint64_t state = 88172645463325252u; /* xorshift64, Marsaglia 2003 */
	for (unsigned i = 0; i < GUESSES; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		uint32_t slab = i < GUESSES / 2 ? i : (uint32_t)(state % GID_SLAB_MAX);
		if (slab != gid_slab_of(known)) {
			succeeded += import_one(both, gid_make(number, slab, 0, 0));
		}
	}
	print_count("memory is got by a guessed gid", succeeded, GUESSES);
}

static void dispatch(struct both *both) {
	gid_domain_dispatch(both->reader);
	gid_domain_dispatch(both->owner);
	gid_producer_dispatch(both->secret);
	usleep(1000);
}

static void try_to_subscribe(struct both *both) {
	struct gid_consumer_options options = {.size = sizeof(options)};
	struct gid_consumer *consumer;
	unsigned is_live = 0;
	if (gid_consumer_create(both->reader, OWNER, SECRET, &options, &consumer) == 0) {
		uint64_t end = probe_now() + WAIT_NS;
		enum gid_consumer_state state;
		while ((state = gid_consumer_get_state(consumer)) == GID_CONSUMER_WAITING &&
				probe_now() < end) {
			dispatch(both);
		}
		if (state == GID_CONSUMER_WAITING) {
			errx(1, "a stream that is not shared is neither given nor refused");
		}
		is_live = state == GID_CONSUMER_LIVE;
		gid_consumer_destroy(consumer);
	}
	print_count("a stream that is not shared is read", is_live, 1);
}

static void try_after_revocation(struct both *both) {
	gid_id gid = gid_slab_gid(both->granted, 0);
	if (gid_slab_revoke(both->granted, gid_domain_number(both->reader)) < 0) {
		errx(1, "%s", gid_domain_error(both->owner));
	}
	uint64_t end = probe_now() + WAIT_NS;
	while (gid_slab_is_current(both->seen, gid) && probe_now() < end) {
		gid_domain_dispatch(both->reader);
		usleep(1000);
	}
	unsigned seen = *(const uint8_t *)gid_slab_view(both->seen, 0) == 0x5a;
	print_count("revoked memory is still seen", seen, 1);
	print_count("revoked memory is got again", import_one(both, gid), 1);
}

int probe_access(int argc, char **argv) {
	struct both both;
	if (argc > 1) {
		errx(2, "access: no argument is expected, not %s", argv[1]);
	}
	both_init(&both);
	probe_begin();
	try_to_write(&both);
	print_count("memory that was not granted is got",
			import_one(&both, gid_slab_gid(both.kept, 0)), 1);
	try_to_guess(&both);
	try_to_subscribe(&both);
	try_after_revocation(&both);
	probe_end();
	both_finish(&both);
	return 0;
}
