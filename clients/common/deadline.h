// SPDX-License-Identifier: MIT
/** Deadlines of libgid and of input streams, for sd-event. */
#ifndef CLIENTS_COMMON_DEADLINE_H
#define CLIENTS_COMMON_DEADLINE_H

#include <stdint.h>
#include <systemd/sd-event.h>

/* Arms a timer of CLOCK_MONOTONIC for `time`, in ns; UINT64_MAX: disarms it. */
static inline void deadline_set(sd_event_source *timer, uint64_t time) {
	sd_event_source_set_time(timer, time / 1000);
	sd_event_source_set_enabled(timer, time == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

#endif
