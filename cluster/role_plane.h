// SPDX-License-Identifier: MIT
/**
 * A role's place on its output: on a plane of its own, or composed with all else; and why.
 *
 * On its plane is a copy of the picture, in memory that only we write: what was checked as it was
 * copied is what the plane shows, whatever becomes of the picture. Or it is the picture itself, in
 * its dma-buf: then only what the device shows can tell whether it is still the one that was
 * checked.
 */
#ifndef CLUSTER_ROLE_PLANE_H
#define CLUSTER_ROLE_PLANE_H

#include <gid/stream.h>

#include "../wlroots/memory_view.h"
#include "own_picture.h"

struct kms_layer;
struct kms_output;

enum role_place {
	ROLE_PLACE_PLANE,
	/* Composed, and why: */
	ROLE_PLACE_OFF,	       /* by the configuration, or it is no KMS device of ours */
	ROLE_PLACE_OVERLAP,    /* another role is partly at the same place */
	ROLE_PLACE_OFF_OUTPUT, /* partly outside of the output */
	ROLE_PLACE_MEMORY,     /* the device has no memory for its picture */
	ROLE_PLACE_NO_PLANE,   /* other roles have all that there are */
	ROLE_PLACE_REFUSED,    /* the device refuses it */
	ROLE_PLACE_COPIED,     /* a program copies the screen */
	ROLE_PLACE_DIFFERED,   /* the device showed something else there */
};

struct role_plane {
	enum role_place place;
	struct kms_layer *layer; /* NULL: none */
	bool stale;		 /* what is shown was not copied to the plane yet */
	uint64_t colour;	 /* of the copy that was made last */
	uint64_t copies;
	uint64_t lent; /* pictures that were shown themselves */
};

/*
 * Makes it ready for kms_layers_plan(), with an empty place where it cannot be on a plane: that is
 * then `why`.
 */
void role_plane_offer(struct role_plane *plane, struct kms_output *kms, const struct gid_box *box,
		enum role_place why);

/* After kms_layers_plan(): takes what came of it. */
void role_plane_settle(struct role_plane *plane);

/* It is composed from now on, because of `why`. */
void role_plane_leave(struct role_plane *plane, enum role_place why);

/* The output goes. */
void role_plane_finish(struct role_plane *plane);

bool role_plane_is_on(const struct role_plane *plane);

/* Whether the plane shows a picture of this colour, and nothing else is on its way. */
bool role_plane_shows(const struct role_plane *plane, uint64_t colour);

/*
 * Copies the picture to the plane, and gives it to the next commit if its colour is still the same.
 * Returns 0, -EILSEQ: it is another one, -EAGAIN: a commit is on its way, or -ENOMEM.
 */
int role_plane_copy(struct role_plane *plane, const struct own_picture *picture);

/*
 * Gives a frame itself to the next commit, if `colour` is what it shows. Returns as
 * role_plane_copy(), -EACCES: it cannot be read, or another -errno: the device does not take it.
 */
int role_plane_lend(struct role_plane *plane, struct memory_view *frame, uint64_t colour);

/* Whether the plane shows, or is to show, a picture itself. */
bool role_plane_is_lent(const struct role_plane *plane);

const char *role_place_name(enum role_place place); /* one word, for programs */

#endif
