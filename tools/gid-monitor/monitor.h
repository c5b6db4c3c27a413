// SPDX-License-Identifier: MIT
/**
 * A role of gid-cluster's configuration by gid-cluster's own code, without a process and without a
 * clock: frames go in with their times, and out comes what gid-cluster would say of the role. For
 * gid-monitor, which is in Python and calls it by name.
 *
 * Used by one thread.
 */
#ifndef MONITOR_H
#define MONITOR_H

#include <stdint.h>

struct monitor;

/* One frame of a producer that states the hash of the pixels that it has drawn. */
struct monitor_frame {
	const uint32_t *pixels; /* of XRGB8888, rows without gaps; read until the call returns */
	uint32_t width, height;
	uint64_t sequence;
	uint64_t submit_time; /* ns, as all times */
};

/*
 * A role as it is at the start. NULL: the configuration has mistakes, has no such role, or there is
 * no memory; stderr has the reason.
 */
struct monitor *monitor_create(const char *config, const char *role, uint64_t now);
void monitor_destroy(struct monitor *monitor);

/* A frame came; time passed. Return the role's reason: "none" where its picture is shown. */
const char *monitor_receive(
		struct monitor *monitor, const struct monitor_frame *frame, uint64_t now);
const char *monitor_tick(struct monitor *monitor, uint64_t now);

/* The longest time between two frames, in ns, and how many good ones end a failure. */
uint64_t monitor_deadline(const struct monitor *monitor);
uint32_t monitor_good_frames(const struct monitor *monitor);

#endif
