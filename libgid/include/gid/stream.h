// SPDX-License-Identifier: MIT
/**
 * Streams: named, ordered flows of frames from one producer to any number of consumers.
 *
 * A frame passes through a ring in shared memory: no system call while the other side is awake,
 * one doorbell when it sleeps, never a wait for a peer. Thread rules as in domain.h.
 *
 * The life of a producer: gid_producer_create(); then for each frame a slot that nobody holds
 * (gid_slab_take()), the picture into it, gid_producer_send() with a frame that began as
 * GID_FRAME_INIT; when the `released` callback says that the last consumer let go, the slot is free
 * again (gid_slab_give()); gid_producer_dispatch() whenever its descriptor is readable;
 * gid_producer_destroy().
 *
 * The life of a consumer: gid_consumer_create(); gid_consumer_receive() until it gives -EAGAIN,
 * then again when its descriptor is readable (or gid_consumer_wait(), for who has no event loop);
 * each frame's slab by gid_slab_import() and its pixels by gid_slab_view(); gid_consumer_release()
 * for each frame, within its lease; gid_consumer_destroy().
 *
 * All times are CLOCK_MONOTONIC nanoseconds. A producer gives those of its own machine, a consumer
 * gets them as times of its own, translated where that is another machine: see `clock_error_ns`.
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

#define GID_CREDIT_MAX 63u	 /**< frames that one consumer can have at once */
#define GID_TIME_NONE UINT64_MAX /**< no such time */

/** What else there is to say of a frame. */
enum gid_frame_flags {
	GID_FRAME_HASH = 1 << 0, /**< content_hash is set */
	/** Frames are missing before this one (then the library sets it), or the time jumps. */
	GID_FRAME_DISCONT = 1 << 1,
	GID_FRAME_CORRUPTED = 1 << 2, /**< the producer knows that pixels are wrong */
	GID_FRAME_HEARTBEAT =
			1 << 3,	  /**< the same content as the last frame, sent as a sign of life */
	GID_FRAME_EOS = 1 << 4,	  /**< no picture (gid is GID_NONE): the flow has ended */
	GID_FRAME_FLUSH = 1 << 5, /**< no picture: forget what was not shown yet */
	GID_FRAME_HIDDEN = 1 << 6,	    /**< no picture: nothing is to be shown now */
	GID_FRAME_INTERLACED = 1 << 8,	    /**< rows of two fields, in turn */
	GID_FRAME_TOP_FIELD_FIRST = 1 << 9, /**< the field of row 0 is the earlier one */
	GID_FRAME_REPEAT_FIRST = 1
			<< 10,	       /**< the first field is to be shown again after the second */
	GID_FRAME_ONE_FIELD = 1 << 11, /**< there is one field only */
	GID_FRAME_COPIED = 1 << 12,    /**< the producer could not avoid one copy of this frame */
	GID_FRAME_DELTA =
			1 << 13, /**< of a coded flow: cannot be decoded without frames before it */
};

/** A rectangle of pixels. An empty one (width or height 0) means the whole picture. */
struct gid_box {
	int32_t x, y, width, height;
};

/**
 * Where a box of a picture of width x height pixels is seen when the picture is shown with
 * `transform` (0 to 7, as gid_frame.transform has it and wl_surface.set_buffer_transform defines
 * it). Odd ones swap width and height of what is seen.
 */
struct gid_box gid_box_turn(
		struct gid_box box, uint32_t width, uint32_t height, uint32_t transform);

/** The other way round: the box of the picture that is seen in `box`. */
struct gid_box gid_box_turn_back(
		struct gid_box box, uint32_t width, uint32_t height, uint32_t transform);

/** One entry of a stream. The producer fills it, and the consumer gets an exact copy. */
struct gid_frame {
	gid_id gid;
	uint64_t sequence;	     /**< counted from 1; gid_producer_send() sets it */
	uint64_t capture_time;	     /**< when the picture came to be, or GID_TIME_NONE */
	uint64_t submit_time;	     /**< gid_producer_send() sets it */
	uint64_t present_time;	     /**< when it is meant to be shown, or GID_TIME_NONE */
	uint64_t pts, dts, duration; /**< media time in ns, or GID_TIME_NONE */
	struct gid_box damage;	     /**< what changed since the frame before */
	struct gid_box crop;	     /**< what is to be shown */
	uint64_t content_hash;	     /**< XXH3-64 of the visible rows, with GID_FRAME_HASH */
	uint32_t flags;		     /**< enum gid_frame_flags */
	uint32_t transform;	     /**< enum wl_output_transform */
	uint64_t index;	      /**< names the frame in gid_consumer_release(); set by the library */
	uint64_t reserved[5]; /**< 0 */
};

