// SPDX-License-Identifier: MIT
/**
 * When to draw the next picture. A reader with a display may tell when that has shown one, and how
 * long before a refresh it composes: then each is drawn right after a refresh, and sooner for a
 * display that composes sooner. Otherwise a timer of our own says when.
 *
 * Pure: times are CLOCK_MONOTONIC in ns, and come from the caller.
 */
#ifndef METER_SCHEDULE_H
#define METER_SCHEDULE_H

#include <gid/stream.h>

struct schedule {
	uint64_t start, period; /* of the timer */
	struct gid_shown shown; /* that can be followed, the newest; time 0: none yet */
	uint64_t sequence;	/* of the last picture that was drawn */
	uint64_t begun, ended;	/* when it was */
};

/* `rate`: pictures a second where nothing is told. */
void schedule_init(struct schedule *schedule, uint64_t now, uint32_t rate);

/*
 * A display showed a picture. It is followed for a second, if it has refreshes at the speed of a
 * display: no reader makes us draw as often as it likes.
 */
void schedule_shown(struct schedule *schedule, const struct gid_shown *shown);

void schedule_drawn(struct schedule *schedule, uint64_t sequence, uint64_t begun, uint64_t ended);

/* The time between two pictures. */
uint64_t schedule_interval(const struct schedule *schedule, uint64_t now);

/*
 * When to draw next, which may have passed. Some time lies between the begins of two drawings, so
 * that no refresh has two: half an interval of the timer; a quarter of one of a display, so that a
 * late picture costs the next refresh none; an eighth where the last picture is shown already. One
 * that takes longer than an interval leaves out what it was too late for.
 */
uint64_t schedule_next(const struct schedule *schedule, uint64_t now);

#endif
