// SPDX-License-Identifier: MIT
/**
 * What an output shows: opaque pictures in places that do not move, from below to above. There are
 * two ways to compose them: composed_pixels.c copies them to the buffers of the output, and takes
 * no memory for a frame; composed_scene.c leaves it to the renderer of wlroots that draws by a GPU.
 */
#ifndef CLUSTER_SCREEN_COMPOSITION_H
#define CLUSTER_SCREEN_COMPOSITION_H

#include <wlr/types/wlr_output.h>

#include "own_picture.h"

struct composition_impl;

enum composition_level {
	COMPOSITION_BACKGROUND,
	COMPOSITION_LAYERS,
	COMPOSITION_SAFETY,
	COMPOSITION_LEVELS
};

/* One picture in its place. Changed by the functions below only. */
struct part {
	struct composition *composition;
	struct wl_list link; /* composition::parts */
	enum composition_level level;
	struct gid_box box;	     /* of the picture's size; it can stand out of the output */
	struct own_picture *picture; /* a reference; NULL: none yet */
	bool is_shown;		     /* if it has a picture */
	bool is_veiled;		     /* so that nobody takes the picture for a current one */
};

struct composition {
	const struct composition_impl *impl;
	struct wl_list parts; /* part::link, from below to above */
	/* A frame is needed, and nothing else asks for one. */
	void (*changed)(void *data);
	void *data;
};

/* `renderer` outlives it. NULL for want of memory. */
struct composition *composition_create(
		struct wlr_renderer *renderer, void (*changed)(void *data), void *data);
/* With its parts. Takes NULL. */
void composition_destroy(struct composition *composition);

/* In front of what its level has already, and not shown yet. NULL for want of memory. */
struct part *composition_add(struct composition *composition, enum composition_level level,
		const struct gid_box *box);
/* Takes NULL. */
void part_destroy(struct part *part);

/* Takes a reference of its own. */
void part_set_picture(struct part *part, struct own_picture *picture);
void part_show(struct part *part, bool on);
void part_veil(struct part *part, bool on);

/*
 * An output that can be drawn to, with its mode; and it has none any more. Returns false for want
 * of memory.
 */
bool composition_attach_output(struct composition *composition, struct wlr_output *output);
void composition_detach_output(struct composition *composition);

/* Whether something is to be seen that the output's last commit did not bring. */
bool composition_needs_frame(const struct composition *composition);

/* Composes into a buffer of the output, and sets that in `state`. Returns false: there is none. */
bool composition_build(struct composition *composition, struct wlr_output_state *state);

/* What was built last was committed. */
void composition_committed(struct composition *composition);

/* The output's buffers may have other pixels than were composed there. */
void composition_forget(struct composition *composition);

/* --- for the two ways ------------------------------------------------------------------------- */

struct composition_impl {
	void (*destroy)(struct composition *composition); /* it has no parts left */
	bool (*attach_output)(struct composition *composition, struct wlr_output *output);
	void (*detach_output)(struct composition *composition);
	bool (*needs_frame)(const struct composition *composition);
	bool (*build)(struct composition *composition, struct wlr_output_state *state);
	void (*committed)(struct composition *composition);
	void (*forget)(struct composition *composition);
	/* All zeroes but for what is its own. NULL for want of memory. */
	struct part *(*create_part)(struct composition *composition, enum composition_level level,
			const struct gid_box *box);
	void (*destroy_part)(struct part *part);
	/* That member has a new value. */
	void (*picture_changed)(struct part *part);
	void (*shown_changed)(struct part *part);
	void (*veil_changed)(struct part *part);
};

struct composition *composed_pixels_create(void);
struct composition *composed_scene_create(void);

#endif
