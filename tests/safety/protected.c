// SPDX-License-Identifier: MIT
/*
 * Sends a protected role's pictures, one each 20 ms; upon SIGUSR1 something happens to each of them
 * on its way, and upon another nothing does any more. What happens comes after the check was made,
 * before the display is told of the frame.
 *
 * protected FAULT PROFILE [KEY]: PROFILE as gid-cluster(1) has it, KEY a file. With the fault
 * replay the stream ends, and begins anew with frames of some seconds ago.
 */
#include <drm_fourcc.h>
#include <gid/protection.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libgid/producer.h"

#define STREAM "safety/telltale"
#define WIDTH 320
#define HEIGHT 80
#define SLOTS 16
#define PERIOD_NS 20000000
#define LEASE_NS UINT64_C(60000000000)
#define LATE_NS UINT64_C(15000000000)  /* more than the role's deadline */
#define REPLAY_NS UINT64_C(6000000000) /* less */

enum fault {
	PIXEL,	    /* a bit of the pixels */
	DESCRIPTOR, /* a bit of what is said of them */
	SWAP,	    /* the pixels of another frame */
	OLD_CHECK,  /* the check of a frame before */
	REPEAT,	    /* the number of the frame before */
	LATE,	    /* it took longer than the deadline */
	MIX,	    /* protected as another stream */
	WRONG_KEY,
	OTHER_PROFILE,
	UNPROTECTED,
	REPLAY, /* by somebody who kept them, and their checks */
	FAULTS,
};

static const char *const fault_names[FAULTS] = {"pixel", "descriptor", "swap", "old-check",
		"repeat", "late", "mix", "wrong-key", "other-profile", "unprotected", "replay"};

struct sender {
	struct gid_domain *domain;
	struct gid_producer *producer;
	struct gid_slab *slab;
	struct gid_layout layout;
	struct gid_protection *right, *wrong;
	enum fault fault; /* that happens now; FAULTS: none */
	struct gid_check before;
	uint32_t slot_before;
};

static volatile sig_atomic_t happens;

static void change_mind(int number) {
	happens = !happens;
}

static uint64_t late_ns;
uint64_t __real_gid_clock_now(void);
uint64_t __wrap_gid_clock_now(void);

/* What frames are dated by. */
uint64_t __wrap_gid_clock_now(void) {
	return __real_gid_clock_now() - late_ns;
}

static void check(int error, const char *what) {
	if (error < 0) {
		fprintf(stderr, "%s: %s\n", what, gid_strerror(error));
		exit(EXIT_FAILURE);
	}
}

static int make_check(void *data, const struct gid_frame *frame, const struct gid_slab *slab,
		struct gid_check *made) {
	struct sender *sender = data;
	uint32_t slot = gid_slot_of(frame->gid);
	uint8_t *pixels = gid_slab_data(sender->slab, slot);
	struct gid_check right = *made, was = *made;
	if (sender->fault == DESCRIPTOR) {
		was.descriptor[33] ^= 0x10;
	}
	bool wrongly = sender->fault == MIX || sender->fault == WRONG_KEY ||
			sender->fault == OTHER_PROFILE;
	const void *seen =
			sender->fault == SWAP ? gid_slab_view(slab, sender->slot_before) : pixels;
	int error = gid_protection_make(wrongly ? sender->wrong : sender->right, frame,
			&sender->layout, seen, &was);
	if (error == 0) {
		error = gid_protection_make(sender->right, frame, &sender->layout, pixels, &right);
	}
	const struct gid_check *sent = sender->fault == OLD_CHECK ? &sender->before : &was;
	made->kind = sent->kind;
	memcpy(made->bytes, sent->bytes, sizeof(made->bytes));
	if (sender->fault == PIXEL) {
		pixels[40 * sender->layout.planes[0].stride + 4 * 123 + 1] ^= 1;
	}
	sender->before = right;
	sender->slot_before = slot;
	return error;
}

