// SPDX-License-Identifier: MIT
/**
 * Streams: named, ordered flows of frames from one producer to any number of consumers.
 *
 * A frame passes through a ring in shared memory. That takes no system call while the other side is
 * awake, and one doorbell if it sleeps. Neither side ever waits for the other. The thread rules are
 * those of domain.h.
 *
 * Lifecycle of a producer:
 * - gid_producer_create().
 * - For each frame: get a free slot with gid_slab_take(), write the picture into it, and call
 *   gid_producer_send() with a frame that was initialised by GID_FRAME_INIT.
 * - The callback `released` says that the last consumer has released a slot: gid_slab_give().
 * - Call gid_producer_dispatch() whenever the producer's descriptor is readable.
 * - gid_producer_destroy().
 *
 * Lifecycle of a consumer:
 * - gid_consumer_create().
 * - Call gid_consumer_receive() until it returns -EAGAIN, and again when the consumer's descriptor
 *   is readable. A program without an event loop calls gid_consumer_wait() in between.
 * - For each frame: gid_slab_import() gets its slab, gid_slab_view() its pixels, and
 *   gid_consumer_release() gives it back. Release it before its lease ends, or renew the lease with
 *   gid_consumer_renew().
 * - gid_consumer_destroy().
 *
 * Where frames come in numbers, as packets or lists do, gid_producer_send_burst(),
 * gid_consumer_receive_burst() and gid_consumer_release_burst() take up to 32 of them in one call,
 * and gid_slab_take_burst() finds the slots for them.
 *
 * All times are CLOCK_MONOTONIC, in nanoseconds. A producer uses the clock of its own machine. If
 * the consumer is on another machine, the library translates the times to the consumer's clock; see
 * `clock_error_ns`.
 */
#ifndef GID_STREAM_H
#define GID_STREAM_H

#include <gid/domain.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct gid_producer;
struct gid_consumer;
struct gid_timeline;

#define GID_CREDIT_MAX 63u	    /**< frames that one consumer can have at once */
#define GID_TIME_NONE UINT64_MAX    /**< no such time */
#define GID_OFFSET_NONE UINT64_MAX  /**< no such offset */
#define GID_NOTE_MAX 256u	    /**< bytes of a frame's note */
#define GID_BURST_MAX 32u	    /**< frames that one call of a burst takes or gives at most */
#define GID_CHECK_SIZE 16u	    /**< bytes of what protects a picture */
#define GID_DESCRIPTOR_SIZE 120u    /**< bytes that say what a frame is, as they are sent */
#define GID_METADATA_MAX 1048576u   /**< bytes of a frame's metadata, where the producer has room */
#define GID_METADATA_DEFAULT 16384u /**< bytes that it has room for, if it does not say so */

/** Properties of a frame, for `flags`. */
enum gid_frame_flags {
	GID_FRAME_HASH = 1 << 0, /**< content_hash is set */
	/** Frames are missing before this one (the library sets it then), or the times jump. */
	GID_FRAME_DISCONT = 1 << 1,
	GID_FRAME_CORRUPTED = 1 << 2, /**< the producer knows that pixels are wrong */
	GID_FRAME_HEARTBEAT =
			1 << 3,	  /**< the same content as the last frame, sent as a sign of life */
	GID_FRAME_EOS = 1 << 4,	  /**< no picture (gid is GID_NONE): the flow has ended */
	GID_FRAME_FLUSH = 1 << 5, /**< no picture: drop the frames that were not shown yet */
	GID_FRAME_HIDDEN = 1 << 6,	    /**< no picture: nothing is to be shown now */
	GID_FRAME_INTERLACED = 1 << 8,	    /**< rows of two fields, in turn */
	GID_FRAME_TOP_FIELD_FIRST = 1 << 9, /**< the field of row 0 is the earlier one */
	GID_FRAME_REPEAT_FIRST = 1
			<< 10,	       /**< the first field is to be shown again after the second */
	GID_FRAME_ONE_FIELD = 1 << 11, /**< there is one field only */
	GID_FRAME_COPIED = 1 << 12,    /**< the producer could not avoid one copy of this frame */
	GID_FRAME_DELTA = 1 << 13,     /**< compressed: cannot be decoded without earlier frames */
};

/** Where the reason of GID_FRAME_HIDDEN lies in `flags`: GID_HIDDEN_* << GID_FRAME_HIDDEN_SHIFT. */
#define GID_FRAME_HIDDEN_SHIFT 24u

