// SPDX-License-Identifier: MIT
/*
 * gid-bench-protection WHAT WIDTH HEIGHT FRAMES: the processor's time for one picture of XRGB8888,
 * in ns. WHAT: `crc64` or `cmac`, the check of it; `copy`, its rows to memory that is there.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <gid/protection.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t own_ns(void) {
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void check(int error, const char *what) {
	if (error < 0) {
		errx(EXIT_FAILURE, "%s: %s", what, gid_strerror(error));
	}
}

static struct gid_protection *protect(const char *what) {
	static const uint8_t key[GID_PROTECTION_KEY_SIZE] = {1};
	struct gid_protection *protection = NULL;
	bool keyed = strcmp(what, "cmac") == 0;
	if (strcmp(what, "copy") != 0) {
		check(gid_protection_create(keyed ? GID_PROTECTION_CMAC : GID_PROTECTION_CRC64,
				      "bench", keyed ? key : NULL, &protection),
				what);
	}
	return protection;
}

int main(int argc, char **argv) {
	if (argc != 5) {
		errx(2, "usage: gid-bench-protection WHAT WIDTH HEIGHT FRAMES");
	}
	struct gid_layout layout;
	struct gid_frame frame = GID_FRAME_INIT;
	struct gid_check made = {0};
	struct gid_protection *protection = protect(argv[1]);
	unsigned long frames = strtoul(argv[4], NULL, 10);
	check(gid_layout_init(&layout, DRM_FORMAT_XRGB8888, (uint32_t)atoi(argv[2]),
			      (uint32_t)atoi(argv[3]), 64),
			"the picture");
	size_t size = gid_layout_size(&layout);
	uint8_t *slot = malloc(size), *copy = malloc(size);
	if (slot == NULL || copy == NULL) {
		err(EXIT_FAILURE, NULL);
	}
	for (size_t i = 0; i < size; i++) {
		slot[i] = copy[i] = (uint8_t)(i * 2654435761u >> 13);
	}
	uint64_t begin = own_ns();
	for (unsigned long i = 0; i < frames; i++) {
		slot[i % size]++; /* another picture each time */
		if (protection != NULL) {
			check(gid_protection_make(protection, &frame, &layout, slot, &made),
					argv[1]);
		} else {
			memcpy(copy, slot, size);
			__asm__ volatile("" : : "r"(copy) : "memory");
		}
	}
	printf("%.0f\n", (double)(own_ns() - begin) / (double)frames);
	gid_protection_destroy(protection);
	free(copy);
	free(slot);
	return EXIT_SUCCESS;
}
