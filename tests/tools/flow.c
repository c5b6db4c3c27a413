// SPDX-License-Identifier: MIT
/*
 * Frames that flow, for tests of what looks at them:
 *
 *     flow produce STREAM FRAMES-A-SECOND
 *     flow consume DOMAIN STREAM HOLD      holds the last HOLD frames
 *     flow publish STREAM FOURCC WIDTH HEIGHT TRANSFORM X Y WIDTH HEIGHT
 *                                          the picture on standard input, seen like that
 *
 * until SIGTERM; SIGUSR1 stops what is published, and the next one lets it go on. Says "ready" once
 * it has what it needs.
 *
 *     flow formats                         those that gidway knows, a line each
 */
#include <errno.h>
#include <gid/stream.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define XRGB8888 0x34325258u /* DRM_FORMAT_XRGB8888 */
#define HOLD_MAX 8u

static volatile sig_atomic_t over, silent;

static void handle_signal(int number) {
	if (number == SIGUSR1) {
		silent = !silent;
	} else {
		over = 1;
	}
}

static void fail(const char *what, const char *why) {
	fprintf(stderr, "flow: %s: %s\n", what, why);
	exit(1);
}

static void released(void *data, gid_id gid) {
	gid_slab_give(data, gid_slot_of(gid));
}

static void pause_ms(long ms) {
	struct timespec pause = {.tv_nsec = ms * 1000000};
	nanosleep(&pause, NULL);
}

/* Each slot has the picture. */
static struct gid_slab *read_slab(struct gid_domain *domain, const struct gid_layout *layout) {
	struct gid_slab *slab;
	size_t size = gid_layout_size(layout);
	if (size == 0 || gid_slab_create(domain, layout, 0, 8, "flow", &slab) < 0) {
		fail("slab", gid_domain_error(domain));
	}
	uint8_t *bytes = gid_slab_data(slab, 0);
	if (fread(bytes, 1, size, stdin) != size || getchar() != EOF) {
		fail("the picture", "has another size");
	}
	for (uint32_t slot = 1; slot < 8; slot++) {
		memcpy(gid_slab_data(slab, slot), bytes, size);
	}
	return slab;
}

static void publish(struct gid_domain *domain, const char *name, const char *fourcc,
		const int numbers[7]) {
	struct gid_layout layout;
	uint32_t code = 0;
	for (size_t i = 0; i < 4; i++) {
		code |= (uint32_t)(unsigned char)fourcc[i] << 8 * i;
	}
	if (gid_layout_init(&layout, code, (uint32_t)numbers[0], (uint32_t)numbers[1], 1) < 0) {
		fail(fourcc, "no layout");
	}
	struct gid_slab *slab = read_slab(domain, &layout);
	struct gid_producer_options options = {
			.size = sizeof(options), .released = released, .data = slab};
	struct gid_producer *producer;
	if (gid_producer_create(domain, name, &options, &producer) < 0) {
		fail(name, gid_domain_error(domain));
	}
	puts("ready");
	fflush(stdout);
	for (; !over; pause_ms(20)) {
		gid_domain_dispatch(domain);
		gid_producer_dispatch(producer);
		int slot = silent ? -1 : gid_slab_take(slab);
		struct gid_frame frame = GID_FRAME_INIT;
		frame.transform = (uint32_t)numbers[2];
		frame.crop = (struct gid_box){numbers[3], numbers[4], numbers[5], numbers[6]};
		if (slot >= 0) {
			frame.gid = gid_slab_gid(slab, (uint32_t)slot);
			if (gid_producer_send(producer, &frame) <= 0) {
				gid_slab_give(slab, (uint32_t)slot);
			}
		}
	}
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
}

static void print_formats(void) {
	const struct gid_format_info *format;
	for (size_t i = 0; (format = gid_format_at(i)) != NULL; i++) {
		printf("%.4s\n", (const char *)&format->fourcc);
	}
}

static void produce(struct gid_domain *domain, const char *name, double rate) {
	struct gid_layout layout;
	struct gid_slab *slab;
	gid_layout_init(&layout, XRGB8888, 64, 32, 64);
	if (gid_slab_create(domain, &layout, 0, 16, "flow", &slab) < 0) {
		fail("slab", gid_domain_error(domain));
	}
	struct gid_producer_options options = {
			.size = sizeof(options), .released = released, .data = slab};
	struct gid_producer *producer;
	if (gid_producer_create(domain, name, &options, &producer) < 0) {
		fail(name, gid_domain_error(domain));
	}
	puts("ready");
	fflush(stdout);
	for (uint32_t count = 1; !over; count++) {
		struct timespec pause = {.tv_nsec = (long)(1e9 / rate)};
		nanosleep(&pause, NULL);
		gid_domain_dispatch(domain);
		gid_producer_dispatch(producer);
		int slot = gid_slab_take(slab);
		if (slot < 0) {
			continue;
		}
		struct gid_frame frame = GID_FRAME_INIT;
		frame.gid = gid_slab_gid(slab, (uint32_t)slot);
		frame.pts = count;
		if (count % 10 == 0) {
			frame.flags = GID_FRAME_COPIED;
			gid_producer_count_copy_for(producer, GID_COPY_UPSTREAM_MEMORY, 8192);
		}
		if (gid_producer_send(producer, &frame) <= 0) {
			gid_slab_give(slab, (uint32_t)slot);
		}
	}
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
}

static void consume(struct gid_domain *domain, const char *peer, const char *name, uint32_t hold) {
	struct gid_consumer_options options = {
			.size = sizeof(options), .credit = 8, .reconnect = true};
	struct gid_consumer *consumer;
	struct gid_frame held[HOLD_MAX];
	uint32_t count = 0;
	if (hold >= HOLD_MAX) {
		fail("hold", "too many");
	}
	if (gid_consumer_create(domain, peer, name, &options, &consumer) < 0) {
		fail(name, gid_domain_error(domain));
	}
	puts("ready");
	fflush(stdout);
	while (!over) {
		if (gid_consumer_wait(consumer, 200) <= 0 ||
				gid_consumer_receive(consumer, &held[count]) != 1) {
			continue;
		}
		if (++count > hold) {
			gid_consumer_release(consumer, &held[0]);
			memmove(held, held + 1, --count * sizeof(held[0]));
		}
	}
	gid_consumer_destroy(consumer);
}

int main(int argc, char **argv) {
	struct gid_domain *domain;
	struct sigaction action = {.sa_handler = handle_signal};
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	if (argc == 2 && strcmp(argv[1], "formats") == 0) {
		print_formats();
		return 0;
	}
	if (gid_domain_connect(NULL, &domain) < 0) {
		fail("domain", gid_domain_connect_error());
	}
	if (argc == 4 && strcmp(argv[1], "produce") == 0) {
		produce(domain, argv[2], atof(argv[3]));
	} else if (argc == 5 && strcmp(argv[1], "consume") == 0) {
		consume(domain, argv[2], argv[3], (uint32_t)atoi(argv[4]));
	} else if (argc == 11 && strcmp(argv[1], "publish") == 0 && strlen(argv[3]) == 4) {
		int numbers[7];
		for (int i = 0; i < 7; i++) {
			numbers[i] = atoi(argv[4 + i]);
		}
		publish(domain, argv[2], argv[3], numbers);
	} else {
		fail("usage", "flow produce|consume|publish|formats …");
	}
	gid_domain_destroy(domain);
	return 0;
}
