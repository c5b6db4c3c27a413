// SPDX-License-Identifier: MIT
/**
 * The picture in one place of a screen: that of a frame, or what stands in for it. It is composed
 * with all else, or on a plane of its own.
 *
 * On its plane is a copy of it, in memory that only we write: what was checked as it was copied is
 * what the plane shows, whatever becomes of the picture. Or it is the frame itself, in its dma-buf:
 * then only what the device shows can tell whether it is still the one that was checked.
 */
#ifndef CLUSTER_SHOWN_PICTURE_H
#define CLUSTER_SHOWN_PICTURE_H

#include "own_picture.h"
#include "samples.h"
#include "screen_composition.h"
#include "stream_reader.h"

struct kms_layer;
struct kms_output;
struct lent_frame;
struct screen;

/* Whether it is on a plane, or why it is composed. */
enum shown_place {
	SHOWN_PLACE_PLANE,
	SHOWN_PLACE_OFF,	/* by the configuration, or it is no KMS device of ours */
	SHOWN_PLACE_OFF_OUTPUT, /* partly outside of the output */
	SHOWN_PLACE_MEMORY,	/* the device has no memory for the picture */
	SHOWN_PLACE_NO_PLANE,	/* other roles have all that there are */
	SHOWN_PLACE_REFUSED,	/* the device refuses it */
	SHOWN_PLACE_COPIED,	/* a program copies the screen */
	SHOWN_PLACE_DIFFERED,	/* the device showed something else there */
};

/* What a commit of the output brought. */
struct given_picture {
	uint32_t commit;	/* its number; 0: it is shown */
	bool is_frame;		/* else the fallback */
	struct gid_frame frame; /* of the picture, if it is one */
};

struct shown_picture {
	/* As given, and outlive it: */
	struct screen *screen;
	const struct gid_box *box;
	const struct stream_reader *reader; /* of the frames */
	/* Its own: */
	struct part *part; /* not shown while there is no picture, or it is on its plane */
	struct own_picture *picture;  /* NULL: there was none yet */
	bool is_frame;		      /* the picture is that of `frame` */
	struct gid_frame frame;	      /* the last one */
	struct lent_frame *lent;      /* that frame itself, where a plane may show it; else NULL */
	struct wl_list lents;	      /* lent_frame::link */
	struct own_picture *fallback; /* in place of frames; NULL: the last one stays */
	bool falls_to_last;	      /* the last one that the output showed becomes the fallback */
	struct own_picture *last;     /* of the frame that the output showed; NULL: of none */
	uint32_t pending_commit;      /* the output's, which will bring what changed; 0: none */
	struct given_picture given; /* on its way to the screen, while another one is set already */
	/* From a frame's submission, and its capture if told, to its being on the output, in ns. */
	struct samples latency, capture_latency;
	/* The colour of the place as it is to be displayed, and as it was to be in the frame that
	 * is read back; 0: not known. */
	uint64_t displayed, expected;
	/* Its plane. */
	enum shown_place place;
	struct kms_layer *layer; /* NULL: none */
	bool stale;		 /* the picture was not copied to the plane yet */
	uint64_t colour;	 /* of the copy that was made last */
	uint64_t copies;
	uint64_t direct; /* frames that were shown themselves */
};

/*
 * Begins, composed and with no picture, in front of what `level` has already. `box` is the place on
 * the screen. Takes the reference to `fallback`, NULL: there is none. Returns 0 or -ENOMEM.
 */
int shown_picture_init(struct shown_picture *shown, struct screen *screen,
		enum composition_level level, const struct gid_box *box,
		const struct stream_reader *reader, struct own_picture *fallback);
/* Also of one that is all zero. */
void shown_picture_finish(struct shown_picture *shown);

/* --- what is to be shown ---------------------------------------------------------------------- */

/* What stands in for frames, from the next commit on, if there is anything. */
void shown_picture_set_fallback(struct shown_picture *shown);

/*
 * The picture of an examined frame, from the next commit on. `slab`: its memory, where the frame
 * itself may be on a plane; else NULL. Returns whether it takes the frame, to release it itself.
 */
bool shown_picture_set_frame(
		struct shown_picture *shown, const struct examination *of, struct gid_slab *slab);

/* Whether the frame shown was sent again, with the same pixels: then there is nothing to draw. */
bool shown_picture_repeats(struct shown_picture *shown, const struct examination *of);

/* The subscription that brought the frames is over: none is to be given back. */
void shown_picture_detach_consumer(struct shown_picture *shown);

/* Whether the frame itself is to be on a plane, and its memory has another one meanwhile. */
bool shown_picture_is_reclaimed(const struct shown_picture *shown);

/* --- composed, or on a plane ------------------------------------------------------------------ */

/*
 * Makes it ready for kms_layers_plan(), with an empty place where it cannot be on a plane: that is
 * then `why`. Afterwards shown_picture_apply_plan() takes what came of it.
 */
void shown_picture_prepare_plan(
		struct shown_picture *shown, struct kms_output *kms, enum shown_place why);
void shown_picture_apply_plan(struct shown_picture *shown);

/* It is composed from now on, because of `why`. */
void shown_picture_release_plane(struct shown_picture *shown, enum shown_place why);

/* The output goes; and there is one, another one than before: its commits are counted anew. */
void shown_picture_detach_output(struct shown_picture *shown);
void shown_picture_attach_output(struct shown_picture *shown);

bool shown_picture_is_on_plane(const struct shown_picture *shown);

const char *shown_place_name(enum shown_place place); /* one word, for programs */

/* --- what is displayed ------------------------------------------------------------------------ */

/* How it is made sure that what is displayed is what is meant: one word, for programs. */
const char *shown_picture_checked_by(const struct shown_picture *shown);

/*
 * Gives the picture to its plane, for the next commit, if that does not have it. Returns 1: the
 * plane shows the very same picture already; 0: nothing more is to be done; -EAGAIN: a commit is
 * on its way; -EILSEQ: its pixels are not what they were; or another -errno.
 */
int shown_picture_update_plane(struct shown_picture *shown);

/*
 * The output is about to show `composed`. Returns whether the place has the very pixels that are
 * meant, or is on a plane.
 */
bool shown_picture_check(struct shown_picture *shown, const struct pixels *composed);

/*
 * The output's frame that is on its way will be read back; here is what the device showed. Returns
 * 1: what was meant, 0: nothing is known of that, -EILSEQ: something else.
 */
void shown_picture_expect_readback(struct shown_picture *shown);
int shown_picture_read_back(struct shown_picture *shown, const struct pixels *device);

/*
 * The output shows its commit of this number since `when`. Returns what that shows for the first
 * time, until the next call, or NULL. Meanwhile another picture may have been set.
 */
const struct given_picture *shown_picture_presented(
		struct shown_picture *shown, uint32_t commit, uint64_t when);

#endif
