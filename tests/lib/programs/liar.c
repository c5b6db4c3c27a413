// SPDX-License-Identifier: MIT
/*
 * A producer of two safety streams that lies. Draws eight pictures, four for each stream, and sends
 * one to each stream every 20 ms; upon SIGUSR1 it begins to lie in the way it was told, and upon
 * another it is honest again. Reaches into libgid where an honest program could not do it. `flood`
 * tells the truth, as fast as it can; `notes` sends no pictures, but says in turn that the flow
 * ended and that nothing is to be shown, as fast as it can.
 *
 * liar MODE; liar hashes: prints the hashes of the pictures, a line for each stream.
 */
#include <drm_fourcc.h>
#include <gid/stream.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/base/pixels.h"
#include "libgid/producer.h"

#define STREAMS 2
#define PICTURES 4 /* of each stream */
#define WIDTH 320
#define HEIGHT 80
#define PERIOD_MS 20
#define SLOTS 32
#define AHEAD_NS 1500000000ull
/* Longer than that: the clock that is ahead would take back what was not looked at yet. */
#define LEASE_NS 10000000000ull

enum mode {
	FLIP,
	FORGE,
	SWAP,
	FREEZE,
	PADDING,
	AHEAD,
	REPLAY,
	NO_HASH,
	CORRUPTED,
	SMALL,
	LATE_FLIP,
	BREAK,
	FLOOD,
	NOTES,
	MODES
};

static const char *const mode_names[MODES] = {"flip", "forge", "swap", "freeze", "padding", "ahead",
		"replay", "no-hash", "corrupted", "small", "late-flip", "break", "flood", "notes"};

struct liar {
	struct gid_domain *domain;
	struct gid_layout layout;
	struct gid_slab *slab, *small;
	struct gid_producer *producers[STREAMS];
};

static volatile sig_atomic_t lies;

static void change_mind(int number) {
	lies = !lies;
}