/** What a producer's frame begins as: no picture, no times, all of it damaged and shown. */
#define GID_FRAME_INIT                                                                             \
	{                                                                                          \
			.capture_time = GID_TIME_NONE,                                             \
			.present_time = GID_TIME_NONE,                                             \
			.pts = GID_TIME_NONE,                                                      \
			.dts = GID_TIME_NONE,                                                      \
			.duration = GID_TIME_NONE,                                                 \
	}

/* --- producers ------------------------------------------------------------------------------- */

/** How a producer behaves. All zeroes but `size` is a good choice, and so is NULL. */
struct gid_producer_options {
	uint32_t size;	     /**< sizeof(struct gid_producer_options) */
	uint64_t lease_ns;   /**< how long a consumer may hold a frame it took; 0: 1 s */
	uint32_t credit_max; /**< frames one consumer may hold, 1..GID_CREDIT_MAX; 0: 8 */
	/**
	 * The last consumer of a frame let go of it (or was made to). From gid_producer_send(),
	 * _dispatch(), _reclaim() and gid_domain_dispatch(). May be NULL.
	 */
	void (*released)(void *data, gid_id gid);
	/** A consumer came (`joined`) or went; `consumers` is the count now. May be NULL. */
	void (*subscriber)(void *data, uint32_t domain, bool joined, uint32_t consumers);
	void *data;
	/**
	 * By default gid_producer_dispatch() asks for a doorbell at the next release. A producer
	 * that collects releases as it sends sets `quiet`, which spares consumers the system call,
	 * and calls gid_producer_want_release() before it waits for a slot.
	 */
	bool quiet;
	/** Whether a domain may subscribe, beyond the configuration. NULL: yes. */
	bool (*allow)(void *data, uint32_t domain);
	/**
	 * Makes gid_producer_create() not wait for gidd: it returns 0 at once, and this is called
	 * from gid_domain_dispatch() with what it would have returned. After an error the producer
	 * can only be destroyed, from within the call, too. NULL: it waits.
	 */
	void (*published)(void *data, int error);
	/**
	 * Makes gid_producer_send() not wait for gidd: where consumers need a grant first, it
	 * returns -EINPROGRESS and sends nothing, and this is called from gid_domain_dispatch(),
	 * once for each domain, when a frame of that slab may be sent again, or with why not: where
	 * gidd refuses the grant, the subscriptions of that domain are over. NULL: it waits.
	 */
	void (*granted)(void *data, gid_id gid, int error);
	/** Where points of the frames go: see timeline.h. NULL: to $GID_TIMELINE, if that is set.
	 */
	struct gid_timeline *timeline;
};

/**
 * Publishes a stream of this domain. Returns 0 and the producer; -EEXIST: the name is taken;
 * -EPERM: the cockpit's configuration has no such stream; -EINVAL: not a name; -EDQUOT; -ENOTCONN.
 */
int gid_producer_create(struct gid_domain *domain, const char *name,
		const struct gid_producer_options *options, struct gid_producer **producer);

/**
 * Ends the stream: consumers hear of it and what they held comes back at once, as by force where
 * they may be reading still (`stats.held` tells when it is better to wait). Entries without a
 * picture that were sent last, as GID_FRAME_EOS, can be received still. Takes NULL.
 */
void gid_producer_destroy(struct gid_producer *producer);

/** Readable (POLLIN) when gid_producer_dispatch() has work. Stays the same. */
int gid_producer_get_fd(const struct gid_producer *producer);

/**
 * Collects releases, ends leases that ran out, forgets dead consumers. Never blocks.
 * Arms the doorbell, so that the descriptor wakes the caller at the next release (see `quiet`).
 * Returns 0.
 */
int gid_producer_dispatch(struct gid_producer *producer);