/** Why there is nothing to be shown, in the upper bits of `flags` beside GID_FRAME_HIDDEN. */
enum gid_hidden {
	GID_HIDDEN_UNSAID = 0,
	GID_HIDDEN_EMPTY = 1,	   /**< the surface has no picture, or is gone */
	GID_HIDDEN_SIZE = 2,	   /**< its picture has another size than it must have */
	GID_HIDDEN_CROP = 3,	   /**< the part that it shows cannot be sent */
	GID_HIDDEN_SUBSURFACE = 4, /**< its subsurfaces are too many, or reach beyond it */
	GID_HIDDEN_FORMAT = 5,	   /**< its format can be neither lent nor copied */
	GID_HIDDEN_DMABUF = 6,	   /**< it lies in dma-bufs that cannot be lent */
	GID_HIDDEN_COPY = 7,	   /**< it could only be copied, which is forbidden */
	GID_HIDDEN_MEMORY = 8,	   /**< there is no memory for a copy, or it may not be lent */
	GID_HIDDEN_GONE = 9,	   /**< its memory was taken back */
	GID_HIDDEN_LAST = GID_HIDDEN_GONE,
};

/** A rectangle of pixels. An empty one (width or height 0) means the whole picture. */
struct gid_box {
	int32_t x, y, width, height;
};

/**
 * Converts a box of a picture to the place where it is seen when the picture is shown with
 * `transform`. The picture has width x height pixels. `transform` is 0 to 7, as in
 * gid_frame.transform, and is defined by wl_surface.set_buffer_transform. An odd transform swaps
 * the width and height of what is seen.
 */
struct gid_box gid_box_turn(
		struct gid_box box, uint32_t width, uint32_t height, uint32_t transform);

/** The inverse: converts a box of what is seen to the box of the picture that is seen there. */
struct gid_box gid_box_turn_back(
		struct gid_box box, uint32_t width, uint32_t height, uint32_t transform);

/**
 * Whether all of the box lies in a picture of width x height pixels. A frame's crop may not: it is
 * the producer's word, and says nothing about the slot.
 */
bool gid_box_is_within(struct gid_box box, uint32_t width, uint32_t height);

/**
 * What is seen of a picture of width x height pixels, whose frame has this crop: the crop, or all
 * of the picture where that is empty. Returns false if the crop does not lie in the picture.
 */
bool gid_box_get_seen(struct gid_box crop, uint32_t width, uint32_t height, struct gid_box *seen);

/** One entry of a stream. The producer fills it in, and the consumer gets a copy. */
struct gid_frame {
	gid_id gid;
	uint64_t sequence;	     /**< counted from 1; gid_producer_send() sets it */
	uint64_t capture_time;	     /**< when the picture came to be, or GID_TIME_NONE */
	uint64_t submit_time;	     /**< gid_producer_send() sets it */
	uint64_t present_time;	     /**< when it is meant to be shown, or GID_TIME_NONE */
	uint64_t pts, dts, duration; /**< media time in ns, or GID_TIME_NONE */
	struct gid_box damage;	     /**< what changed since the frame before */
	struct gid_box crop;	     /**< what is to be shown */
	/**
	 * With GID_FRAME_HASH: XXH3-64 of the visible rows without padding, plane after plane.
	 * Where pixels share samples, the rows have all blocks of samples that are seen in part.
	 */
	uint64_t content_hash;
	uint32_t flags;	    /**< enum gid_frame_flags */
	uint32_t transform; /**< enum wl_output_transform */
	uint64_t index;	    /**< names the frame in gid_consumer_release(); set by the library */
	/** Where it begins and ends in its medium, as numbers of frames, or GID_OFFSET_NONE. */
	uint64_t offset, offset_end;
	/**
	 * What the producer's framework says of the frame beyond all this, for the same framework
	 * on the other side: libgid does not look at it. The note is the caller's until
	 * gid_producer_send() returns; that of a received frame is good until the next call of
	 * gid_consumer_receive(), and has to be parsed with care.
	 */
	uint32_t media_flags, note_size; /**< bytes, at most GID_NOTE_MAX; 0: no note */
	const void *note;
	/** Where its metadata lies: gid_producer_put_metadata() sets it. GID_NONE: it has none. */
	gid_id metadata;
};

/**
 * The initial value of a producer's frame: no picture, no times, all of it damaged and shown. Each
 * field is named, for then a compiler need not clear all of the frame before.
 */
#define GID_FRAME_INIT                                                                             \
	{                                                                                          \
			.gid = GID_NONE,                                                           \
			.sequence = 0,                                                             \
			.capture_time = GID_TIME_NONE,                                             \
			.submit_time = 0,                                                          \
			.present_time = GID_TIME_NONE,                                             \
			.pts = GID_TIME_NONE,                                                      \
			.dts = GID_TIME_NONE,                                                      \
			.duration = GID_TIME_NONE,                                                 \
			.damage = {0, 0, 0, 0},                                                    \
			.crop = {0, 0, 0, 0},                                                      \
			.content_hash = 0,                                                         \
			.flags = 0,                                                                \
			.transform = 0,                                                            \
			.index = 0,                                                                \
			.offset = GID_OFFSET_NONE,                                                 \
			.offset_end = GID_OFFSET_NONE,                                             \
			.media_flags = 0,                                                          \
			.note_size = 0,                                                            \
			.note = NULL,                                                              \
			.metadata = GID_NONE,                                                      \
	}

