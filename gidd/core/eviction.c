// SPDX-License-Identifier: MIT
#include "eviction.h"

#include <string.h>

#include "log.h"
#include "shm_range.h"
#include "slabs.h"

/*
 * The time in which a program has to leave memory that its reader lost. A program that gets a
 * processor leaves in time and loses nothing: it asks gidd twice, on a machine that may be slow,
 * and sends from the new place. Its readers keep their frames for at most half of this time, unless
 * asking took longer. A program that is late finds zeroes, and is told. Only the program's own data
 * waits this long.
 */
#define LEAVE_US (UINT64_C(1000) * 1000)
/* A program that has not left may write again: the memory is cleared again at this interval. */
#define AGAIN_US (UINT64_C(100) * 1000)

/* --- the deadline ----------------------------------------------------------------------------- */

static int handle_due(sd_event_source *source, uint64_t now, void *data) {
	struct gidd *gidd = data;
	slab_end_eviction(gidd);
	if (!shm_range_empty_evicted(gidd)) {
		gidd->eviction = sd_event_source_disable_unref(source);
		return 0;
	}
	sd_event_source_set_time_relative(source, AGAIN_US);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

void eviction_arm(struct gidd *gidd) {
	gidd->eviction = sd_event_source_disable_unref(gidd->eviction);
	int error = sd_event_add_time_relative(gidd->event, &gidd->eviction, CLOCK_MONOTONIC,
			LEAVE_US, 1000, handle_due, gidd);
	if (error < 0) {
		log_error("memory is emptied at once: %s", strerror(-error));
		slab_end_eviction(gidd);
		shm_range_empty_evicted(gidd);
	}
}

uint32_t eviction_begin(struct gidd *gidd) {
	uint32_t count = shm_range_evict_unshared(gidd, slab_evict_range);
	count += slab_evict_withdrawn(gidd);
	if (count > 0) {
		eviction_arm(gidd);
	}
	return count;
}

void eviction_close(struct gidd *gidd) {
	gidd->eviction = sd_event_source_disable_unref(gidd->eviction);
}