/**
 * Sends a frame to every consumer. The slot must not be written again until `released` was called
 * for it, or, where this returned 0, right away.
 *
 * A consumer that has no credit left does not hold the others up: where it is drop-old, its oldest
 * frame that it did not take yet is taken back for this one; else it misses this frame. Both count
 * as dropped. Returns how many consumers got the frame, whose `sequence` and `submit_time` are set
 * then; or -EINVAL: the gid is out of date, or neither of a slab of this domain object nor of one
 * that it imported and that is another client's of the same domain, or another field is out of
 * range. -EINPROGRESS: see `granted`. -EPIPE: the domain object is gone.
 *
 * The first frame of a slab grants it to the consumers' domains, which asks gidd once. An imported
 * slab is lent to them likewise, where its owner does not forbid it (gid_slab_revoke()). It stays
 * imported while a frame is out, and only its owner can write its generations: if a lease of such
 * a frame runs out, the consumers' domains lose the slab, and get it again with a later frame.
 */
int gid_producer_send(struct gid_producer *producer, struct gid_frame *frame);

/**
 * Takes back, by force if need be, the slot that has been out for longest: a frame not yet taken
 * by its consumer, else (only with `force`) a taken one, whose generation then changes.
 * Returns 1 where `released` was called for a slot, else 0.
 */
int gid_producer_reclaim(struct gid_producer *producer, bool force);

/**
 * Makes the next release wake gid_producer_get_fd(), and collects those that came already. Ends
 * with the next gid_producer_dispatch().
 */
void gid_producer_want_release(struct gid_producer *producer);

/**
 * How many frames every consumer would take now, so that none is dropped: for producers that would
 * rather wait. UINT32_MAX where there is no consumer. Releases that were not collected yet do not
 * count: call gid_producer_dispatch() or gid_producer_want_release() first.
 */
uint32_t gid_producer_room(const struct gid_producer *producer);

/** How many frames the consumer that is furthest behind did not take yet. */
uint32_t gid_producer_unread(const struct gid_producer *producer);

/**
 * Whether a consumer is on another machine. It sees slabs that gid_slab_create() made, and misses
 * frames in memory that was brought by gid_slab_export(): that is to be copied into such a slab.
 */
bool gid_producer_needs_window(const struct gid_producer *producer);

/** How many consumers there are. */
uint32_t gid_producer_consumers(const struct gid_producer *producer);

/** Adds to the stream's count of copies, which consumers and gidctl see. */
void gid_producer_count_copy(struct gid_producer *producer, uint64_t bytes);

/** Counts of a producer since it was made, and what is so now. */
struct gid_producer_stats {
	uint64_t frames;		      /**< sent, whether or not anybody listened */
	uint64_t delivered;		      /**< put into a consumer's ring */
	uint64_t dropped;		      /**< not put, or taken back before they were read */
	uint64_t leases_expired;	      /**< taken back by force */
	uint64_t copied_frames, copied_bytes; /**< of gid_producer_count_copy() */
	uint32_t held;			      /**< slots with a holder now */
	uint32_t consumers;
	uint64_t doorbells;   /**< system calls made to wake a consumer */
	uint64_t reserved[8]; /**< 0 */
};

/** What the stream did so far. */
void gid_producer_get_stats(const struct gid_producer *producer, struct gid_producer_stats *stats);

/* --- consumers ------------------------------------------------------------------------------- */

/** Where a consumer stands. */
enum gid_consumer_state {
	GID_CONSUMER_WAITING =
			1,	/**< the stream does not exist, or the producer was not asked yet */
	GID_CONSUMER_LIVE = 2,	/**< frames come when they are sent */
	GID_CONSUMER_ENDED = 3, /**< the producer ended or died and `reconnect` is off */
};

/** How a consumer behaves. All zeroes but `size` is a good choice, and so is NULL. */
struct gid_consumer_options {
	uint32_t size;	  /**< sizeof(struct gid_consumer_options) */
	uint32_t credit;  /**< frames to hold at once, at most GID_CREDIT_MAX; 0: 4 */
	bool drop_old;	  /**< prefer new frames over old unread ones */
	bool reconnect;	  /**< wait for the stream to appear, and again when it goes */
	bool sleeps;	  /**< waits by gid_consumer_sleep(), not by the descriptor */
	uint32_t spin_us; /**< how long gid_consumer_wait() looks before it sleeps */
	/** From gid_domain_dispatch() and gid_consumer_receive(). `reason` is an -errno or 0. */
	void (*state)(void *data, enum gid_consumer_state state, int reason);
	void *data;
	/** Where points of the frames go: see timeline.h. NULL: to $GID_TIMELINE, if that is set.
	 */
	struct gid_timeline *timeline;
	/**
	 * Makes gid_consumer_create() not wait for gidd: it returns 0 at once, and this is called
	 * from gid_domain_dispatch(), once for each time that gidd was asked, with what it would
	 * have returned. With `reconnect` gidd is asked again later; without, after an error the
	 * state is GID_CONSUMER_ENDED next. The consumer may be destroyed from within. NULL: it
	 * waits.
	 */
	void (*answered)(void *data, int error);
};