/** When a display showed a frame: what a consumer with a display can tell the producer. */
struct gid_shown {
	uint64_t sequence;   /**< of the frame */
	uint64_t time;	     /**< CLOCK_MONOTONIC of who tells, or is told */
	uint64_t refresh_ns; /**< from one refresh of the display to the next; 0: it has none */
	/**
	 * How long before a refresh the display begins to compose: what comes later waits for the
	 * next one. 0: not known.
	 */
	uint64_t window_ns;
	uint64_t reserved[4]; /**< 0 */
};

/**
 * What protects a picture on its whole way, from who makes it to who shows it. libgid carries it
 * and does not look at it. gid/protection.h makes such checks, and tells whether they are right.
 */
struct gid_check {
	uint64_t kind;		       /**< who can tell what it is; 0: nobody */
	uint8_t bytes[GID_CHECK_SIZE]; /**< the check itself */
	/**
	 * What the frame was sent as, little-endian: docs/wire-ring.md. It has the gid, the
	 * sequence number, all times by the producer's clock, boxes, flags and transform, but not
	 * the bytes of the note and of metadata.
	 */
	uint8_t descriptor[GID_DESCRIPTOR_SIZE];
};

/** In which memory pictures of a format can be shown: bits of gid_showable.memory. */
enum gid_showable_memory {
	GID_SHOWABLE_SHARED = 1, /**< any but dma-bufs */
	GID_SHOWABLE_DMABUF = 2,
};

/** A format that a consumer can show. */
struct gid_showable {
	uint32_t fourcc;   /**< of drm_fourcc.h */
	uint32_t memory;   /**< bits of enum gid_showable_memory, at least one */
	uint64_t modifier; /**< of drm_fourcc.h; 0: rows one after the other */
};

/** More formats than that are not told. */
#define GID_SHOWABLE_MAX 64u

/* --- producers ------------------------------------------------------------------------------- */

/** How a producer behaves. All zeroes except `size` are good defaults; NULL means the same. */
struct gid_producer_options {
	uint32_t size; /**< sizeof(struct gid_producer_options) */
	/**
	 * How long a consumer may keep a frame after another picture was sent; 0: 1 s, or 10 s for
	 * a producer that is `patient`. The stream's last picture has no such limit: a display goes
	 * on showing it, and a machine that was paused still finds it. gid_producer_reclaim() takes
	 * back what is needed sooner. A consumer that calls gid_consumer_renew() may keep its
	 * frames, within its credit, for this time from then on.
	 */
	uint64_t lease_ns;
	uint32_t credit_max; /**< frames one consumer may hold, 1..GID_CREDIT_MAX; 0: 8 */
	/**
	 * The last consumer of a frame released it, or the frame was taken back from it. Called
	 * from gid_producer_send(), gid_producer_dispatch(), gid_producer_reclaim() and
	 * gid_domain_dispatch(). May be NULL.
	 */
	void (*released)(void *data, gid_id gid);
	/** A consumer came (`joined`) or went. `consumers` is their number now. May be NULL. */
	void (*subscriber)(void *data, uint32_t domain, bool joined, uint32_t consumers);
	void *data;
	/**
	 * By default gid_producer_dispatch() asks for a doorbell at the next release. With `quiet`
	 * it does not, and consumers need no system call to release a frame. That suits a producer
	 * that collects releases when it sends. Before it waits for a slot, it must call
	 * gid_producer_want_release().
	 */
	bool quiet;
	/** Whether a domain that the configuration allows may subscribe. NULL: yes. */
	bool (*allow)(void *data, uint32_t domain);
	/**
	 * If set, gid_producer_create() does not wait for gidd. It returns 0 at once, and its
	 * result comes later: this is called with it from gid_domain_dispatch(). After an error the
	 * producer can only be destroyed; the callback itself may do that. NULL:
	 * gid_producer_create() waits.
	 */
	void (*published)(void *data, int error);
	/**
	 * If set, gid_producer_send() does not wait for gidd. If consumers need a grant first, it
	 * returns -EINPROGRESS and sends nothing. Later this is called from gid_domain_dispatch(),
	 * once for each domain. `error` is 0: frames of this slab can be sent now. Or `error` says
	 * why gidd refused the grant, and the subscriptions of that domain have ended. While gidd
	 * is away the frame is sent, and consumers that need a grant miss it. NULL:
	 * gid_producer_send() waits.
	 */
	void (*granted)(void *data, gid_id gid, int error);
	/** Where the points of frames are written, see timeline.h. NULL: to $GID_TIMELINE, if set.
	 */
	struct gid_timeline *timeline;
	/**
	 * Tells consumers that the producer waits for gid_producer_room() before it sends: they
	 * need not hurry, as no frame is dropped. Frames that a consumer has not received yet stay
	 * there for a lease after it received its last one. A consumer that loses a frame all the
	 * same is not waited for any more: gid_producer_room() and gid_producer_unread() leave it
	 * out until it receives or releases a frame. So a consumer that hangs costs one wait, and
	 * one with `drop_old` none.
	 */
	bool patient;
	/**
	 * A new consumer gets at once what the stream shows: the picture that was sent last, with
	 * its sequence number, or that there is none (GID_FRAME_HIDDEN). So does a consumer that
	 * had no room for it, when it releases a frame and nothing was sent since. For this the
	 * producer itself holds the picture's slot until it sends another one;
	 * gid_producer_reclaim() gives it up. So gid_producer_send() may return 0 for a frame whose
	 * slot is held: `released` tells when it is not any more.
	 */
	bool keeps_shown;
	/** Bytes of metadata that a frame can have, up to GID_METADATA_MAX; 0:
	 * GID_METADATA_DEFAULT. */
	uint32_t metadata_max;
};

