// SPDX-License-Identifier: MIT
/**
 * A picture above the primary plane of an output, on a plane of its own as long as it has one.
 *
 * It lies in memory that the device gave and only this process writes: what was put there is what
 * is shown. Or it is lent: a buffer of somebody else, which that one can still write. Layers of one
 * output must not overlap.
 */
#ifndef KMS_LAYER_H
#define KMS_LAYER_H

#include <stdbool.h>

#include "kms_fb.h"

struct kms_output;
struct kms_plane;
struct kms_request;

enum kms_layer_place {
	KMS_LAYER_ON_PLANE,
	KMS_LAYER_UNPLANNED, /* nobody has tried yet */
	KMS_LAYER_NO_PLANE,  /* the others have all that there are */
	KMS_LAYER_REFUSED,   /* the device refuses it on each plane that was free */
	KMS_LAYER_TAKEN,     /* it was on a plane until kms_layer_release_plane() */
};

#define KMS_LAYER_PICTURES 3 /* shown, written back, and the next one */

struct kms_layer {
	struct wl_list link;
	struct kms_output *output; /* NULL: it is gone */
	struct kms_plane *plane;   /* with KMS_LAYER_ON_PLANE */
	enum kms_layer_place place;
	int32_t x, y;
	struct kms_dumb pictures[KMS_LAYER_PICTURES];
	/* One of the pictures, LENT, or -1: none. `written` is of the frame that is written back.
	 */
	int shown, next, written;
	/* Locked; with LENT, and until the flip after that. */
	struct wlr_buffer *lent_shown, *lent_next, *lent_written, *lent_before;
	/*
	 * Signalled. The device is told to wait for this one, and so not for those that whoever
	 * lent the buffer can put into it: the whole output would wait with it. -1: not made yet.
	 */
	int fence;
};

/*
 * A layer of an output of ours, without a plane. NULL with errno set: the device has no such
 * memory. It is destroyed by its creator, with or after its output, but before its device.
 */
struct kms_layer *kms_layer_create(
		struct kms_output *output, int32_t x, int32_t y, uint32_t width, uint32_t height);
void kms_layer_destroy(struct kms_layer *layer);

/*
 * The memory for the next picture, `*stride` bytes from row to row: all of it is to be written, and
 * given to the next commit by kms_layer_submit(). NULL while the last commit is on its way.
 */
void *kms_layer_begin(struct kms_layer *layer, size_t *stride);
void kms_layer_submit(struct kms_layer *layer);

/*
 * The next commit shows the buffer itself, which has the layer's size and is drawn. Returns 0,
 * -EAGAIN: the last commit is on its way, or another -errno: the device does not take it on the
 * layer's plane.
 */
int kms_layer_lend(struct kms_layer *layer, struct wlr_buffer *buffer,
		const struct wlr_dmabuf_attributes *dmabuf);

/* Whether what the next commit shows is lent. */
bool kms_layer_is_lent(const struct kms_layer *layer);

/* Whether its picture was given to a commit already, on its plane. */
bool kms_layer_is_shown(const struct kms_layer *layer);

/*
 * Finds a plane for each layer of the output that has none for which it is KMS_LAYER_TAKEN, as far
 * as the device takes them: it is asked, and nothing on the screen changes. The output is on. What
 * was found is for the next commit, with which the caller shows each layer either here or on the
 * primary plane.
 */
void kms_layers_plan(struct kms_output *output);

/* Whether a layer of the output is on a plane. */
bool kms_layers_have_plane(const struct kms_output *output);

/* Whether one of them has another picture than the last commit has shown. */
bool kms_layers_have_news(const struct kms_output *output);

/* From the next commit on it is on no plane, until kms_layers_plan() if it `may_return`. */
void kms_layer_release_plane(struct kms_layer *layer, bool may_return);

/* --- for kms_output.c --- */

void kms_layers_add(struct kms_output *output, struct kms_request *request);
void kms_layers_add_hidden(struct kms_output *output, struct kms_request *request);
/* What was added is on its way. */
void kms_layers_sent(struct kms_output *output);
/* It is on the screen. */
void kms_layers_flipped(struct kms_output *output);
/*
 * What was sent is written back: until that has ended nobody draws to it. A device may write from
 * memory that is not on the screen any more.
 */
void kms_layers_hold(struct kms_output *output);
void kms_layers_let_go(struct kms_output *output);
void kms_layers_release(struct kms_output *output);
void kms_layers_forget_output(struct kms_output *output);

#endif