/**
 * Subscribes to `name` of the domain named `peer` (NULL: our own). Does not wait for the
 * producer: the state callback tells. Returns 0 and the consumer; -ENOENT: no such stream may be
 * read here, or, without `reconnect`, there is none now; -EINVAL, -EDQUOT, -ENOTCONN.
 */
int gid_consumer_create(struct gid_domain *domain, const char *peer, const char *name,
		const struct gid_consumer_options *options, struct gid_consumer **consumer);

/** Unsubscribes; all frames held go back. Takes NULL. */
void gid_consumer_destroy(struct gid_consumer *consumer);

/** Where it stands now; the `state` callback tells of each change. */
enum gid_consumer_state gid_consumer_get_state(const struct gid_consumer *consumer);

/**
 * Readable (POLLIN) after gid_consumer_receive() gave -EAGAIN and there is more. Stays the same.
 * With `sleeps` it does not become readable for frames.
 */
int gid_consumer_get_fd(const struct gid_consumer *consumer);

/**
 * Takes the next frame. Returns 1; -EAGAIN: none now, and the doorbell is armed; -EPIPE: the
 * producer is gone; -EPROTO: the producer broke the protocol, the subscription is closed. With
 * `reconnect` the next calls give -EAGAIN until there is a producer again, for which
 * gid_domain_dispatch() asks. Costs no system call but for one after each -EAGAIN.
 * What the producer wrote was checked: gid, boxes and times are in range, the gid's domain is the
 * producer's. Whether the slab is ours to read gid_slab_import() tells.
 */
int gid_consumer_receive(struct gid_consumer *consumer, struct gid_frame *frame);

/**
 * Gives a frame back. Any order. Returns 0, also for a frame that has no picture or went back by
 * itself when its subscription ended; -EINVAL: not held, or not any more since its lease ran out.
 */
int gid_consumer_release(struct gid_consumer *consumer, const struct gid_frame *frame);

/**
 * For callers without an event loop: dispatches the domain and waits until a frame can be received
 * or `timeout_ms` (-1: no end) is over. Returns 1, 0 at the end of the time, or -errno.
 */
int gid_consumer_wait(struct gid_consumer *consumer, int timeout_ms);

/**
 * For a thread that does nothing else than receive: sleeps, after gid_consumer_receive() gave
 * -EAGAIN, until it is worth to be called again, where the options have `sleeps`. Waking up from it
 * costs less than from a descriptor, and the producer less than to ring. Another thread dispatches
 * the domain; libgid is to be locked for that and for all else, but not for this. The consumer must
 * not be destroyed meanwhile. Returns 0, now and then also for nothing; -EINVAL without `sleeps`.
 */
int gid_consumer_sleep(struct gid_consumer *consumer);

/** Has gid_consumer_sleep() return, at once or when it is called next. Any thread, without a lock.
 */
void gid_consumer_interrupt(struct gid_consumer *consumer);

/** Counts of a consumer since it was made, and what is so now. */
struct gid_consumer_stats {
	uint64_t frames;		      /**< received */
	uint64_t missed;		      /**< gaps in the sequence */
	uint32_t held;			      /**< frames that were received and not given back */
	uint32_t reserved0;		      /**< 0 */
	uint64_t reconnects;		      /**< how often a producer came back */
	uint64_t copied_frames, copied_bytes; /**< the producer's count */
	/**
	 * What was added to the times of the last frames, and how far off that may be: 0 and 0
	 * where producer and consumer are on one machine.
	 */
	int64_t clock_offset_ns;
	uint64_t clock_error_ns;
	uint64_t reserved[8]; /**< 0 */
};

/** What the consumer saw so far, over all its subscriptions. */
void gid_consumer_get_stats(const struct gid_consumer *consumer, struct gid_consumer_stats *stats);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
