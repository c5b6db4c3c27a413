// SPDX-License-Identifier: MIT
/**
 * Redirects what Weston's pixman renderer draws of an output of ours. The renderer draws into an
 * image of its own, copies that to a frame buffer that nothing shows, and that to the capture. Here
 * it draws into the capture's memory at once. What that lacks of earlier pictures is copied from
 * where the last one was drawn.
 *
 * Translucent windows are drawn over black where nothing is behind them. Weston alone would draw
 * them over the old content, which is different in each target.
 *
 * Weston's two images are recognised by the copies that it makes, from the first captured repaint
 * on. If it uses others, as other renderers do, nothing is redirected.
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
	pixman_image_t *own;	       /* the image that Weston draws into; NULL: not known */
	pixman_image_t *shown;	       /* Weston's frame buffer, which is not updated any more */
	struct gid_box stale;	       /* what `own` lacks of the latest picture */
	struct capture_target *latest; /* has that picture; NULL: `own` has it */
	struct capture_target *target; /* this repaint is drawn into; NULL: `own` */
	pixman_region32_t clip;	       /* of what is drawn next */
	pixman_region32_t drawn;       /* in this repaint */
	bool is_lost;		       /* the latest picture is: the next repaint must draw all */
	bool is_left_out;	       /* this repaint: a client's buffer is shown instead */
};

/*
 * Takes effect for this process, from now on. Returns 0; or -errno: Weston draws and copies as
 * before.
 */
int output_drawing_guard(void);

void output_drawing_init(struct output_drawing *drawing);

/* Restores Weston's images, as if nothing had been redirected. */
void output_drawing_finish(struct output_drawing *drawing);

/* No target has the latest picture after this: to be called before targets are destroyed. */
void output_drawing_leave(struct output_drawing *drawing);

/* Checks if the latest picture is lost: to be called before a target is taken. */
void output_drawing_look(struct output_drawing *drawing);

/* Whether a picture of this size can be drawn into a target, without a capture of Weston's. */
bool output_drawing_can(const struct output_drawing *drawing, int32_t width, int32_t height);

/* To be called before the renderer, which then draws into `target`; NULL: into its own image. */
void output_drawing_begin(struct output_drawing *drawing, struct capture_target *target);

/*
 * One of these follows. Unless output_drawing_is_lost() returns false, the repaint must draw the
 * whole output. After output_drawing_leave_out() it draws nothing, and there is no capture.
 */
bool output_drawing_is_lost(struct output_drawing *drawing);
void output_drawing_leave_out(struct output_drawing *drawing);

/*
 * To be called after the renderer. `changed` is the damage; `wanted`: the target's picture must be
 * complete even if nothing was drawn. Returns whether the target has the picture; if not, it is
 * lost.
 */
bool output_drawing_end(struct output_drawing *drawing, struct gid_box changed, bool wanted);

/* For a repaint that was not drawn into a target, but captured: learns Weston's images. */
void output_drawing_learn(struct output_drawing *drawing, const struct capture_part *part);

#endif