/**
 * Publishes a stream of this domain. Returns 0 and the producer; -EEXIST: the name is taken;
 * -EPERM: the cockpit's configuration does not allow it; -EINVAL: not a name; -EDQUOT; -ENOTCONN.
 */
int gid_producer_create(struct gid_domain *domain, const char *name,
		const struct gid_producer_options *options, struct gid_producer **producer);

/**
 * Ends the stream. Consumers are notified, and all frames that they hold are taken back at once,
 * even if a consumer still reads one. (To avoid that, wait until `held` of the statistics is 0.)
 * Entries without a picture that were sent last, such as GID_FRAME_EOS, can still be received.
 * Accepts NULL.
 */
void gid_producer_destroy(struct gid_producer *producer);

/** The descriptor is readable (POLLIN) when gid_producer_dispatch() has work. It never changes. */
int gid_producer_get_fd(const struct gid_producer *producer);

/**
 * Collects releases, takes back frames whose lease is over, and removes dead consumers. Never
 * blocks. Without `quiet`, arms the doorbell: the descriptor becomes readable at the next release.
 * Returns 0.
 */
int gid_producer_dispatch(struct gid_producer *producer);

/**
 * Sends a frame to every consumer. The slot must not be written again until `released` was called
 * for it. If this function returned 0, no consumer got the frame, and the slot may be written at
 * once.
 *
 * A consumer that has no credit left does not delay the others. If it chose `drop_old`, its oldest
 * unread frame is taken back, and it gets this one instead. Otherwise it misses this frame. Both
 * count as dropped; of a `patient` producer only the second does.
 *
 * Returns the number of consumers that got the frame, and sets the frame's `sequence` and
 * `submit_time`, and its `gid` where the slot, which was taken and is held by nobody, has another
 * one by now; -EINVAL: the gid is out of date otherwise, a field is out of range, or the slab was
 * neither made by this domain object nor imported by it from another client of the same domain;
 * -EINPROGRESS: see `granted`; -EPIPE: the domain object was destroyed.
 *
 * The first frame of a slab grants the slab to the domains of the consumers; gidd is asked once.
 * With `granted`, it is asked as soon as a slab is there that was made for the stream. An imported
 * slab is lent to them in the same way, if its owner does not forbid it (gid_slab_revoke()). It
 * stays imported while a consumer holds a frame of it. Only its owner can change its generations.
 * So if the lease of such a frame ends, the domain of the consumer that held it loses the whole
 * slab, and gets it again with a later frame.
 */
int gid_producer_send(struct gid_producer *producer, struct gid_frame *frame);

/**
 * Puts metadata beside a frame that is to be sent next: bytes of the caller's choice, such as what
 * was detected in the picture. They lie in a slab of the producer's own, so that also a picture in
 * memory that it may not write has some, and stay as long as the frame's slot is held. libgid does
 * not look at them. Call it when `gid` is set, then send the frame; the bytes are the caller's
 * again at once. Nobody else is disturbed: readers that do not ask for metadata do not see it.
 *
 * The first call makes the slab, and the first one for a new reader's domain grants it: these wait
 * for gidd. With the callback `granted` it is -EINPROGRESS instead: a later frame has some.
 *
 * Returns 0, and for `size` 0, too: the frame has none; or the frame has none, and -EMSGSIZE: more
 * bytes than `metadata_max`; -ENOBUFS: 64 frames with metadata are out already; -EINVAL: the frame
 * has no picture; -EPIPE: the domain object was destroyed; or the error of
 * gid_slab_create_for_stream() or gid_slab_grant(). The frame can be sent all the same.
 */
int gid_producer_put_metadata(struct gid_producer *producer, struct gid_frame *frame,
		const void *bytes, uint32_t size);

/**
 * Sends up to GID_BURST_MAX frames, in their order, as gid_producer_send() does. Each consumer is
 * woken once at most, and the time is asked for once: `submit_time` is the same for all. It costs a
 * fraction of as many single calls, where several frames are there at once. The frames can be those
 * of the burst before: only what is not as it was then has to be set.
 *
 * `released` is called for each slot that was sent when nobody holds it any more: here, before the
 * function returns, where no consumer got the frame. So it is the one place to learn that, whether
 * the frame was received or not.
 *
 * Returns how many frames were sent, from the first on, whose `sequence`, `submit_time` and `gid`
 * are set as by gid_producer_send(). It is less than `count`, at most by those after a frame that
 * cannot be sent; then a call with the rest returns why. The first frame's own errors are those of
 * gid_producer_send(), and -EINVAL: `count` is 0 or too large. On the producer's thread.
 */
