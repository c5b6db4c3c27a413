// SPDX-License-Identifier: MIT
/**
 * A canvas: a picture that the 2D engine of another domain draws for this program. The program
 * sends lists of commands, which may name pictures of its own domain by their gids; nobody copies
 * those. Everybody who may read the engine's stream `canvas/NAME` sees the result.
 *
 * Lifecycle:
 * - gid_canvas_create(). The engine's configuration (gid-engine(8)) has a canvas of that name for
 *   this domain.
 * - For each list: gid_list_begin(), any gid_list_…() that draw, gid_list_present() where a picture
 *   is finished, gid_list_submit(). If one of them fails, all later ones of the list do nothing,
 * and gid_list_submit() returns the error. gid_canvas_compose() does all this for a stack of
 * layers.
 * - gid_canvas_wait() says when a list is done, and whether the engine refused it. Until then the
 *   program does not change what the list names.
 * - gid_canvas_destroy().
 *
 * Many short lists are as good as few long ones: they share memory, and an engine that is awake
 * takes them without a system call of either side.
 *
 * An event loop adds the descriptors of the domain and of the canvas, and calls
 * gid_domain_dispatch() and gid_canvas_dispatch(). gid_canvas_wait() with a limit of 0 says whether
 * a list is done; if it is not, the canvas's descriptor becomes readable when it is. Ask again a
 * few times a second all the same: so an engine that overlooked the list is rung once more. If the
 * engine ends, lists that it had not done are lost: gid_list_submit() returns -ENOTCONN until it is
 * back. It then begins with a black canvas, by itself. If gidd takes the memory of lists, those are
 * lost in the same way, and so is the list in work; the next one begins in other memory.
 *
 * The thread rules are those of domain.h. Errors are returned as -errno; gid_canvas_error() is the
 * sentence for the last one.
 */
#ifndef GID_ENGINE_H
#define GID_ENGINE_H

#include <gid/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct gid_canvas;

struct gid_canvas_options {
	uint32_t size;		/**< sizeof(struct gid_canvas_options) */
	uint32_t fourcc;	/**< a 32-bit RGB format or DRM_FORMAT_RGB565; 0: XRGB8888 */
	uint32_t width, height; /**< pixels */
	uint32_t list_words;	/**< the longest list, in 32-bit words; 0: 16384; at most 65536 */
	uint32_t lists;	  /**< of that length, that may be under way at once, 2 to 62; 0: 16 */
	uint32_t spin_us; /**< how long gid_canvas_wait() looks before it sleeps */
	/**
	 * How long to wait for the engine; 0: 5000. Less than 0: do not wait for it; then
	 * gid_canvas_is_connected() says when it is there.
	 */
	int connect_ms;
};

/**
 * Asks the engine of the domain `engine` for the canvas `name`, and waits for it.
 * Returns 0 and the canvas, owned by the caller; -ETIMEDOUT: there is no engine, or none that
 * serves us this canvas; -EINVAL; or what gid_producer_create(), gid_consumer_create() and
 * gid_slab_create() return. After an error there is no canvas: gid_canvas_create_error() has the
 * sentence.
 */
int gid_canvas_create(struct gid_domain *domain, const char *engine, const char *name,
		const struct gid_canvas_options *options, struct gid_canvas **canvas);

/** Why this thread's last gid_canvas_create() failed; "" if it did not fail. */
const char *gid_canvas_create_error(void);

/** Gives the canvas back. Its stream has no picture any more. Accepts NULL. */
void gid_canvas_destroy(struct gid_canvas *canvas);

/** Readable (POLLIN) when gid_canvas_dispatch() has work. It never changes. */
int gid_canvas_get_fd(const struct gid_canvas *canvas);

/** Learns which lists are done, and whether the engine is there. Never blocks. Returns 0. */
int gid_canvas_dispatch(struct gid_canvas *canvas);

/** Whether the engine is there, so that lists can be submitted. */
bool gid_canvas_is_connected(const struct gid_canvas *canvas);

