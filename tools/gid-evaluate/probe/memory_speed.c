// SPDX-License-Identifier: MIT
/*
 * Memory as the evaluation report has it (5.11): a chain of loads, each at the address that the one
 * before gave, so that nothing overlaps. `private` is anonymous memory, `slab` that of a gid slab
 * as its owner maps it.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <gid/domain.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "probe.h"

#define MEMORY_SIZE (64u << 20)
#define LINE 64u
#define PAGE 4096u
#define ROUNDS 7
#define LOADS 1000000u /* eight in each turn */

/* A chain through `size` bytes in steps of `step`; random order unless `in_order`. */
static void make_chain(uint8_t *memory, size_t size, size_t step, bool in_order) {
	size_t count = size / step;
	uint32_t *order = calloc(count, sizeof(*order));
	if (order == NULL) {
		err(1, "chain");
	}
	for (size_t i = 0; i < count; i++) {
		order[i] = (uint32_t)i;
	}
	uint64_t state = 88172645463325252u; /* xorshift64, Marsaglia 2003 */
	for (size_t i = count - 1; !in_order && i > 0; i--) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		size_t j = state % (i + 1);
		uint32_t other = order[j];
		order[j] = order[i];
		order[i] = other;
	}
	for (size_t i = 0; i < count; i++) {
		void *next = memory + order[(i + 1) % count] * step;
		memcpy(memory + order[i] * step, &next, sizeof(next));
	}
	free(order);
}

static double chase(const uint8_t *memory) {
	void *const *place = (void *const *)memory;
	uint64_t begin = probe_now();
	for (uint32_t i = 0; i < LOADS / 8; i++) {
		for (int j = 0; j < 8; j++) {
			place = *place;
		}
	}
	uint64_t end = probe_now();
	__asm__ volatile("" : : "r"(place)); /* or the loop would be left out */
	return (double)(end - begin) / LOADS;
}

static void measure_latency(const char *what, uint8_t *memory, size_t step, bool in_order) {
	static const size_t sizes[] = {
			16u << 10, 256u << 10, 1u << 20, 4u << 20, 16u << 20, 64u << 20};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (sizes[i] < 4 * step) {
			continue;
		}
		struct figure figure;
		char name[64];
		figure_init(&figure, "ns", ROUNDS);
		make_chain(memory, sizes[i], step, in_order);
		chase(memory);
		for (int round = 0; round < ROUNDS; round++) {
			figure_add(&figure, chase(memory));
		}
		snprintf(name, sizeof(name), "%s %zu KiB", what, sizes[i] >> 10);
		probe_print(name, &figure);
		figure_finish(&figure);
	}
}

/* Writes of 8 bytes into lines at random (5.11.4): nothing waits for the one before. */
static void measure_random_writes(uint8_t *memory) {
	static const size_t sizes[] = {2u << 20, 16u << 20, 64u << 20};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct figure figure;
		char name[64];
		uint64_t state = 88172645463325252u;
		figure_init(&figure, "ns", ROUNDS);
		for (int round = 0; round < ROUNDS; round++) {
			uint64_t begin = probe_now();
			for (uint32_t k = 0; k < LOADS; k++) {
				state ^= state << 13;
				state ^= state >> 7;
				state ^= state << 17;
				size_t at = (size_t)state & (sizes[i] - 1) & ~(size_t)(LINE - 1);
				memcpy(memory + at, &state, sizeof(state));
			}
			figure_add(&figure, (double)(probe_now() - begin) / LOADS);
		}
		snprintf(name, sizeof(name), "random writes %zu KiB", sizes[i] >> 10);
		probe_print(name, &figure);
		figure_finish(&figure);
	}
}

static uint64_t read_all(const uint8_t *memory) {
	uint64_t sum = 0;
	for (size_t i = 0; i < MEMORY_SIZE / sizeof(sum); i++) {
		sum += ((const uint64_t *)memory)[i];
	}
	return sum;
}

struct speed {
	double writing, reading; /* MB/s */
};