int gid_producer_send_burst(
		struct gid_producer *producer, struct gid_frame *frames, uint32_t count);

/**
 * Takes back the slot that was sent longest ago: of frames that no consumer has read yet, or, only
 * with `force`, of those that were read; then the generation of the slot changes.
 * Returns 1 if `released` was called for a slot, else 0.
 */
int gid_producer_reclaim(struct gid_producer *producer, bool force);

/**
 * Reports that the producer waits for a free slot: call it at least once a second while it does. If
 * it could send no other picture for a lease since the first call, renewed leases end as all
 * others.
 */
void gid_producer_lacks_memory(struct gid_producer *producer);

/**
 * Makes the descriptor of gid_producer_get_fd() readable at the next release, and collects the
 * releases that have already come. Holds until the next gid_producer_dispatch().
 */
void gid_producer_want_release(struct gid_producer *producer);

/**
 * How many frames can be sent now without a drop for any consumer: for producers that prefer to
 * wait. UINT32_MAX if there is no consumer. Releases that were not collected yet do not count: call
 * gid_producer_dispatch() or gid_producer_want_release() first.
 */
uint32_t gid_producer_room(const struct gid_producer *producer);

/** The largest number of unread frames that any consumer has. */
uint32_t gid_producer_unread(const struct gid_producer *producer);

/**
 * Whether a consumer is on another machine. Such a consumer can read only slabs of
 * gid_slab_create(), and those of gid_slab_create_for_stream() for this stream, or for one with the
 * same readers. It misses frames in memory of gid_slab_export(): copy them into such a slab.
 */
bool gid_producer_needs_window(const struct gid_producer *producer);

/**
 * What the first consumer of the domain `domain` that has a display told last, by
 * gid_consumer_tell_shown(); 0: what the only consumer told, and nothing where there are several,
 * for each could make the producer serve its display at the cost of the others. It may be untrue,
 * but is possible: of a frame of this producer, less than a second ago, with a refresh of 1 ms to
 * 1 s or none, and a window no longer than that. Consumers are asked to tell from the first call
 * on, for it costs them something. Makes no system call. Returns 0; -ENODATA: nothing was told.
 */
int gid_producer_get_shown(struct gid_producer *producer, uint32_t domain, struct gid_shown *shown);

/**
 * The formats that can be shown by all consumers that told theirs by gid_consumer_tell_showable(),
 * in one consumer's order of preference. Consumers that told nothing do not count: most can take
 * any. What they told may be untrue, but each is a format that gid_format_find() knows, in a kind
 * of memory that there is. Makes no system call. Returns how many there are, which may be 0;
 * -ENODATA: nobody told anything.
 */
int gid_producer_get_showable(const struct gid_producer *producer,
		struct gid_showable showable[GID_SHOWABLE_MAX]);

/** How many consumers there are. */
uint32_t gid_producer_consumers(const struct gid_producer *producer);

/** Why a frame was copied. */
enum gid_copy_reason {
	GID_COPY_UNSAID = 0,
	GID_COPY_STARTUP = 1,	      /**< decoded before the memory was negotiated */
	GID_COPY_PADDED_WIDTH = 2,    /**< the decoder's rows are wider than the picture's */
	GID_COPY_DECODER_MEMORY = 3,  /**< the decoder could decode in place, and does not */
	GID_COPY_UPSTREAM_MEMORY = 4, /**< it was written into memory of somebody's own */
	GID_COPY_SPLIT_MEMORY = 5,    /**< it lies in several pieces of memory */
	GID_COPY_UNSEALED_MEMORY = 6, /**< its file has not the seals that it needs */
	GID_COPY_OTHER_MACHINE = 7,   /**< a consumer on another machine cannot see the memory */
	GID_COPY_PLAIN_LAYOUT = 8,    /**< its rows are not laid out as whoever gets it assumes */
	GID_COPY_HELD = 9,	      /**< the consumer holds as many frames as it may */
	GID_COPY_CANVAS_SLOTS = 10,   /**< all slots of an engine's canvas are held */
	GID_COPY_COMPOSED = 11,	      /**< several surfaces were drawn into one picture */
};
/** Reasons are below it, also those of later versions. */
#define GID_COPY_REASONS_MAX 16u

/** The reason's name, as "upstream-memory"; NULL: there is none. */
const char *gid_copy_reason_name(uint32_t reason);

/**
 * Adds a frame to the stream's count of copies, which consumers and gidctl see. The first is the
 * same for a reason that is not said.
 */
void gid_producer_count_copy(struct gid_producer *producer, uint64_t bytes);
void gid_producer_count_copy_for(
		struct gid_producer *producer, enum gid_copy_reason reason, uint64_t bytes);

