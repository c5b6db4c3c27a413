// SPDX-License-Identifier: MIT
/**
 * A picture above the primary plane of an output, on an overlay plane while it has one.
 *
 * It lies in dumb buffers that only this process writes: what was put there is what is shown. Or it
 * is lent: a buffer of somebody else, who can still write it. Layers of one output must not
 * overlap.
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
	KMS_LAYER_UNPLANNED, /* kms_layers_plan() has not tried yet */
	KMS_LAYER_NO_PLANE,  /* the other layers have all planes */
	KMS_LAYER_REFUSED,   /* the device refuses it on each plane that was free */
	KMS_LAYER_TAKEN,     /* it lost its plane by kms_layer_release_plane(), for good */
};

#define KMS_LAYER_PICTURES 3 /* shown, written back, and the next one */

struct kms_layer {
	struct wl_list link;
	struct kms_output *output; /* NULL: it is gone */
	struct kms_plane *plane;   /* with KMS_LAYER_ON_PLANE */
	enum kms_layer_place place;
	int32_t x, y;
	struct kms_dumb pictures[KMS_LAYER_PICTURES];
	/*
	 * Index of a picture, LENT, or -1: none. On the screen, for the next commit, and read by a
	 * writeback that is under way.
	 */
	int shown, next, written;
	/*
	 * Locked: the lent buffers of these three, and what is on the screen until the pending
	 * flip.
	 */
	struct wlr_buffer *lent_shown, *lent_next, *lent_written, *lent_before;
	/*
	 * A signalled fence. The device is told to wait for this one, and so ignores fences that
	 * the lender attached to his buffer: the whole output would wait for those. -1: not made
	 * yet.
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
 * The memory for the next picture, with `*stride` bytes from row to row. The caller writes all of
 * it, and then hands it to the next commit by kms_layer_submit(). NULL while the last commit is
 * pending.
 */
void *kms_layer_begin(struct kms_layer *layer, size_t *stride);
void kms_layer_submit(struct kms_layer *layer);

/*
 * The next commit scans out the buffer itself, which has the layer's size and whose drawing is
 * done. The layer is on a plane. Returns 0; -EAGAIN: the last commit is pending; or another -errno:
 * the device does not take the buffer on that plane.
 */
int kms_layer_lend(struct kms_layer *layer, struct wlr_buffer *buffer,
		const struct wlr_dmabuf_attributes *dmabuf);

/* Whether the next commit shows a lent buffer. */
bool kms_layer_is_lent(const struct kms_layer *layer);

/* Whether the last commit shows its newest picture on its plane. */
bool kms_layer_is_shown(const struct kms_layer *layer);

/*
 * Finds a plane for each layer of the output that is not KMS_LAYER_TAKEN, by test commits: nothing
 * on the screen changes. The output is on. The result is for the next commit, in which the caller
 * shows each layer either on its plane or on the primary one.
 */
void kms_layers_plan(struct kms_output *output);

/* Whether a layer of the output is on a plane. */
bool kms_layers_have_plane(const struct kms_output *output);

/* Whether a layer on a plane has a newer picture than the last commit showed. */
bool kms_layers_have_news(const struct kms_output *output);

/*
 * From the next commit on the layer has no plane. With `may_return` the next kms_layers_plan() can
 * give it one.
 */
void kms_layer_release_plane(struct kms_layer *layer, bool may_return);

/* --- for kms_output.c --- */

void kms_layers_add(struct kms_output *output, struct kms_request *request);
void kms_layers_add_hidden(struct kms_output *output, struct kms_request *request);
/* The commit with what was added was accepted: its flip is pending. */
void kms_layers_sent(struct kms_output *output);
/* The output was turned off: its planes are free, and its layers have to be planned anew. */
void kms_layers_turned_off(struct kms_output *output);
/* That flip is done. */
void kms_layers_flipped(struct kms_output *output);
/*
 * A writeback reads what was sent: nobody draws into that before kms_layers_let_go(). A device may
 * write back from memory that is not on the screen any more.
 */
void kms_layers_hold(struct kms_output *output);
void kms_layers_let_go(struct kms_output *output);
void kms_layers_release(struct kms_output *output);
void kms_layers_forget_output(struct kms_output *output);

#endif