static struct speed speed_of(uint8_t *memory, int value) {
	uint64_t begin = probe_now();
	memset(memory, value, MEMORY_SIZE);
	uint64_t middle = probe_now();
	uint64_t sum = read_all(memory);
	__asm__ volatile("" : : "r"(sum));
	uint64_t end = probe_now();
	return (struct speed){
			.writing = MEMORY_SIZE * 1e3 / (double)(middle - begin),
			.reading = MEMORY_SIZE * 1e3 / (double)(end - middle),
	};
}

static void measure_bandwidth(uint8_t *memory) {
	struct figure reading, writing;
	figure_init(&reading, "MB/s", ROUNDS);
	figure_init(&writing, "MB/s", ROUNDS);
	for (int round = 0; round < ROUNDS; round++) {
		struct speed speed = speed_of(memory, round);
		figure_add(&writing, speed.writing);
		figure_add(&reading, speed.reading);
	}
	probe_print("read", &reading);
	probe_print("write", &writing);
	figure_finish(&reading);
	figure_finish(&writing);
}

static uint8_t *private_memory(size_t size) {
	uint8_t *memory = mmap(
			NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		err(1, "%zu bytes", size);
	}
	return memory;
}

/* Turn by turn, for a virtual machine's memory can be twice as fast in one minute as in the next.
 */
static void measure_ratio(uint8_t *slab) {
	struct figure ratio;
	figure_init(&ratio, "", ROUNDS);
	for (int round = 0; round < ROUNDS; round++) {
		uint8_t *memory = private_memory(MEMORY_SIZE);
		speed_of(memory, round); /* its pages are got here */
		double private = speed_of(memory, round).reading;
		figure_add(&ratio, private / speed_of(slab, round).reading);
		munmap(memory, MEMORY_SIZE);
	}
	probe_print("read, private memory in turn, ratio", &ratio);
	figure_finish(&ratio);
}

/* Allocates, writes into each page and frees (5.11.5). */
static void measure_allocation(void) {
	static const size_t sizes[] = {2u << 20, 16u << 20, 64u << 20};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct figure figure;
		char name[64];
		figure_init(&figure, "ms", ROUNDS);
		for (int round = 0; round < ROUNDS; round++) {
			uint64_t begin = probe_now();
			uint8_t *memory = private_memory(sizes[i]);
			for (size_t at = 0; at < sizes[i]; at += PAGE) {
				memory[at] = 1;
			}
			munmap(memory, sizes[i]);
			figure_add(&figure, (double)(probe_now() - begin) / 1e6);
		}
		snprintf(name, sizeof(name), "allocate, touch, free %zu MiB", sizes[i] >> 20);
		probe_print(name, &figure);
		figure_finish(&figure);
	}
}

static void measure(uint8_t *memory, bool is_private) {
	memset(memory, 1, MEMORY_SIZE);
	probe_begin();
	measure_bandwidth(memory);
	if (!is_private) {
		measure_ratio(memory);
	}
	measure_latency("in order", memory, LINE, true);
	measure_latency("random", memory, LINE, false);
	measure_latency("page by page", memory, PAGE + LINE, false);
	measure_random_writes(memory);
	if (is_private) {
		measure_allocation();
	}
	probe_end();
}

static int measure_slab(void) {
	struct gid_domain *domain;
	struct gid_slab *slab;
	struct gid_layout layout;
	probe_connect(NULL, &domain);
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 4096, MEMORY_SIZE / 4096 / 4, 64);
	if (gid_slab_create(domain, &layout, 0, 1, NULL, &slab) < 0) {
		errx(1, "%s", gid_domain_error(domain));
	}
	measure(gid_slab_data(slab, 0), false);
	gid_slab_destroy(slab, false);
	gid_domain_destroy(domain);
	return 0;
}

int probe_memory(int argc, char **argv) {
	const char *kind = argc > 1 ? argv[1] : "private";
	probe_pin(probe_core(1));
	if (strcmp(kind, "slab") == 0) {
		return measure_slab();
	}
	if (strcmp(kind, "private") != 0) {
		errx(2, "memory: private or slab, not %s", kind);
	}
	uint8_t *memory = private_memory(MEMORY_SIZE);
	measure(memory, true);
	munmap(memory, MEMORY_SIZE);
	return 0;
}
