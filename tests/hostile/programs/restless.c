// SPDX-License-Identifier: MIT
/*
 * hostile-restless MODE STREAM WIDTH HEIGHT: a producer of which nothing stays as it was from one
 * frame to the next. Reaches into libgid where an honest program could not do it.
 *
 * `formats`: each frame in another format, size and transform. `narrow`: as wide, or as high, as a
 * picture can be, and one pixel in the other direction. `slabs`: each in memory of its own, which
 * is taken back at once. `restarts`: each of a stream that ends with it. `dates`: of any time, and
 * with sequence numbers that go back.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <gid/stream.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../../libgid/producer.h"
#include "ending.h"

#define SLABS 24u
#define SENT_NS 20000000 /* how long it waits for who reads a frame */
#define PAUSE_NS 2000000

struct restless {
	struct gid_domain *domain;
	struct gid_producer *producer;
	const char *stream;
	uint32_t width, height;
	struct gid_slab *slabs[SLABS];
	uint64_t turn, sent, refused;
};

static uint64_t dated; /* that the next frame is sent at; 0: now */

uint64_t __real_gid_clock_now(void);
uint64_t __wrap_gid_clock_now(void);

uint64_t __wrap_gid_clock_now(void) {
	return dated != 0 ? dated : __real_gid_clock_now();
}

static void pause_ns(long ns) {
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static void check(int error, const char *what) {
	if (error < 0) {
		errx(EXIT_FAILURE, "%s: %s", what, gid_strerror(error));
	}
}

static struct gid_slab *make_slab(
		struct restless *restless, uint32_t fourcc, uint32_t width, uint32_t height) {
	struct gid_layout layout;
	struct gid_slab *slab = NULL;
	check(gid_layout_init(&layout, fourcc, width, height, 64), "the layout");
	int error = gid_slab_create(restless->domain, &layout, 0, 1, NULL, &slab);
	if (error < 0) {
		restless->refused++; /* others hold what it may have */
		return NULL;
	}
	memset(gid_slab_data(slab, 0), 0x55, gid_layout_size(&layout));
	return slab;
}

static void send(struct restless *restless, struct gid_slab *slab, uint32_t transform) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(slab, 0);
	frame.transform = transform;
	frame.capture_time = dated;
	*(gid_producer_send(restless->producer, &frame) > 0 ? &restless->sent
							    : &restless->refused) += 1;
}

static const struct gid_format_info *format_at(uint64_t turn) {
	size_t count = 0;
	while (gid_format_at(count) != NULL) {
		count++;
	}
	return gid_format_at(turn % count);
}

/* One of its slabs, which is made at its first turn. */
static struct gid_slab **slab_at(struct restless *restless, unsigned slabs) {
	return &restless->slabs[restless->turn % slabs];
}

static void do_formats(struct restless *restless) {
	struct gid_slab **slab = slab_at(restless, SLABS);
	uint32_t transform = (uint32_t)(restless->turn % 8), by = restless->turn % 3 == 2 ? 2 : 1;
	uint32_t width = restless->width / by, height = restless->height / by;
	if (*slab == NULL) {
		const struct gid_format_info *format = format_at(restless->turn * 7);
		*slab = make_slab(restless, format->fourcc, transform % 2 ? height : width,
				transform % 2 ? width : height);
	}
	if (*slab != NULL) {
		send(restless, *slab, transform);
	}
	pause_ns(PAUSE_NS);
}

static void do_narrow(struct restless *restless) {
	static const uint32_t kinds[] = {DRM_FORMAT_XRGB8888, DRM_FORMAT_P010};
	struct gid_slab **slab = slab_at(restless, 4);
	bool wide = restless->turn % 2;
	if (*slab == NULL) {
		*slab = make_slab(restless, kinds[restless->turn / 2 % 2], wide ? GID_SIZE_MAX : 1,
				wide ? 1 : GID_SIZE_MAX);
	}
	if (*slab != NULL) {
		send(restless, *slab, (uint32_t)(restless->turn / 4 % 8));
	}
	pause_ns(PAUSE_NS);
}

static void do_slabs(struct restless *restless) {
	struct gid_slab *slab =
			make_slab(restless, DRM_FORMAT_XRGB8888, restless->width, restless->height);
	if (slab == NULL) {
		pause_ns(SENT_NS);
		return;
	}
	send(restless, slab, 0);
	pause_ns((long)(restless->turn % 8) * PAUSE_NS); /* as it is read, or later, or before */
	gid_slab_destroy(slab, restless->turn % 2);
}

static void publish(struct restless *restless) {
	check(gid_producer_create(restless->domain, restless->stream,
			      &(struct gid_producer_options){
					      .size = sizeof(struct gid_producer_options)},
			      &restless->producer),
			restless->stream);
}

static void do_restarts(struct restless *restless) {
	struct gid_slab **slab = slab_at(restless, 1);
	if (*slab == NULL) {
		*slab = make_slab(restless, DRM_FORMAT_XRGB8888, restless->width, restless->height);
	}
	if (*slab != NULL) {
		send(restless, *slab, 0);
	}
	pause_ns((long)(restless->turn % 4) * PAUSE_NS);
	gid_producer_destroy(restless->producer);
	publish(restless);
}

static void do_dates(struct restless *restless) {
	static const uint64_t dates[] = {
			1, UINT64_MAX, UINT64_MAX / 2, INT64_MAX, (uint64_t)1 << 63, 1000000000};
	struct gid_slab **slab = slab_at(restless, 4);
	if (*slab == NULL) {
		*slab = make_slab(restless, DRM_FORMAT_XRGB8888, restless->width, restless->height);
	}
	restless->producer->sequence -= restless->turn % 5 == 0 ? restless->turn % 64 : 0;
	dated = dates[restless->turn % (sizeof(dates) / sizeof(dates[0]))];
	if (*slab != NULL) {
		send(restless, *slab, 0);
	}
	dated = 0;
	pause_ns(PAUSE_NS);
}

static const struct {
	const char *name;
	void (*act)(struct restless *restless);
} modes[] = {{"formats", do_formats}, {"narrow", do_narrow}, {"slabs", do_slabs},
		{"restarts", do_restarts}, {"dates", do_dates}};
#define MODES (sizeof(modes) / sizeof(modes[0]))

int main(int argc, char **argv) {
	static struct restless restless;
	unsigned mode = 0;
	while (argc == 5 && mode < MODES && strcmp(argv[1], modes[mode].name) != 0) {
		mode++;
	}
	if (argc != 5 || mode == MODES) {
		errx(EXIT_FAILURE,
				"usage: hostile-restless formats|narrow|slabs|restarts|dates "
				"STREAM WIDTH HEIGHT");
	}
	restless.stream = argv[2];
	restless.width = (uint32_t)atoi(argv[3]);
	restless.height = (uint32_t)atoi(argv[4]);
	if (gid_domain_connect(NULL, &restless.domain) < 0) {
		errx(EXIT_FAILURE, "%s", gid_domain_connect_error());
	}
	publish(&restless);
	ending_init();
	while (!ending) {
		gid_domain_dispatch(restless.domain);
		gid_producer_dispatch(restless.producer);
		if (restless.producer->subscriptions != NULL) {
			modes[mode].act(&restless);
			restless.turn++;
		} else {
			pause_ns(PAUSE_NS / 8);
		}
	}
	printf("{\"sent\": %" PRIu64 ", \"refused\": %" PRIu64 "}\n", restless.sent,
			restless.refused);
	return EXIT_SUCCESS;
}
