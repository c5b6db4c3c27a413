// SPDX-License-Identifier: MIT
/**
 * Schedules readbacks of what a device shows, if it can write that to memory, and counts the
 * results. Nothing else can reveal a device that shows something other than it was given.
 */
#ifndef CLUSTER_READBACK_H
#define CLUSTER_READBACK_H

#include <stdbool.h>
#include <stdint.h>

/* After more failures in a row readback counts as off, until one succeeds. */
#define READBACK_FAILED_MAX 3u

/* All zeroes: the first frame is read back. */
struct readback {
	uint64_t next;	/* not before */
	bool asked;	/* the next frame is to be read back */
	uint64_t count; /* of those that were */
	uint64_t failed;
	unsigned failed_in_a_row;
	bool off; /* too many were, and none has come since */
};

/*
 * Whether a frame is to be read back; `is_free`: the device can write one now. Also while too many
 * failed: a machine that was busy for a while is not.
 */
bool readback_is_due(const struct readback *readback, bool is_free, uint64_t now);

/* Before a frame is composed. Returns whether the device is to be asked now to write it. */
bool readback_ask(struct readback *readback, bool is_free, uint64_t now);

/*
 * A frame is on its way. Returns whether it is the one that is written. The next one is `every` ns
 * later.
 */
bool readback_sent(struct readback *readback, uint64_t every, uint64_t now);

/* The device wrote it. Returns whether nothing was read back before. */
bool readback_written(struct readback *readback);

/* It did not. Returns whether nothing is read back from now on. */
bool readback_failed(struct readback *readback);

#endif