/**
 * Makes the check of a picture of `slab` that is about to be sent: sets `kind` and `bytes`, for the
 * frame, its descriptor, which is there already, and the pixels. Returns 0, or -errno: then the
 * frame is not sent, and this is what gid_producer_send() returns. It calls nothing of the
 * producer.
 */
typedef int (*gid_check_func)(void *data, const struct gid_frame *frame,
		const struct gid_slab *slab, struct gid_check *check);

/**
 * From now on each picture is sent with a check. `make` is called in gid_producer_send(), and where
 * a picture is sent again for a consumer that came late: in gid_producer_dispatch() and
 * gid_domain_dispatch(). NULL: pictures have none. What `data` points to is the caller's, for as
 * long as the producer is there.
 */
void gid_producer_set_check(struct gid_producer *producer, gid_check_func make, void *data);

/** Counts since the producer was made; `held` and `consumers` are present values. */
struct gid_producer_stats {
	uint64_t frames;		      /**< pictures sent, with or without consumers */
	uint64_t delivered;		      /**< put into a consumer's ring */
	uint64_t dropped;		      /**< not put there, or taken back unread */
	uint64_t leases_expired;	      /**< taken back by force */
	uint64_t copied_frames, copied_bytes; /**< of gid_producer_count_copy() */
	uint32_t held;			      /**< slots with a holder now */
	uint32_t consumers;
	uint64_t doorbells;   /**< system calls made to wake a consumer */
	uint64_t reserved[8]; /**< 0 */
};

/** Fills in the statistics of the stream. */
void gid_producer_get_stats(const struct gid_producer *producer, struct gid_producer_stats *stats);

/* --- consumers ------------------------------------------------------------------------------- */

/** The state of a consumer. */
enum gid_consumer_state {
	GID_CONSUMER_WAITING = 1, /**< no such stream, or its producer has not answered yet */
	GID_CONSUMER_LIVE = 2,	  /**< frames come when they are sent */
	GID_CONSUMER_ENDED = 3,	  /**< the producer ended or died and `reconnect` is off */
};

/** How a consumer behaves. All zeroes except `size` are good defaults; NULL means the same. */
struct gid_consumer_options {
	uint32_t size;	  /**< sizeof(struct gid_consumer_options) */
	uint32_t credit;  /**< frames to hold at once, at most GID_CREDIT_MAX; 0: 4 */
	bool drop_old;	  /**< without credit: lose old unread frames, not new ones */
	bool reconnect;	  /**< wait for the stream to appear, and again when it goes */
	bool sleeps;	  /**< waits by gid_consumer_sleep(), not by the descriptor */
	uint32_t spin_us; /**< how long gid_consumer_wait() polls before it sleeps */
	/**
	 * The state changed. Called from gid_domain_dispatch() and gid_consumer_receive().
	 * `reason` is an -errno or 0.
	 */
	void (*state)(void *data, enum gid_consumer_state state, int reason);
	void *data;
	/** Where the points of frames are written, see timeline.h. NULL: to $GID_TIMELINE, if set.
	 */
	struct gid_timeline *timeline;
	/**
	 * If set, gid_consumer_create() does not wait for gidd. It returns 0 at once, and its
	 * result comes later: this is called with it from gid_domain_dispatch(), once for each
	 * time that gidd was asked. After an error gidd is asked again later if `reconnect` is set;
	 * otherwise the state becomes GID_CONSUMER_ENDED. The callback may destroy the consumer.
	 * NULL: gid_consumer_create() waits.
	 */
	void (*answered)(void *data, int error);
	/**
	 * By default gid_consumer_receive() asks for a doorbell when there is no frame. With
	 * `quiet` it does not, and a frame costs neither side a system call. That suits a program
	 * that looks for frames by itself, as in a loop that is never idle, or at each refresh of a
	 * display. gid_consumer_wait() asks for the doorbell before it sleeps, so what comes while
	 * it polls for `spin_us` costs none either. The descriptor does not become readable for
	 * frames. Not together with `sleeps`.
	 */
	bool quiet;
};

/**
 * Subscribes to the stream `name` of the domain `owner`, a name or a number (NULL: our own). Does
 * not wait for the producer: the callback `state` tells when it is there. Returns 0 and the
 * consumer; -ENOENT: this domain may not read such a stream, or can never have it, or, without
 * `reconnect`, it does not exist now; -EACCES: this program's user may not read it; -EINVAL,
 * -EDQUOT, -ENOTCONN, -ENOSYS: neither this program nor its gidd has a /proc.
 */
int gid_consumer_create(struct gid_domain *domain, const char *owner, const char *name,
		const struct gid_consumer_options *options, struct gid_consumer **consumer);

/** Unsubscribes. All frames that it holds are given back. Accepts NULL. */
void gid_consumer_destroy(struct gid_consumer *consumer);

/** The present state. The callback `state` is called at each change. */
enum gid_consumer_state gid_consumer_get_state(const struct gid_consumer *consumer);

/**
 * After gid_consumer_receive() returned -EAGAIN, the descriptor becomes readable (POLLIN) when
 * there is a new frame. It never changes. With `sleeps` or `quiet` it does not become readable for
 * frames.
 */
