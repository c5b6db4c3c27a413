// SPDX-License-Identifier: MIT
/**
 * What Weston's pixman renderer draws of an output of ours. It draws into memory of its own, copies
 * what it drew into a frame buffer that nobody looks at, and that into what captures it. Here it
 * draws into the capture's memory at once, and what that lacks of the pictures before is copied
 * from where the last one was drawn.
 *
 * Windows that let through what is behind them are drawn over black where nothing is: Weston alone
 * would draw them over what was there before, which in each target is something else.
 *
 * Weston's own two images are known by the copies that it makes, from the first captured repaint
 * on. Where it makes others, as other renderers do, it draws as ever.
 */
#ifndef GID_WESTON_OUTPUT_DRAWING_H
#define GID_WESTON_OUTPUT_DRAWING_H

#include <gid/stream.h>
#include <pixman.h>
#include <stdbool.h>
#include <wayland-util.h>

#include "capture_targets.h"

struct output_drawing {
	struct wl_list link;
	pixman_image_t *own;	       /* that Weston draws into; NULL: it is not known */
	pixman_image_t *shown;	       /* its frame buffer, which is not kept up from then on */
	struct gid_box stale;	       /* what `own` lacks of the latest picture */
	struct capture_target *latest; /* has that picture; NULL: `own` has */
	struct capture_target *target; /* that this repaint is drawn into; NULL: `own` */
	pixman_region32_t clip;	       /* of what it draws next */
	pixman_region32_t drawn;       /* in this repaint */
	bool is_lost;		       /* the latest picture: all is to be drawn */
	bool is_left_out;	       /* this repaint: what it shows is in memory of others */
};

/* For this process, from now on. Returns 0 or -errno: Weston draws and copies as ever. */
int output_drawing_guard(void);

void output_drawing_init(struct output_drawing *drawing);

/* Weston's images are as if nothing had been done. */
void output_drawing_finish(struct output_drawing *drawing);

/* No target has the latest picture any more: to be called before some of them go. */
void output_drawing_leave(struct output_drawing *drawing);

/* Before a target is asked for: the latest picture may be lost. */
void output_drawing_look(struct output_drawing *drawing);

/* Whether a picture of so many pixels can be drawn into a target, which Weston is not asked for. */
bool output_drawing_can(const struct output_drawing *drawing, int32_t width, int32_t height);

/* Before Weston draws. It is to draw into `target`; NULL: into its own image. */
void output_drawing_begin(struct output_drawing *drawing, struct capture_target *target);

/*
 * Then one of these. All of the output is to be drawn where output_drawing_is_lost(). Or nothing is
 * drawn, and nobody captures it.
 */
bool output_drawing_is_lost(struct output_drawing *drawing);
void output_drawing_leave_out(struct output_drawing *drawing);

/*
 * Weston has drawn, and `changed` tells what. `wanted`: the target's picture is to be whole even if
 * nothing was drawn. Returns whether the target has the picture; else it is lost.
 */
bool output_drawing_end(struct output_drawing *drawing, struct gid_box changed, bool wanted);

/* Of a repaint that was not drawn into a target: Weston has captured it there. */
void output_drawing_learn(struct output_drawing *drawing, const struct capture_part *part);

#endif
