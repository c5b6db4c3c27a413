// SPDX-License-Identifier: MIT
#include "memory_bound.h"

#include <unistd.h>
#include <wlr/render/swapchain.h>

#include "closer.h"
#include "own_picture.h"
#include "publisher.h"
#include "thread.h"
#include "wire_ring.h"

#define PIXEL 4u	/* bytes per pixel */
#define OWN_PICTURES 1u /* the fallback picture, beside those for frames */
#define HELPERS 4u	/* threads for the log, the roles' state, input, and what is connected */
#define CLOSERS 2u	/* two copies of the closer: our own, and libgid's */

/* All in bytes. */
struct memory_bound {
	uint64_t pictures; /* of roles and layers, with their fallbacks */
	uint64_t outputs;  /* buffers for composition and publishing */
	uint64_t pages;	   /* our page of each subscription's ring */
	uint64_t stacks;   /* of all threads but the first */
	uint32_t threads;  /* how many threads a sealed display has */
};

static uint64_t whole_pages(uint64_t bytes) {
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	return (bytes + page - 1) / page * page;
}

static uint64_t pictures_of(const struct gid_box *box) {
	uint64_t bytes = (uint64_t)box->width * (uint64_t)box->height * PIXEL;
	return (PICTURE_POOL_SIZE + OWN_PICTURES) * whole_pages(bytes);
}

static uint64_t buffers_of(const struct output_config *output) {
	uint64_t width = output->width > 0 ? output->width : OUTPUT_WIDTH;
	uint64_t height = output->height > 0 ? output->height : OUTPUT_HEIGHT;
	uint64_t count = WLR_SWAPCHAIN_CAP;
	count += output->background != NULL ? OWN_PICTURES : 0;
	count += output->stream != NULL ? PUBLISHER_SLOTS : 0;
	return count * whole_pages(width * height * PIXEL);
}

static struct memory_bound memory_bound_of(const struct cluster_config *config) {
	struct memory_bound bound = {.threads = HELPERS};
	uint32_t helpers;
	uint64_t stacks = gid_closer_settled_stacks(&helpers);
	for (size_t i = 0; i < config->role_count; i++) {
		bound.pictures += pictures_of(&config->roles[i].box);
	}
	for (size_t i = 0; i < config->layer_count; i++) {
		bound.pictures += pictures_of(&config->layers[i].box);
	}
	for (size_t i = 0; i < config->output_count; i++) {
		bound.outputs += buffers_of(&config->outputs[i]);
		bound.threads += config->outputs[i].stream != NULL;
	}
	size_t readers = config->role_count + config->layer_count;
	bound.pages = readers * whole_pages(sizeof(struct gid_wire_page));
	bound.threads += (uint32_t)readers;
	bound.stacks = bound.threads * (uint64_t)GID_THREAD_STACK + CLOSERS * stacks;
	bound.threads += CLOSERS * helpers;
	return bound;
}

static double mib(uint64_t bytes) {
	return (double)bytes / (1 << 20);
}

void memory_bound_print(const struct cluster_config *config, uint64_t first, FILE *file) {
	struct memory_bound bound = memory_bound_of(config);
	fprintf(file,
			"memory: %.1f MiB for pictures, %.1f for outputs, %.1f for subscriptions, "
			"%.1f for %u more threads, %.1f for the first: %.1f MiB in all\n",
			mib(bound.pictures), mib(bound.outputs), mib(bound.pages),
			mib(bound.stacks), bound.threads, mib(first),
			mib(bound.pictures + bound.outputs + bound.pages + bound.stacks + first));
}
