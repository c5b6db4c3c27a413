// SPDX-License-Identifier: MIT
/*
 * The least that reads pictures: for each frame of a stream, how long it was on its way, and the
 * colour of its first pixel. It waits for the stream to appear, and again when it goes.
 *
 * Usage: consume [-d DOMAIN] STREAM [FRAMES]. DOMAIN is whose stream it is (default: our own).
 *
 * Build: cc consume.c $(pkg-config --cflags --libs libgid)
 */
#include <errno.h>
#include <gid/stream.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the picture where it lies. Returns whether it was still there when we had read it. */
static bool read_pixel(struct gid_domain *domain, const struct gid_frame *frame, uint32_t *pixel) {
	struct gid_slab *slab;
	struct gid_slab_info info;
	if (gid_slab_import(domain, frame->gid, &slab) <
			0) { /* asks gidd for the first frame only */
		return false;
	}
	gid_slab_get_info(slab, &info);
	const uint8_t *slot = gid_slab_view(slab, gid_slot_of(frame->gid));
	bool there = slot != NULL &&
			info.slot_size >= info.layout.planes[0].offset + sizeof(*pixel);
	if (there) {
		memcpy(pixel, slot + info.layout.planes[0].offset, sizeof(*pixel));
		there = gid_slab_is_current(slab, frame->gid);
	}
	gid_slab_unref(slab); /* stays mapped for the next frame */
	return there;
}

static void show(struct gid_domain *domain, const struct gid_frame *frame) {
	/* Less than 0 where the producer's clock is ahead, or it says what is not true. */
	int64_t late = (int64_t)(gid_clock_now() - frame->submit_time);
	uint32_t pixel;
	if (frame->flags & GID_FRAME_EOS) {
		printf("the flow has ended\n");
	} else if (frame->gid != GID_NONE && read_pixel(domain, frame, &pixel)) {
		printf("frame %" PRIu64 ": %" PRId64 " us on its way, first pixel %08" PRIx32 "\n",
				frame->sequence, late / 1000, pixel);
	}
	fflush(stdout);
}

int main(int argc, char **argv) {
	const char *owner = NULL;
	if (argc > 2 && strcmp(argv[1], "-d") == 0) {
		owner = argv[2];
		argc -= 2;
		argv += 2;
	}
	uint64_t frames = argc > 2 ? strtoull(argv[2], NULL, 10) : UINT64_MAX;
	if (argc < 2 || argv[1][0] == '-' || frames == 0) {
		fprintf(stderr, "Usage: consume [-d DOMAIN] STREAM [FRAMES]\n");
		return EXIT_FAILURE;
	}
	struct gid_domain *domain;
	if (gid_domain_connect(NULL, &domain) < 0) {
		fprintf(stderr, "consume: %s\n", gid_domain_connect_error());
		return EXIT_FAILURE;
	}
	struct gid_consumer_options options = {.size = sizeof(options), .reconnect = true};
	struct gid_consumer *consumer = NULL;
	int error = gid_consumer_create(domain, owner, argv[1], &options, &consumer);
	for (uint64_t count = 0; error >= 0 && count < frames;) {
		/* With an event loop: its descriptor, and that of the domain. */
		error = gid_consumer_wait(consumer, -1);
		struct gid_frame frame;
		while (error >= 0 && count < frames &&
				(error = gid_consumer_receive(consumer, &frame)) == 1) {
			show(domain, &frame);
			gid_consumer_release(
					consumer, &frame); /* within its lease, 1 s by default */
			count++;
		}
		/* None is there now, or nobody sends: both may come. */
		error = error == -EAGAIN ? 0 : error;
	}
	if (error < 0) {
		const char *why =
				gid_domain_error(domain); /* in gidd's own words, if it has some */
		fprintf(stderr, "consume: %s\n", why[0] != '\0' ? why : gid_strerror(error));
	}
	gid_consumer_destroy(consumer);
	gid_domain_destroy(domain);
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