/** The number of the engine's domain, for gid_slab_grant(); 0: the engine is away. */
uint32_t gid_canvas_engine(const struct gid_canvas *canvas);

/**
 * Whether the engine is on another machine. It can then read only slabs of gid_slab_create(), not
 * those of gid_slab_export().
 */
bool gid_canvas_needs_window(const struct gid_canvas *canvas);

/**
 * The next list begins with a black canvas of this size and format, which are as in struct
 * gid_canvas_options. Returns 0; -EINVAL: they are out of range; -EBUSY: a list was begun already.
 */
int gid_canvas_resize(struct gid_canvas *canvas, uint32_t fourcc, uint32_t width, uint32_t height);

/** The sentence for the last call that failed, or "". Valid until the next failure. */
const char *gid_canvas_error(const struct gid_canvas *canvas);

/**
 * Lets the engine read a slab, made or imported by this program, that lists are to name. Once for
 * each slab is enough. Between two lists it also tells the engine, by a list of its own, which then
 * has the slab ready when it is drawn: so share slabs before you draw into them.
 * Returns what gid_slab_grant() returns; -ENOTCONN: the engine is away.
 */
int gid_canvas_share(struct gid_canvas *canvas, struct gid_slab *slab);

/**
 * Waits until the list with this fence is done, for `timeout_ms` (-1: without limit). Dispatches
 * the domain. Returns 0; -ETIMEDOUT; -EPIPE: the engine ended before that, or the list's memory
 * was taken; or, if the engine refused a list since the last call, the reason. A refused list was
 * drawn in part or not at all. If it was to make the canvas, the next one does.
 */
int gid_canvas_wait(struct gid_canvas *canvas, uint64_t fence, int timeout_ms);

/** Counts of the engine, for this canvas, since it was last connected. */
struct gid_canvas_stats {
	uint64_t lists;		/**< done */
	uint64_t refused;	/**< of these */
	uint64_t presented;	/**< pictures that were sent in the canvas's stream */
	uint64_t not_presented; /**< pictures that others took the place of before they were sent */
	uint64_t work_ns;	/**< of a processor, as of the engine's last pause */
	uint64_t slots;		/**< how many pictures the canvas may have at once */
	uint64_t back_end;	/**< what draws: 0 pixman, 1 OpenGL ES and pixman */
	uint64_t copied_sources;  /**< pictures that were no dma-bufs, to a graphics device */
	uint64_t copied_canvases; /**< to a graphics device, or from there to their memory */
	uint64_t reserved[4];	  /**< 0 */
};

void gid_canvas_get_stats(const struct gid_canvas *canvas, struct gid_canvas_stats *stats);

/* --- lists ----------------------------------------------------------------------------------- */

/** Porter and Duff's operators. */
enum gid_operator {
	GID_OPERATOR_CLEAR = 0,
	GID_OPERATOR_SRC = 1,
	GID_OPERATOR_DST = 2,
	GID_OPERATOR_OVER = 3,
	GID_OPERATOR_OVER_REVERSE = 4,
	GID_OPERATOR_IN = 5,
	GID_OPERATOR_IN_REVERSE = 6,
	GID_OPERATOR_OUT = 7,
	GID_OPERATOR_OUT_REVERSE = 8,
	GID_OPERATOR_ATOP = 9,
	GID_OPERATOR_ATOP_REVERSE = 10,
	GID_OPERATOR_XOR = 11,
	GID_OPERATOR_ADD = 12,
};

/** A point of the canvas, in pixels from its upper left corner. */
struct gid_point {
	int16_t x, y;
};

/** A rectangle of the canvas; it may lie outside, in part or as a whole. */
struct gid_rectangle {
	int16_t x, y;
	uint16_t width, height;
};

