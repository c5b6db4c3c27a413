// SPDX-License-Identifier: MIT
/*
 * A safety picture in dma-bufs of its own, as a camera or a graphics card would bring it: two of
 * them, made by /dev/udmabuf, in turn, as frames of the stream `safety/lamp` with their hashes.
 *
 * dmabuf-lamp WIDTH HEIGHT [LEAD [moving]], with so many bytes before each picture
 *
 * `moving`: as fast as a screen, six of them, each drawn anew as soon as nobody holds it.
 *
 * After SIGUSR1 it sends no other, and a second later, when the last one is shown, it draws over
 * those that it has sent.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <gid/stream.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../cluster/base/pixels.h"
#include "made_dmabuf.h"

#define PICTURES 2
#define PICTURES_MOVING 6
#define PERIOD_MS 100 /* a guest draws slowly */
#define PERIOD_MOVING_MS 16
#define LEASE_NS 600000000000ull
#define LEAD 4096u

struct lamp {
	struct gid_domain *domain;
	struct gid_layout layout;
	struct gid_producer *producer;
	unsigned count; /* of what follows */
	struct gid_slab *slabs[PICTURES_MOVING];
	uint64_t hashes[PICTURES_MOVING];
	uint8_t *memory[PICTURES_MOVING];
	size_t lead, size; /* in bytes: before the picture, and of all */
};

static volatile sig_atomic_t lies;

static void handle_signal(int number) {
	lies = 1;
}

/* Into the memory of this index. Returns 0 or -errno. */
static int lamp_draw(struct lamp *lamp, unsigned i, unsigned picture) {
	const struct gid_layout *layout = &lamp->layout;
	uint8_t *data = lamp->memory[i] + lamp->lead;
	for (uint32_t y = 0; y < layout->height; y++) {
		uint32_t *row = (uint32_t *)(data + (size_t)y * layout->planes[0].stride);
		for (uint32_t x = 0; x < layout->width; x++) {
			row[x] = 0xff000000u | (picture * 0x4f3b5u + x * 3 + y * 0x700u);
		}
	}
	struct pixels pixels = {data, layout->width, layout->height, layout->planes[0].stride};
	struct pixel_hashes hashes;
	int ret = pixels_hash(&pixels, &hashes, NULL);
	lamp->hashes[i] = hashes.content;
	return ret;
}

/* Whether the picture is drawn, and its memory exported. */
static int lamp_make(struct lamp *lamp, unsigned i) {
	size_t size = (lamp->lead + gid_layout_size(&lamp->layout) + 4095) / 4096 * 4096;
	int fd = make_dmabuf(size);
	uint8_t *data = fd < 0 ? MAP_FAILED
			       : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED) {
		return -1;
	}
	lamp->memory[i] = data;
	lamp->size = size;
	int ret = lamp_draw(lamp, i, i);
	if (ret == 0) {
		ret = gid_slab_export(
				lamp->domain, fd, lamp->lead, &lamp->layout, NULL, &lamp->slabs[i]);
	}
	close(fd);
	return ret;
}

static int lamp_send(struct lamp *lamp, unsigned i) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(lamp->slabs[i], 0);
	frame.content_hash = lamp->hashes[i];
	frame.flags = GID_FRAME_HASH;
	return gid_producer_send(lamp->producer, &frame);
}

/* Returns 0, also where all are held, or -errno. */
static int lamp_send_another(struct lamp *lamp, unsigned picture) {
	for (unsigned i = 0; i < lamp->count; i++) {
		if (gid_slab_holders(lamp->slabs[i], 0) == 0) {
			int ret = lamp_draw(lamp, i, picture);
			return ret == 0 ? lamp_send(lamp, i) : ret;
		}
	}
	return 0;
}

int main(int argc, char **argv) {
	struct lamp lamp = {0};
	/* Memory that is brought is gone when its lease is over, which a busy guest may take. */
	struct gid_producer_options options = {.size = sizeof(options), .lease_ns = LEASE_NS};
	if (argc < 3 || gid_domain_connect(NULL, &lamp.domain) != 0) {
		errx(EXIT_FAILURE, "usage: dmabuf-lamp WIDTH HEIGHT [LEAD [moving]], with a gidd");
	}
	lamp.lead = argc > 3 ? (size_t)atoi(argv[3]) : LEAD;
	bool moving = argc > 4;
	lamp.count = moving ? PICTURES_MOVING : PICTURES;
	gid_layout_init(&lamp.layout, DRM_FORMAT_XRGB8888, (uint32_t)atoi(argv[1]),
			(uint32_t)atoi(argv[2]), 64);
	for (unsigned i = 0; i < lamp.count; i++) {
		if (lamp_make(&lamp, i) != 0) {
			err(EXIT_FAILURE, "no dma-buf to be shared: %s",
					gid_domain_error(lamp.domain));
		}
	}
	if (gid_producer_create(lamp.domain, "safety/lamp", &options, &lamp.producer) != 0) {
		errx(EXIT_FAILURE, "%s", gid_domain_error(lamp.domain));
	}
	signal(SIGUSR1, handle_signal);
	unsigned ended = 0; /* periods since the last frame */
	for (unsigned tick = 0;; tick++) {
		gid_domain_dispatch(lamp.domain);
		gid_producer_dispatch(lamp.producer);
		if (lies && ended < 1000 / PERIOD_MS) {
			ended++;
		} else if (lies) {
			for (unsigned i = 0; i < lamp.count; i++) {
				memset(lamp.memory[i] + lamp.lead, 0x55, lamp.size - lamp.lead);
			}
		} else if ((moving ? lamp_send_another(&lamp, tick)
				   : lamp_send(&lamp, tick % PICTURES)) < 0) {
			errx(EXIT_FAILURE, "%s", gid_domain_error(lamp.domain));
		}
		int period = moving ? PERIOD_MOVING_MS : PERIOD_MS;
		nanosleep(&(struct timespec){.tv_nsec = period * 1000000}, NULL);
	}
}
