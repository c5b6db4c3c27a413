// SPDX-License-Identifier: MIT
/**
 * When an output is refreshed. An output without a screen can follow the display on which its
 * consumer shows it: then each picture arrives just before the refresh that shows it.
 */
#ifndef GID_WESTON_OUTPUT_CLOCK_H
#define GID_WESTON_OUTPUT_CLOCK_H

#include <gid/stream.h>
#include <libweston/libweston.h>

/*
 * Returns the first refresh that is not before `now`, both on CLOCK_MONOTONIC: of the consumer's
 * display, if there is a `producer` and that has reported it; else of our own output, at
 * `refresh_mhz`.
 */
uint64_t output_clock_next(const struct weston_output *output, struct gid_producer *producer,
		uint32_t refresh_mhz, uint64_t now);

/*
 * Takes the rate of the consumer's display, if it has reported one, and goes a step towards the
 * times of its refreshes, half a refresh before them: for the way to the display and into its next
 * repaint. To be called once in each repaint, for an output of the headless backend.
 */
void output_clock_follow(struct weston_output *output, struct gid_producer *producer);

/*
 * This function and the next replace start_repaint_loop of the headless backend. There the
 * refreshes start anew whenever something changes after a pause, and the first picture comes most
 * of a refresh later than it could.
 *
 * Continues the refreshes of an output with a rate of its own. Returns false if there were none
 * yet.
 */
bool output_clock_go_on(struct weston_output *output);

/*
 * For an output that only consumers show: repaints at once, for the first of their refreshes that
 * the picture can reach. The refreshes start anew, too; output_clock_follow() brings them back.
 */
void output_clock_begin_now(struct weston_output *output, struct gid_producer *producer);

/*
 * While the headless backend repaints, it and the renderer derive two times from the refresh of the
 * output's mode. The mode is set just before each is read, and the caller restores it. The first is
 * for the renderer, until the picture is drawn: GL drivers without fences wait for five refreshes
 * before they take what the GPU has read back, however long that needs. The second is for the timer
 * that ends the frame. Weston 14 starts that for a whole refresh when the repaint ends, and draws
 * the next picture as much too late: 40 a second instead of 60.
 */
void output_clock_set_read_back(struct weston_output *output);
void output_clock_set_timer(struct weston_output *output, uint32_t refresh_mhz);

/*
 * Returns how much later the refreshes have to be, in ns: towards the nearer side, and at most a
 * sixteenth of a refresh.
 */
int64_t output_clock_step(uint64_t own, uint64_t theirs, uint64_t refresh);

/*
 * Returns the last refresh that is not after `now`. They are `refresh` ns apart, and one was at
 * `one`.
 */
int64_t output_clock_last(int64_t now, int64_t one, int64_t refresh);

#endif
