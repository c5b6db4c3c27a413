// SPDX-License-Identifier: MIT
/*
 * The least that sends pictures: a bar that moves, 30 times a second, drawn straight into the
 * memory that consumers read.
 *
 * Usage: produce STREAM [FRAMES]. Which domain it is in $GID_DOMAIN says, unless there is only one.
 * Watch it by `consume`, `gid-view` or `gst-launch-1.0 gidsrc stream=STREAM ! …`.
 *
 * Build: cc produce.c $(pkg-config --cflags --libs libgid libdrm)
 */
#include <drm_fourcc.h>
#include <gid/stream.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 320
#define HEIGHT 240
#define SLOTS 4 /* one that is drawn, one on its way, and what consumers may hold */
#define PERIOD_NS 33333333

/* The last consumer of the frame let go of it: its slot can be drawn again. */
static void released(void *data, gid_id gid) {
	gid_slab_give(data, gid_slot_of(gid));
}

static void draw(const struct gid_layout *layout, uint8_t *slot, uint64_t count) {
	for (uint32_t y = 0; y < HEIGHT; y++) {
		uint32_t *row = (uint32_t *)(slot + layout->planes[0].offset +
				(size_t)y * layout->planes[0].stride);
		for (uint32_t x = 0; x < WIDTH; x++) {
			row[x] = (x + WIDTH - count * 4 % WIDTH) % WIDTH < 40 ? 0xffffcc00
									      : 0xff203040;
		}
	}
}

/* Draws into a free slot and sends it. Nobody waits for a consumer that is slow: without a free
 * slot this picture is left out. */
static int send_picture(struct gid_producer *producer, struct gid_slab *slab,
		const struct gid_layout *layout, uint64_t count) {
	int slot = gid_slab_take(slab);
	if (slot < 0) {
		return 0;
	}
	draw(layout, gid_slab_data(slab, (uint32_t)slot), count);
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(slab, (uint32_t)slot);
	frame.capture_time = gid_clock_now();
	int sent = gid_producer_send(producer, &frame);
	if (sent < 0 || gid_slab_holders(slab, (uint32_t)slot) == 0) {
		gid_slab_give(slab, (uint32_t)slot); /* nobody has it, nor does the producer */
	}
	return sent < 0 ? sent : 0;
}

/* Sees to consumers that come and go, and to gidd, until the next picture is due. */
static void wait_until(struct gid_domain *domain, struct gid_producer *producer, uint64_t due) {
	struct pollfd fds[] = {
			{.fd = gid_domain_get_fd(domain), .events = POLLIN},
			{.fd = gid_producer_get_fd(producer), .events = POLLIN},
	};
	for (uint64_t now; (now = gid_clock_now()) < due;) {
		poll(fds, 2, (int)((due - now) / 1000000) + 1);
		gid_domain_dispatch(domain);
		gid_producer_dispatch(producer);
	}
}

int main(int argc, char **argv) {
	uint64_t frames = argc > 2 ? strtoull(argv[2], NULL, 10) : UINT64_MAX;
	struct gid_domain *domain;
	struct gid_slab *slab = NULL;
	struct gid_producer *producer = NULL;
	struct gid_layout layout;
	if (argc < 2 || frames == 0) {
		fprintf(stderr, "Usage: produce STREAM [FRAMES]\n");
		return EXIT_FAILURE;
	}
	if (gid_domain_connect(NULL, &domain) < 0) {
		fprintf(stderr, "produce: %s\n", gid_domain_connect_error());
		return EXIT_FAILURE;
	}
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, WIDTH, HEIGHT, 64);
	int error = gid_slab_create_for_stream(domain, argv[1], &layout, 0, SLOTS, NULL, &slab);
	if (error == 0) {
		struct gid_producer_options options = {
				.size = sizeof(options),
				.released = released,
				.data = slab,
				.keeps_shown = true, /* who comes late sees what is shown */
		};
		error = gid_producer_create(domain, argv[1], &options, &producer);
	}
	uint64_t due = gid_clock_now();
	for (uint64_t count = 0; error == 0 && count < frames; count++) {
		error = send_picture(producer, slab, &layout, count);
		due += PERIOD_NS;
		wait_until(domain, producer, due);
	}
	if (error < 0) {
		fprintf(stderr, "produce: %s\n", gid_domain_error(domain));
	}
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	gid_domain_destroy(domain);
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