static void draw(const struct sender *sender, uint32_t slot, unsigned tick) {
	uint8_t *data = gid_slab_data(sender->slab, slot);
	for (uint32_t y = 0; y < HEIGHT; y++) {
		uint32_t *row = (uint32_t *)(data + (size_t)y * sender->layout.planes[0].stride);
		for (uint32_t x = 0; x < WIDTH; x++) {
			row[x] = 0xff000000u | (tick % 251 * 0x1f3b5u + x * 3 + y * 0x700u);
		}
	}
}

static void send_frame(struct sender *sender, unsigned tick, enum fault fault) {
	int slot = gid_slab_take(sender->slab);
	if (slot < 0) {
		return;
	}
	draw(sender, (uint32_t)slot, tick);
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(sender->slab, (uint32_t)slot);
	frame.pts = tick;
	sender->fault = fault;
	gid_producer_set_check(sender->producer, fault == UNPROTECTED ? NULL : make_check, sender);
	sender->producer->sequence -= fault == REPEAT;
	late_ns = fault == LATE ? LATE_NS : fault == REPLAY ? REPLAY_NS : 0;
	int sent = gid_producer_send(sender->producer, &frame);
	late_ns = 0;
	check(sent, "a frame");
	if (sent == 0) {
		gid_slab_give(sender->slab, (uint32_t)slot);
	}
}

static void handle_released(void *data, gid_id gid) {
	struct sender *sender = data;
	gid_slab_give(sender->slab, gid_slot_of(gid));
}

static void publish(struct sender *sender) {
	struct gid_producer_options options = {.size = sizeof(options),
			.released = handle_released,
			.data = sender,
			.lease_ns = LEASE_NS};
	check(gid_producer_create(sender->domain, STREAM, &options, &sender->producer), STREAM);
}

static void protect(
		struct sender *sender, enum fault fault, const char *profile, const char *file) {
	uint8_t key[GID_PROTECTION_KEY_SIZE], other[GID_PROTECTION_KEY_SIZE] = {1};
	bool keyed = strcmp(profile, "cmac") == 0;
	enum gid_protection_profile right = keyed ? GID_PROTECTION_CMAC : GID_PROTECTION_CRC64;
	if (keyed) {
		check(gid_protection_read_key(file, key), file);
	}
	check(gid_protection_create(right, STREAM, keyed ? key : NULL, &sender->right), profile);
	if (fault == WRONG_KEY) {
		check(gid_protection_create(right, STREAM, keyed ? other : NULL, &sender->wrong),
				"a wrong key");
	} else if (fault == OTHER_PROFILE) {
		check(gid_protection_create(keyed ? GID_PROTECTION_CRC64 : GID_PROTECTION_CMAC,
				      STREAM, keyed ? NULL : other, &sender->wrong),
				"another profile");
	} else {
		check(gid_protection_create(
				      right, "safety/other", keyed ? key : NULL, &sender->wrong),
				"another stream");
	}
}

int main(int argc, char **argv) {
	struct sender sender = {0};
	enum fault fault = 0;
	while (argc >= 3 && fault < FAULTS && strcmp(argv[1], fault_names[fault]) != 0) {
		fault++;
	}
	if (argc < 3 || fault == FAULTS) {
		fprintf(stderr, "usage: protected FAULT PROFILE [KEY]\n");
		return EXIT_FAILURE;
	}
	signal(SIGUSR1, change_mind);
	protect(&sender, fault, argv[2], argc > 3 ? argv[3] : NULL);
	check(gid_domain_connect(NULL, &sender.domain), "the domain");
	gid_layout_init(&sender.layout, DRM_FORMAT_XRGB8888, WIDTH, HEIGHT, 128);
	check(gid_slab_create(sender.domain, &sender.layout, 0, SLOTS, NULL, &sender.slab),
			"the slab");
	publish(&sender);
	bool began = false;
	for (unsigned tick = 0;; tick++) {
		if (happens && fault == REPLAY && !began) {
			began = true;
			gid_producer_destroy(sender.producer);
			publish(&sender);
		}
		gid_domain_dispatch(sender.domain);
		gid_producer_dispatch(sender.producer);
		send_frame(&sender, tick, happens ? fault : FAULTS);
		nanosleep(&(struct timespec){.tv_nsec = PERIOD_NS}, NULL);
	}
}