static void pause_ms(long ms) {
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static uint32_t *row_of(const struct gid_layout *layout, void *data, uint32_t y) {
	return (uint32_t *)((uint8_t *)data + layout->planes[0].offset +
			(size_t)y * layout->planes[0].stride);
}

static void draw(const struct gid_layout *layout, void *data, unsigned picture) {
	for (uint32_t y = 0; y < layout->height; y++) {
		for (uint32_t x = 0; x < layout->width; x++) {
			row_of(layout, data, y)[x] =
					0xff000000u | (picture * 0x1f3b5u + x * 3 + y * 0x700u);
		}
	}
}

static uint64_t hash_of(const struct gid_layout *layout, void *data) {
	struct pixels pixels = {row_of(layout, data, 0), layout->width, layout->height,
			layout->planes[0].stride};
	struct pixel_hashes hashes;
	if (pixels_hash(&pixels, &hashes, NULL) != 0) {
		abort();
	}
	return hashes.content;
}

static void print_digest(const struct gid_layout *layout, void *data) {
	struct pixels pixels = {row_of(layout, data, 0), layout->width, layout->height,
			layout->planes[0].stride};
	struct pixel_hashes hashes;
	struct digest digest;
	if (pixels_hash(&pixels, &hashes, &digest) != 0) {
		abort();
	}
	for (size_t i = 0; i < sizeof(digest.bytes); i++) {
		printf("%02x", digest.bytes[i]);
	}
}

static void print_hashes(const struct gid_layout *layout) {
	void *data = malloc(gid_layout_size(layout));
	for (unsigned i = 0; i < STREAMS * PICTURES; i++) {
		draw(layout, data, i);
		print_digest(layout, data);
		putchar(i % PICTURES == PICTURES - 1 ? '\n' : ' ');
	}
	free(data);
}

static void flip(const struct gid_layout *layout, void *data) {
	row_of(layout, data, 40)[123] ^= 1;
}

/* Of a picture that stands still: bytes that nobody sees. */
static void change_padding(const struct gid_layout *layout, void *data, unsigned tick) {
	for (uint32_t x = 0; x < layout->width; x++) {
		row_of(layout, data, 3)[x] = (row_of(layout, data, 3)[x] & 0xffffffu) | tick << 24;
	}
}

/* What frames are dated by. */
static uint64_t ahead_ns;
uint64_t __real_gid_clock_now(void);
uint64_t __wrap_gid_clock_now(void);

uint64_t __wrap_gid_clock_now(void) {
	return __real_gid_clock_now() + ahead_ns;
}

static int take(struct gid_slab *slab, struct liar *liar) {
	int slot;
	while ((slot = gid_slab_take(slab)) < 0) {
		for (unsigned i = 0; i < STREAMS; i++) {
			gid_producer_dispatch(liar->producers[i]);
		}
		pause_ms(1);
	}
	return slot;
}

/* Entries without a picture, as many as rings take between two looks at the consumers. */
static void send_notes(struct liar *liar, unsigned stream) {
	for (unsigned i = 0; i < 64; i++) {
		struct gid_frame frame = GID_FRAME_INIT;
		frame.flags = i % 2 == 0 ? GID_FRAME_EOS : GID_FRAME_HIDDEN;
		gid_producer_send(liar->producers[stream], &frame);
	}
}

/* Says to all who read it that they had more frames than were ever sent. */
static void break_rings(const struct gid_producer *producer) {
	struct gid_subscription *subscription = producer->subscriptions;
	for (; subscription != NULL; subscription = subscription->next) {
		__atomic_store_n(&subscription->ring.ring->tail, 0, __ATOMIC_RELEASE);
		gid_doorbell_ring(&subscription->doorbell);
	}
}

/* Sends one frame to the stream; `mode` MODES is honest. */
static void send_frame(struct liar *liar, unsigned stream, unsigned tick, enum mode mode) {
	struct gid_slab *slab = mode == SMALL ? liar->small : liar->slab;
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	unsigned shown = mode == SWAP ? 1 - stream : stream;
	int slot = take(slab, liar);
	void *data = gid_slab_data(slab, (uint32_t)slot);
	bool still = mode == FREEZE || mode == PADDING;
	draw(&info.layout, data, shown * PICTURES + (still ? 0 : tick % PICTURES));
	if (mode == PADDING) {
		change_padding(&info.layout, data, tick);
	}
	if (mode == FORGE) {
		flip(&info.layout, data);
	}
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(slab, (uint32_t)slot);
	frame.content_hash = hash_of(&info.layout, data);
	frame.flags = mode == NO_HASH	    ? 0
			: mode == CORRUPTED ? GID_FRAME_HASH | GID_FRAME_CORRUPTED
					    : GID_FRAME_HASH;
	if (mode == FLIP) {
		flip(&info.layout, data);
	}
	if (mode == REPLAY) {
		liar->producers[stream]->sequence -= 1;
	}
	ahead_ns = mode == AHEAD ? AHEAD_NS : 0;
	int sent = gid_producer_send(liar->producers[stream], &frame);
	ahead_ns = 0;
	if (sent == 0) {
		gid_slab_give(slab, (uint32_t)slot);
	}
	if (mode == LATE_FLIP && sent > 0) {
		pause_ms(3); /* it was looked at, and is not composed yet */
		flip(&info.layout, data);
	}
}

static void handle_released(void *data, gid_id gid) {
	struct liar *liar = data;
	struct gid_slab *slabs[] = {liar->slab, liar->small};
	for (unsigned i = 0; i < 2; i++) {
		if (gid_slab_key(gid_slab_gid(slabs[i], 0)) == gid_slab_key(gid)) {
			gid_slab_give(slabs[i], gid_slot_of(gid));
		}
	}
}

static int start(struct liar *liar) {
	struct gid_layout small;
	struct gid_producer_options options = {.size = sizeof(options),
			.lease_ns = LEASE_NS,
			.released = handle_released,
			.data = liar};
	int ret = gid_domain_connect(NULL, &liar->domain);
	if (ret == 0) {
		gid_layout_init(&small, DRM_FORMAT_XRGB8888, WIDTH / 2, HEIGHT / 2, 64);
		ret = gid_slab_create(liar->domain, &liar->layout, 0, SLOTS, NULL, &liar->slab);
	}
	if (ret == 0) {
		ret = gid_slab_create(liar->domain, &small, 0, SLOTS, NULL, &liar->small);
	}
	if (ret == 0) {
		ret = gid_producer_create(
				liar->domain, "safety/left", &options, &liar->producers[0]);
	}
	if (ret == 0) {
		ret = gid_producer_create(
				liar->domain, "safety/right", &options, &liar->producers[1]);
	}
	return ret;
}

int main(int argc, char **argv) {
	struct liar liar = {0};
	gid_layout_init(&liar.layout, DRM_FORMAT_XRGB8888, WIDTH, HEIGHT, 64);
	if (argc == 2 && strcmp(argv[1], "hashes") == 0) {
		print_hashes(&liar.layout);
		return EXIT_SUCCESS;
	}
	enum mode mode = 0;
	while (argc == 2 && mode < MODES && strcmp(argv[1], mode_names[mode]) != 0) {
		mode++;
	}
	if (argc != 2 || mode == MODES || start(&liar) != 0) {
		fprintf(stderr, "usage: liar MODE, with a gidd\n");
		return EXIT_FAILURE;
	}
	signal(SIGUSR1, change_mind);
	for (unsigned tick = 0;; tick++) {
		gid_domain_dispatch(liar.domain);
		for (unsigned i = 0; i < STREAMS; i++) {
			gid_producer_dispatch(liar.producers[i]);
			if (lies && mode == NOTES) {
				send_notes(&liar, i);
			} else if (lies && mode == BREAK) {
				break_rings(liar.producers[i]);
			} else {
				send_frame(&liar, i, tick, lies ? mode : MODES);
			}
		}
		if (mode != FLOOD && !(lies && mode == NOTES)) {
			pause_ms(PERIOD_MS);
		}
	}
}
