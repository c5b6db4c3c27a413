// SPDX-License-Identifier: MIT
/**
 * The frames of one stream: subscribes, and again whenever it went; gets the memory; has each frame
 * examined by a worker; and bounds what a producer can make the display's thread do in one refresh,
 * however much it sends. Never waits: not for gidd, not for a device that still draws the picture,
 * and not for the worker.
 */
#ifndef CLUSTER_STREAM_READER_H
#define CLUSTER_STREAM_READER_H

#include <wayland-server-core.h>

#include "samples.h"
#include "work_bound.h"
#include "worker.h"

struct stream_reader;

/* Entries of the ring, of any kind, that are taken in one refresh. */
#define STREAM_READER_ENTRIES 8u
/*
 * So many ticks after a picture was put into its ring it is taken at the latest, whatever else is
 * there before it: for the credit that the reader gives, libgid makes rings of 16 places.
 */
#define STREAM_READER_TICKS 2u

struct stream_reader_hooks {
	/*
	 * A frame was examined. `slab` is its memory, NULL: it may not be read; the picture is
	 * there if there is no reason against it. Returns whether the hook takes the frame, to
	 * release it itself; it takes references of its own to all else.
	 */
	bool (*examined)(void *data, const struct examination *of, struct gid_slab *slab,
			uint64_t now);
	/* The producer says that there is nothing to be shown: GID_FRAME_EOS or _HIDDEN. */
	void (*absent)(void *data, const struct gid_frame *frame, uint64_t now);
	/* The stream is gone, and why: 0 or -errno. Frames that were taken are not released now. */
	void (*disconnected)(void *data, int reason, uint64_t now);
};

/* What is read, as the configuration has it. All of it outlives the reader. */
struct stream_reader_config {
	const char *kind, *name; /* "role", and its own, for the log */
	const char *domain;	 /* NULL: our own */
	const char *stream;
	uint64_t undrawn_ns; /* how long a picture may wait for the device that draws it */
	/*
	 * A picture whose memory nobody knows is asked for again until another one comes: gidd may
	 * not know it yet after a restart, and one that stands still comes only once. Not for
	 * roles, whose producers send it again as a sign of life, and which judge each frame once.
	 */
	bool asks_again;
	uint32_t width, height;
	struct examiner_rules rules;
	struct gid_timeline *timeline; /* NULL: none */
};

struct stream_reader {
	struct stream_reader_config config;
	const struct stream_reader_hooks *hooks;
	void *data; /* of the hooks */
	struct wl_event_loop *loop;
	struct gid_domain *domain; /* NULL: there is none now */
	uint32_t own_domain;	   /* its number; 0: there was none yet */
	struct gid_consumer *consumer;
	struct wl_event_source *source;
	uint64_t refused; /* when there was no memory to subscribe; tried again later */
	int logged_error; /* why gidd refuses, as last said in the log; 0: it does not */
	unsigned entries; /* of the ring, taken since the last tick */
	unsigned imports; /* frames of those whose memory was asked for */
	unsigned wakes;	  /* by the doorbell, since then */
	enum {
		STREAM_READER_IDLE,
		STREAM_READER_IMPORTING, /* `waiting` waits for its memory */
		STREAM_READER_FENCED,	 /* for the device that draws it; its memory is `slab` */
		STREAM_READER_QUEUED,	 /* for the worker; likewise */
		STREAM_READER_MISSING,	 /* it was refused, and its memory is asked for again */
	} waits;
	struct gid_frame waiting;
	bool asked_again;      /* its memory: that it is refused was told */
	uint64_t asked;	       /* when, last */
	uint64_t fenced_since; /* when it was found first not to be drawn; 0: nobody asked yet */
	struct gid_slab *slab; /* our reference, or NULL */
	/*
	 * Of the frame that was good last, a reference or NULL: while gidd is away only memory that
	 * is in use stays known.
	 */
	struct gid_slab *used;

	struct worker *worker;
	struct work_grant grant; /* to be given to the worker */
	struct {
		bool on;	       /* there is one */
		bool is_void;	       /* what comes of it is not to be shown */
		bool owed;	       /* its frame is to be released */
		uint64_t fenced_since; /* of its frame */
		struct gid_slab *slab; /* our reference */
	} work;			       /* of the worker */
	/* Of the last frame that the configuration does not take: how it was; or "". */
	char not_taken[16];
	bool logged_format, logged_transform; /* once */
	uint64_t undrawn;		      /* frames that no device had drawn in time */
	struct samples spent;		      /* of a processor, for each frame */
};

/* Returns 0 or -ENOMEM; the reader is to be finished in either case. */
int stream_reader_init(struct stream_reader *reader, const struct stream_reader_config *config,
		const struct stream_reader_hooks *hooks, void *data, struct wl_event_loop *loop);
void stream_reader_finish(struct stream_reader *reader);

/* There is a domain. */
void stream_reader_start(struct stream_reader *reader, struct gid_domain *domain);

/* The domain is about to be destroyed, when stream_reader_reads() says no; or we are. */
void stream_reader_stop(struct stream_reader *reader);

/* Whether the worker reads memory of a domain. */
bool stream_reader_reads(const struct stream_reader *reader);

/* Waits until it does not, or until then: at our end, when nothing is shown any more. Returns
 * whether it does not. */
bool stream_reader_drain(struct stream_reader *reader, uint64_t until);

/* A refresh has passed: looks at what came and was not looked at yet. */
void stream_reader_tick(struct stream_reader *reader);

#endif
