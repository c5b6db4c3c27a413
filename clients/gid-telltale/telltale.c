// SPDX-License-Identifier: MIT
#include "telltale.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <xxhash.h>

#include "lights.h"

static void handle_released(void *data, gid_id gid) {
	struct telltale *telltale = data;
	uint32_t slot = gid_slot_of(gid);
	if (slot < TELLTALE_SLOTS && telltale->retired[slot]) {
		telltale->retired[slot] = false;
		gid_slab_give(telltale->slab, slot);
	}
}

static int fail(const struct telltale *telltale, const char *what, int error) {
	const char *sentence = gid_domain_error(telltale->domain);
	fprintf(stderr, "gid-telltale: %s: %s\n", what,
			sentence[0] != '\0' ? sentence : gid_strerror(error));
	return -1;
}

int telltale_init(struct telltale *telltale, const char *domain, const char *stream, uint32_t width,
		uint32_t height) {
	*telltale = (struct telltale){.slot = -1};
	int ret = gid_domain_connect(domain, &telltale->domain);
	if (ret < 0) {
		fprintf(stderr, "gid-telltale: %s\n", gid_domain_connect_error());
		return -1;
	}
	ret = gid_layout_init(&telltale->layout, DRM_FORMAT_XRGB8888, width, height, 64);
	if (ret == 0) {
		ret = gid_slab_create(telltale->domain, &telltale->layout, 0, TELLTALE_SLOTS, NULL,
				&telltale->slab);
	}
	if (ret < 0) {
		return fail(telltale, "memory for the lights", ret);
	}
	if (stream == NULL) {
		return 0;
	}
	struct gid_producer_options options = {
			.size = sizeof(options),
			.released = handle_released,
			.data = telltale,
			.keeps_shown = true,
	};
	ret = gid_producer_create(telltale->domain, stream, &options, &telltale->producer);
	return ret < 0 ? fail(telltale, stream, ret) : 0;
}

void telltale_finish(struct telltale *telltale) {
	gid_producer_destroy(telltale->producer);
	gid_slab_destroy(telltale->slab, false);
	gid_domain_destroy(telltale->domain);
}

static uint64_t telltale_hash(const struct telltale *telltale, const uint8_t *data) {
	XXH3_state_t *state = XXH3_createState();
	XXH3_64bits_reset(state);
	for (uint32_t y = 0; y < telltale->layout.height; y++) {
		XXH3_64bits_update(state, data + (size_t)y * telltale->layout.planes[0].stride,
				(size_t)telltale->layout.width * 4);
	}
	uint64_t hash = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	return hash;
}

static int telltale_send(struct telltale *telltale, uint32_t flags) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(telltale->slab, (uint32_t)telltale->slot);
	frame.capture_time = gid_clock_now();
	frame.content_hash = telltale->hash;
	frame.flags = GID_FRAME_HASH | flags;
	int ret = gid_producer_send(telltale->producer, &frame);
	return ret < 0 ? ret : 0;
}

static void telltale_retire(struct telltale *telltale, int slot) {
	if (slot < 0) {
		return;
	}
	if (gid_slab_holders(telltale->slab, (uint32_t)slot) == 0) {
		gid_slab_give(telltale->slab, (uint32_t)slot);
	} else {
		telltale->retired[slot] = true;
	}
}

static uint8_t *telltale_data(const struct telltale *telltale, int slot) {
	return (uint8_t *)gid_slab_data(telltale->slab, (uint32_t)slot) +
			telltale->layout.planes[0].offset;
}

/* Of one that was taken nothing comes back. */
static void telltale_renew(struct telltale *telltale) {
	bool anew = gid_slab_renew(telltale->slab) == 1;
	for (uint32_t slot = 0; anew && slot < TELLTALE_SLOTS; slot++) {
		if (telltale->retired[slot]) {
			telltale->retired[slot] = false;
			gid_slab_give(telltale->slab, slot);
		}
	}
}

int telltale_draw(struct telltale *telltale, unsigned state) {
	telltale_renew(telltale);
	int slot = gid_slab_take(telltale->slab);
	telltale->state = state;
	telltale->skipped += slot < 0 && !telltale->waits;
	telltale->waits = slot < 0;
	if (slot < 0) {
		return slot;
	}
	uint8_t *data = telltale_data(telltale, slot);
	const struct gid_layout *layout = &telltale->layout;
	if (telltale->sheet != NULL) {
		sheet_draw(telltale->sheet, data, layout->planes[0].stride, state);
	} else {
		lights_draw(data, layout->width, layout->height, layout->planes[0].stride, state);
	}
	telltale->changes++;
	return slot;
}

int telltale_change(struct telltale *telltale, unsigned state) {
	int slot = telltale_draw(telltale, state);
	if (slot < 0) {
		gid_producer_lacks_memory(telltale->producer);
		return slot;
	}
	int old = telltale->slot;
	telltale->slot = slot;
	telltale->hash = telltale_hash(telltale, telltale_data(telltale, slot));
	int ret = telltale_send(telltale, 0);
	telltale_retire(telltale, old);
	return ret;
}

/* Whether there is one for the next change. */
static bool has_slot(const struct telltale *telltale) {
	int slot = gid_slab_take(telltale->slab);
	if (slot >= 0) {
		gid_slab_give(telltale->slab, (uint32_t)slot);
	}
	return slot >= 0;
}

static bool has_picture(const struct telltale *telltale) {
	return gid_slab_is_current(
			telltale->slab, gid_slab_gid(telltale->slab, (uint32_t)telltale->slot));
}

int telltale_beat(struct telltale *telltale) {
	telltale->heartbeats++;
	/* A sign of life would say that the old picture is right, or there. */
	if (telltale->waits || !has_picture(telltale)) {
		return telltale_change(telltale, telltale->state);
	}
	if (!has_slot(telltale)) { /* before one is needed */
		gid_producer_lacks_memory(telltale->producer);
	}
	return telltale_send(telltale, GID_FRAME_HEARTBEAT);
}

void telltale_report(const struct telltale *telltale) {
	struct gid_producer_stats stats;
	gid_producer_get_stats(telltale->producer, &stats);
	printf("{\"frames\": %" PRIu64 ", \"delivered\": %" PRIu64 ", \"dropped\": %" PRIu64
	       ", \"leases_expired\": %" PRIu64 ", \"copied_frames\": %" PRIu64
	       ", \"copied_bytes\": %" PRIu64 ", \"changes\": %" PRIu64 ", \"heartbeats\": %" PRIu64
	       ", \"skipped\": %" PRIu64 "}\n",
			stats.frames, stats.delivered, stats.dropped, stats.leases_expired,
			stats.copied_frames, stats.copied_bytes, telltale->changes,
			telltale->heartbeats, telltale->skipped);
	fflush(stdout);
}
