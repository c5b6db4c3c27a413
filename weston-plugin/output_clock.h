// SPDX-License-Identifier: MIT
/**
 * When an output is refreshed. One without a screen can keep the time of the display on which its
 * reader shows it: then each of its pictures comes just before the refresh that shows it.
 */
#ifndef GID_WESTON_OUTPUT_CLOCK_H
#define GID_WESTON_OUTPUT_CLOCK_H

#include <gid/stream.h>
#include <libweston/libweston.h>

/*
 * The first refresh that is not before `now`, both of CLOCK_MONOTONIC: of the reader's display, if
 * it has told them and there is a `producer`, else our own at so many mHz.
 */
uint64_t output_clock_next(const struct weston_output *output, struct gid_producer *producer,
		uint32_t refresh_mhz, uint64_t now);

/*
 * Takes the rate of the reader's display, if it has told one, and goes a step towards the times of
 * its refreshes, half a refresh sooner: that is for the way to the display and into its next
 * picture. To be called once in each repaint, for an output of the headless backend.
 */
void output_clock_follow(struct weston_output *output, struct gid_producer *producer);

/*
 * Both are in place of the headless backend's start_repaint_loop, whose refreshes begin anew
 * whenever something changes after a pause, so that the first picture comes most of a refresh later
 * than it could.
 *
 * Of an output with a rate of its own they go on. Returns whether they do; if not, there was none.
 */
bool output_clock_go_on(struct weston_output *output);

/*
 * What only readers show is drawn at once, and is there for the first refresh of theirs that it can
 * be there for. The refreshes begin anew as well; output_clock_follow() brings them back.
 */
void output_clock_begin_now(struct weston_output *output, struct gid_producer *producer);

/*
 * While the headless backend repaints, it and the renderer take two times from how long a refresh
 * is by the output's mode: what they read there is set just before, and the mode put right again by
 * the caller. The first is for the renderer, until the picture is drawn: GL drivers without fences
 * wait for five refreshes before they take what the GPU has read back, whatever that needs. The
 * second is for the timer that ends the frame. Weston 14 lets it run for a refresh from now on, and
 * draws the next one that much too late: 40 a second where 60 were asked for.
 */
void output_clock_set_read_back(struct weston_output *output);
void output_clock_set_timer(struct weston_output *output, uint32_t refresh_mhz);

/*
 * How much later the refreshes are to be, in ns: at most a sixteenth of one at once, and towards
 * the nearer side.
 */
int64_t output_clock_step(uint64_t own, uint64_t theirs, uint64_t refresh);

/* The last of the refreshes of `refresh` ns, one of which was at `one`, that is not after `now`. */
int64_t output_clock_last(int64_t now, int64_t one, int64_t refresh);

#endif