int gid_consumer_get_fd(const struct gid_consumer *consumer);

/**
 * Receives the next frame. Returns 1; -EAGAIN: there is none now, and the doorbell is armed (not
 * with `quiet`); -EPIPE: the stream has ended for good, as the state GID_CONSUMER_ENDED says. With
 * `reconnect` a producer that goes is -EAGAIN, too, which only the callback `state` tells apart,
 * and gid_domain_dispatch() asks for the next one. -EPROTO: the producer broke the protocol, and
 * the subscription is closed; this is told once, also with `reconnect`, and a program that goes on
 * then waits for the next producer. Makes no system call, except one after each -EAGAIN.
 * Where it does not return 1, what is in `frame` then counts for nothing.
 * The frame was checked: gid, boxes and times are in range, and the gid's domain is that of the
 * producer. Whether we may read the slab is known only when gid_slab_import() returns.
 */
int gid_consumer_receive(struct gid_consumer *consumer, struct gid_frame *frame);

/**
 * Receives the frames that are there, up to `count` and no more than GID_BURST_MAX, in their order,
 * for less than as many single calls cost. Returns how many; there may be more, so call it until it
 * returns -EAGAIN, as gid_consumer_receive(). Other returns are the same as there, and -EINVAL:
 * `count` is 0. With -EPROTO one of them broke the protocol, and all went back with the
 * subscription. Notes are good until the next call that receives. On the consumer's thread.
 */
int gid_consumer_receive_burst(
		struct gid_consumer *consumer, struct gid_frame *frames, uint32_t count);

/**
 * Gives a frame back. Frames may be released in any order. Returns 0, also for a frame that has no
 * picture, and for one whose subscription has ended; -EINVAL: the frame is not held, or its lease
 * is over and it was taken back.
 */
int gid_consumer_release(struct gid_consumer *consumer, const struct gid_frame *frame);

/**
 * Gives any number of frames back, as gid_consumer_release() does with each, and wakes the producer
 * once at most. All are gone through, whatever becomes of each. Returns 0, or -EINVAL: at least one
 * was not held. On the consumer's thread.
 */
int gid_consumer_release_burst(
		struct gid_consumer *consumer, const struct gid_frame *frames, uint32_t count);

/**
 * Renews the leases of all frames that are held: the program lives, and uses them. They stay as
 * they are until now + `lease_ns` of the statistics, so call it three times in such a time for as
 * long as frames are held for longer than they are shown. A producer whose memory is short for a
 * whole lease takes frames back all the same, and an older one does not know of renewals: ask
 * gid_consumer_holds(). Makes no system call. Returns 0; -ENOTCONN: there is no producer now.
 */
int gid_consumer_renew(struct gid_consumer *consumer);

/**
 * Whether a frame that was received from `slab`, and not released, is still ours, so that all that
 * was read of it until now is what was sent. `until` may be NULL, or gets the time until which it
 * is ours at least, if the lease is not renewed: GID_TIME_NONE: the producer does not tell. Makes
 * no system call. Returns 0; -ESTALE: it was taken back, or the producer's machine or ours was set
 * back to what it was before, and its pixels may be others; -ENOENT:
 * only its slab was revoked, see gid_slab_on_revoked(); -ENOTCONN: its subscription is over, and
 * the pixels are what was sent as long as gid_slab_is_current().
 */
int gid_consumer_holds(const struct gid_consumer *consumer, const struct gid_frame *frame,
		const struct gid_slab *slab, uint64_t *until);

/**
 * Copies a frame's slot to memory of the caller's: the bytes that gid_layout_size() says, or the
 * `slot_size` of the slab where that is 0. The frame can be released then. Waits for the device
 * that draws into a dma-buf, as gid_dmabuf_begin_read(). Returns 0: the copy is what was sent;
 * -ESTALE, -ENOENT, -ENOTCONN: it may not be, see gid_consumer_holds(); -EINVAL: the memory cannot
 * be read by a processor; -EAGAIN: not now.
 */
int gid_consumer_keep(const struct gid_consumer *consumer, const struct gid_frame *frame,
		const struct gid_slab *slab, void *to);

/**
 * Copies the metadata of a frame that was received from `slab`, and not released, to `room` bytes
 * of the caller's. What it means is between producer and consumer, and any bytes can be there:
 * parse it with care. The first call for a producer imports its slab, and waits for gidd as
 * gid_slab_import() does; a producer that changes the slab is followed ten times a second at most.
 * Returns the bytes that were copied; 0: the frame has none; -EMSGSIZE: it has more than `room`;
 * -ESTALE, -ENOENT, -ENOTCONN: it may be that of another frame, see gid_consumer_holds(); -EPROTO:
 * the producer broke the protocol; -EAGAIN: not now; or the error of gid_slab_import(). On the
 * consumer's thread.
 */
int gid_consumer_get_metadata(struct gid_consumer *consumer, const struct gid_frame *frame,
		const struct gid_slab *slab, void *to, uint32_t room);

