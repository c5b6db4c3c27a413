// SPDX-License-Identifier: MIT
/*
 * A safety picture in dma-bufs of its own, as a camera or a graphics card would bring it: two of
 * them, made by /dev/udmabuf, in turn, as frames of the stream `safety/lamp` with their hashes.
 *
 * dmabuf-lamp WIDTH HEIGHT [LEAD], with so many bytes before each picture
 *
 * After SIGUSR1 it sends no other, and a second later, when the last one is shown, it draws over
 * those that it has sent.
 */
#include "../../cluster/pixels.h"
#include "made_dmabuf.h"
#include <drm_fourcc.h>
#include <err.h>
#include <gid/stream.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PICTURES 2
#define PERIOD_MS 100 /* a guest draws slowly */
#define LEASE_NS 600000000000ull
#define LEAD 4096u

struct lamp {
	struct gid_domain *domain;
	struct gid_layout layout;
	struct gid_producer *producer;
	struct gid_slab *slabs[PICTURES];
	uint64_t hashes[PICTURES];
	uint8_t *memory[PICTURES];
	size_t lead, size; /* in bytes: before the picture, and of all */
};

static volatile sig_atomic_t lies;

static void handle_signal(int number) {
	lies = 1;
}

static void draw(const struct lamp *lamp, uint8_t *data, unsigned picture) {
	for (uint32_t y = 0; y < lamp->layout.height; y++) {
		uint32_t *row = (uint32_t *)(data + (size_t)y * lamp->layout.planes[0].stride);
		for (uint32_t x = 0; x < lamp->layout.width; x++) {
			row[x] = 0xff000000u | (picture * 0x4f3b5u + x * 3 + y * 0x700u);
		}
	}
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
	draw(lamp, data + lamp->lead, i);
	struct pixels pixels = {data + lamp->lead, lamp->layout.width, lamp->layout.height,
			lamp->layout.planes[0].stride};
	struct pixel_hashes hashes;
	int ret = pixels_hash(&pixels, &hashes, NULL);
	lamp->hashes[i] = hashes.content;
	lamp->memory[i] = data;
	lamp->size = size;
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

int main(int argc, char **argv) {
	struct lamp lamp = {0};
	/* Memory that is brought is gone when its lease is over, which a busy guest may take. */
	struct gid_producer_options options = {.size = sizeof(options), .lease_ns = LEASE_NS};
	if (argc < 3 || gid_domain_connect(NULL, &lamp.domain) != 0) {
		errx(EXIT_FAILURE, "usage: dmabuf-lamp WIDTH HEIGHT [LEAD], with a gidd");
	}
	lamp.lead = argc > 3 ? (size_t)atoi(argv[3]) : LEAD;
	gid_layout_init(&lamp.layout, DRM_FORMAT_XRGB8888, (uint32_t)atoi(argv[1]),
			(uint32_t)atoi(argv[2]), 64);
	for (unsigned i = 0; i < PICTURES; i++) {
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
			for (unsigned i = 0; i < PICTURES; i++) {
				memset(lamp.memory[i] + lamp.lead, 0x55, lamp.size - lamp.lead);
			}
		} else if (lamp_send(&lamp, tick % PICTURES) < 0) {
			errx(EXIT_FAILURE, "%s", gid_domain_error(lamp.domain));
		}
		nanosleep(&(struct timespec){.tv_nsec = PERIOD_MS * 1000000}, NULL);
	}
}