/** One picture on the canvas. Zeroes, but for `gid` and `alpha`, are good defaults. */
struct gid_layer {
	gid_id gid;		    /**< of a slab that the engine may read: gid_canvas_share() */
	struct gid_box source;	    /**< the part to show; empty: all of it */
	struct gid_rectangle box;   /**< where; width and height 0: as large as the source */
	uint8_t op;		    /**< enum gid_operator; 0 (CLEAR) stands for OVER here */
	uint8_t alpha;		    /**< 255: as the source has it; 0: not to be seen */
	uint8_t transform;	    /**< 0..7, as enum wl_output_transform */
	bool bilinear;		    /**< how to scale; false: the nearest pixel */
	struct gid_colours colours; /**< of YUV: what is not said is as the picture's slab says */
	bool straight;		    /**< the pixels are not multiplied by their alpha */
	uint8_t reserved[7];	    /**< 0 */
};

/** A part of a mask, and where it goes. */
struct gid_glyph {
	uint16_t source_x, source_y, width, height;
	int16_t x, y;
};

/**
 * Begins a list. If all lists are under way, waits for the first one to be done. Returns 0;
 * -ENOTCONN: the engine is away; -EBUSY: a list was begun already; -EAGAIN: gidd took the memory of
 * lists, and gives no other now.
 */
int gid_list_begin(struct gid_canvas *canvas);

/** Words that the list still has room for. */
uint32_t gid_list_room(const struct gid_canvas *canvas);

/*
 * The commands. Colours are 0xAARRGGBB, not multiplied by alpha. All of them return 0, -ENOSPC: the
 * list is full; or the error of the list.
 */

/** What follows is drawn only in these; `count` 0: everywhere. Holds until the next clip, or
 * gid_list_present(). At most 1024. */
int gid_list_clip(
		struct gid_canvas *canvas, const struct gid_rectangle *rectangles, uint32_t count);
int gid_list_fill(struct gid_canvas *canvas, enum gid_operator op, uint32_t colour,
		const struct gid_rectangle *rectangles, uint32_t count);
/** Points take the place of what was there: they are not blended. */
int gid_list_points(struct gid_canvas *canvas, uint32_t colour, const struct gid_point *points,
		uint32_t count);
/**
 * The same for a program that computes its points: returns where to write them before the next
 * call, which is in the list itself, or NULL. `*count` is the wish, and becomes what there is room
 * for.
 */
struct gid_point *gid_list_new_points(struct gid_canvas *canvas, uint32_t colour, uint32_t *count);
/** Lines from each point to the next one; `width` in pixels, 1/16 to 256. Smooth edges. */
int gid_list_lines(struct gid_canvas *canvas, uint32_t colour, double width,
		const struct gid_point *points, uint32_t count);
/** Triangles of three points each. Smooth edges. */
int gid_list_triangles(struct gid_canvas *canvas, uint32_t colour, const struct gid_point *points,
		uint32_t triangles);
/**
 * A polygon of up to 4096 points, the last of which is joined with the first. Smooth edges. What is
 * inside where edges cross: with `winding` what they go around all in all, else what an odd number
 * of them separates from outside. A hole is made by an edge to it and back.
 */
int gid_list_polygon(struct gid_canvas *canvas, uint32_t colour, bool winding,
		const struct gid_point *points, uint32_t count);
int gid_list_layer(struct gid_canvas *canvas, const struct gid_layer *layer);
/** Parts of a picture of DRM_FORMAT_R8, which say how much of the colour there is. */
int gid_list_masks(struct gid_canvas *canvas, uint32_t colour, gid_id gid,
		const struct gid_glyph *glyphs, uint32_t count);
/**
 * The picture is finished: the engine sends it. The next one begins with the same pixels, or with
 * undefined ones, which costs no copy, if `discard`. `pts` is media time in ns, or GID_TIME_NONE.
 */
int gid_list_present(struct gid_canvas *canvas, bool discard, uint64_t pts);

/**
 * Sends the list. `fence`, if it is not NULL, is for gid_canvas_wait(). Returns 0, or the first
 * error of the list: then nothing was sent.
 */
int gid_list_submit(struct gid_canvas *canvas, uint64_t *fence);

/** A whole picture of layers, the lowest first, on black: begins, presents and submits a list. */
int gid_canvas_compose(struct gid_canvas *canvas, const struct gid_layer *layers, uint32_t count,
		uint64_t *fence);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