/**
 * Gets the check of a picture that was received, and not released. It may be any bytes: `frame` and
 * `check->descriptor` are set from one copy of what the producer wrote, so use this frame from now
 * on, and have gid/protection.h compare both with the pixels. Makes no system call. Returns 0;
 * -ENODATA: it has none; -ESTALE: it was taken back; -ENOTCONN: its subscription is over; -EPROTO:
 * it is not any more what was received. On the consumer's thread.
 */
int gid_consumer_get_check(
		struct gid_consumer *consumer, struct gid_frame *frame, struct gid_check *check);

/**
 * Adds a frame that the consumer itself had to copy to what gidctl shows of its subscription. Makes
 * no system call.
 */
void gid_consumer_count_copy(
		struct gid_consumer *consumer, enum gid_copy_reason reason, uint64_t bytes);

/**
 * Tells the producer when a frame of this stream was shown, by our clock, so that it can send the
 * next ones just in time: where it wants to know that. Makes no system call, and wakes nobody.
 * gid_consumer_tell_shown() returns 0, or -ENOTCONN: there is no producer now.
 */
bool gid_consumer_wants_shown(const struct gid_consumer *consumer);
int gid_consumer_tell_shown(struct gid_consumer *consumer, const struct gid_shown *shown);

/**
 * Tells the producer which formats we can show, those first that we like best, so that it can
 * choose among them. To be told again each time the state becomes GID_CONSUMER_LIVE, for then it
 * may be another producer. Of more than GID_SHOWABLE_MAX the rest is left out. Makes no system
 * call, and wakes nobody. Returns 0; -ENOTCONN: there is no producer now.
 */
int gid_consumer_tell_showable(struct gid_consumer *consumer, const struct gid_showable *showable,
		uint32_t number);

/**
 * For callers without an event loop: dispatches the domain, and waits until a frame can be received
 * or until `timeout_ms` have passed (-1: no limit). Returns 1, also where gid_consumer_receive()
 * has an end to tell, or finds nothing then; 0 when the time is over; -EINTR: a signal was handled;
 * -EPIPE: the stream has ended for good; or another -errno.
 */
int gid_consumer_wait(struct gid_consumer *consumer, int timeout_ms);

/**
 * For a thread that only receives, with the option `sleeps`. Call it after gid_consumer_receive()
 * returned -EAGAIN: it sleeps until gid_consumer_receive() should be called again. This costs less
 * than to wait for a descriptor, and a wake-up costs the producer less than a doorbell.
 * Another thread must dispatch the domain. That and all other calls need the caller's lock; this
 * function is called without it. The consumer must not be destroyed meanwhile.
 * gid_consumer_sleep_until() also returns when that time has come, CLOCK_MONOTONIC in ns;
 * GID_TIME_NONE: there is none. Both return 0, sometimes without a new frame; -EINVAL without
 * `sleeps`.
 */
int gid_consumer_sleep(struct gid_consumer *consumer);
int gid_consumer_sleep_until(struct gid_consumer *consumer, uint64_t until);

/**
 * Sets the option `sleeps` anew: for a program that waits for frames in a thread now, and for its
 * descriptor then. It holds at once, also after gid_consumer_receive() returned -EAGAIN. On the
 * consumer's thread, while none is in gid_consumer_sleep(). Makes system calls: not for each frame.
 * Returns 0, or -EINVAL: the consumer is `quiet`, and stays as it is.
 */
int gid_consumer_set_sleeps(struct gid_consumer *consumer, bool sleeps);

/**
 * Makes gid_consumer_sleep() return: now, or when it is called next. May be called from any thread,
 * without a lock. It also makes the descriptor readable until the next gid_consumer_receive(): a
 * program that waits for the descriptor looks for the reason of the interruption after that call.
 */
void gid_consumer_interrupt(struct gid_consumer *consumer);

/** Counts since the consumer was made; held, unread, clock, lease and credit are of now. */
struct gid_consumer_stats {
	uint64_t frames;		      /**< received */
	uint64_t missed;		      /**< gaps in the sequence */
	uint32_t held;			      /**< frames that were received and not released */
	uint32_t unread;		      /**< entries that can be received now */
	uint64_t reconnects;		      /**< how often a producer came back */
	uint64_t copied_frames, copied_bytes; /**< the producer's count */
	/**
	 * What was added to the times of the last frames, and the largest possible error of that.
	 * Both are 0 if producer and consumer are on one machine.
	 */
	int64_t clock_offset_ns;
	uint64_t clock_error_ns;
	uint64_t lease_ns; /**< how long a frame is ours after another was sent; 0: not told */
	uint32_t credit;   /**< frames that we may have, as the producer allows; 0: not told */
	uint32_t patient;  /**< 1: the producer waits for credit, no frame is missed for want of it
			    */
	uint64_t reserved[6]; /**< 0 */
};

/** Fills in the statistics of the consumer, over all its subscriptions. */
void gid_consumer_get_stats(const struct gid_consumer *consumer, struct gid_consumer_stats *stats);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
