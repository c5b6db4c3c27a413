// SPDX-License-Identifier: MIT
/*
 * What becomes of a slab whose number another program has after a restart of gidd, where that gidd
 * dies before it gives another one, or where its memory cannot be moved.
 */
#include <drm_fourcc.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "false_gidd.h"
#include "slab_object.h"
#include "tap.h"

#define NUMBER 5u
#define OTHER 7u
#define THIRD 9u
#define PATIENCE_S 60

/* What the gidd of a connection says to an EXPORT; the last one is said of all that follow. */
struct life {
	uint32_t taken; /* the number that another program has */
	uint32_t given; /* the number that a slab without one gets; 0: it dies instead */
};

static const struct life lives[] = {
		{0, NUMBER},
		{NUMBER, 0},
		{NUMBER, 0},
		{0, NUMBER}, /* the other program has gone */
		{NUMBER, 0},
		{NUMBER, OTHER},
		{OTHER, THIRD},
};
#define LIVES (sizeof(lives) / sizeof(lives[0]))

static atomic_uint exports; /* EXPORTs that it answered */
static atomic_bool cannot_move;
static atomic_uint given_up; /* the first number that was, since then */

/* Of libgid's own code, as it is linked here. */
void *__wrap_mremap(void *data, size_t size, size_t wanted, int flags, ...);
void *__real_mremap(void *data, size_t size, size_t wanted, int flags, ...);

void *__wrap_mremap(void *data, size_t size, size_t wanted, int flags, ...) {
	va_list args;
	va_start(args, flags);
	void *to = va_arg(args, void *);
	va_end(args);
	if (cannot_move && (flags & MREMAP_FIXED) != 0) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mremap(data, size, wanted, flags, to);
}

/* The next life begins, if none did meanwhile. */
static bool die(unsigned life) {
	atomic_compare_exchange_strong(&false_gidd.life, &life, life + 1);
	return false;
}

static bool hear(int fd, const union gid_wire_message *message, unsigned life) {
	const struct life *now = &lives[life < LIVES ? life : LIVES - 1];
	uint32_t serial = message->header.serial;
	if (message->header.type == GID_WIRE_HELLO) {
		return false_gidd_greet(fd, serial);
	}
	if (message->header.type != GID_WIRE_EXPORT) {
		if (message->header.type == GID_WIRE_UNEXPORT && cannot_move && given_up == 0) {
			given_up = message->unexport.slab;
		}
		return false_gidd_answer(fd, serial, 0, 0);
	}
	uint32_t asked = message->export.slab;
	if (asked == 0 && now->given == 0) {
		return die(life);
	}
	bool is_taken = asked != 0 && asked == now->taken;
	bool answered = false_gidd_answer(
			fd, serial, is_taken ? -EEXIST : 0, asked != 0 ? asked : now->given);
	exports += !is_taken;
	return answered;
}

/* Until that gidd has taken the slab. */
static bool wait_for(struct gid_domain *domain, unsigned which, unsigned count) {
	uint64_t end = gid_clock_now() + PATIENCE_S * UINT64_C(1000000000);
	while ((false_gidd.life < which || exports < count || !gid_domain_is_connected(domain)) &&
			gid_clock_now() < end) {
		false_gidd_wait(domain);
	}
	for (int i = 0; i < 20; i++) { /* its answer is on its way */
		false_gidd_wait(domain);
	}
	return false_gidd.life == which && exports >= count && gid_domain_is_connected(domain);
}

static bool is_whole(const struct gid_slab *slab, gid_id gid) {
	return gid_slab_gid(slab, 0) == gid && gid_slab_is_current(slab, gid) &&
			strcmp(gid_slab_data((struct gid_slab *)slab, 0), "a picture") == 0;
}

static void test_dying_gidds(struct gid_domain *domain) {
	struct gid_layout layout;
	struct gid_slab *slab;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 16, 16, 64);
	if (!tap_ok(gid_slab_create(domain, &layout, 0, 1, NULL, &slab) == 0, "a slab: %s",
			    gid_domain_error(domain))) {
		return;
	}
	strcpy(gid_slab_data(slab, 0), "a picture");
	gid_id gid = gid_slab_gid(slab, 0);
	tap_ok(gid_slab_of(gid) == NUMBER, "it has the number %u", NUMBER);

	false_gidd.life = 1;
	tap_ok(wait_for(domain, 3, 2), "two gidds die before they give it another number");
	tap_ok(is_whole(slab, gid), "then it has its own again, and its picture");

	false_gidd.life = 4;
	tap_ok(wait_for(domain, 5, 3), "the number is taken again, and once more a gidd dies");
	gid_id other = gid_slab_gid(slab, 0);
	tap_ok(gid_slab_of(other) == OTHER && is_whole(slab, other),
			"the next one gives it another number (%u)", gid_slab_of(other));
	tap_ok(!gid_slab_is_current(slab, gid), "by which alone it is known");

	cannot_move = true;
	false_gidd.life = 6;
	tap_ok(wait_for(domain, 6, 4) && given_up == THIRD,
			"a third number is given up where the memory cannot be moved");
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	tap_ok(info.revoked && gid_slab_gid(slab, 0) == other &&
					strcmp(gid_slab_data(slab, 0), "a picture") == 0,
			"it is taken back then, and its memory stays where it was");
	gid_slab_destroy(slab, false);
}

int main(void) {
	setenv("GID_ANSWER_SECONDS", "30", 1);
	return false_gidd_test(hear, test_dying_gidds);
}
