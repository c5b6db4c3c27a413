// SPDX-License-Identifier: MIT
/**
 * Whether a device shows what it is given. One that does not any more leaves its last picture,
 * which would be taken for a current one.
 *
 * Pure: it has no clock.
 */
#ifndef CLUSTER_OWED_FRAME_H
#define CLUSTER_OWED_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* A sign of life that comes later than this is none for systemd either: gid-cluster@.service. */
#define OWED_FRAME_NS UINT64_C(2000000000)

/* All zeroes: of a device that has shown nothing yet. */
struct owed_frame {
	bool has_shown; /* a frame, since it is there */
	bool owes;	/* it was to show one, and has shown none since */
	uint64_t for_ns;
};

void owed_frame_given(struct owed_frame *owed);

void owed_frame_shown(struct owed_frame *owed);

/*
 * Whether it has owed a frame for too long. To be asked all the time; `passed`: ns since the last
 * time. `is_expected`: it could show one. A device that has never shown anything would be no other
 * one after a new start.
 */
bool owed_frame_is_overdue(struct owed_frame *owed, bool is_expected, uint64_t passed);

#endif
