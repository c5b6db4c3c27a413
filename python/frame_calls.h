// SPDX-License-Identifier: MIT
/**
 * What the package calls for each frame, in one call that lets other threads run; and what libgid
 * calls while it is called itself: an exception has no way out of Python there, so a Ctrl-C would
 * be lost. build_gid.py makes all of it known to Python.
 *
 * The lock is the connection's: whoever calls libgid holds it. It is recursive. Functions take it
 * where they say so.
 */
#ifndef GID_PY_FRAME_CALLS_H
#define GID_PY_FRAME_CALLS_H

#include <gid/stream.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef GID_PY_PROTECTS
#include <gid/protection.h>
#endif

struct gid_py_lock;

/* NULL: there is no memory. */
struct gid_py_lock *gid_py_lock_create(void);
void gid_py_lock_destroy(struct gid_py_lock *lock);
void gid_py_lock_take(struct gid_py_lock *lock);
bool gid_py_lock_try(struct gid_py_lock *lock);
bool gid_py_lock_take_within(struct gid_py_lock *lock, uint64_t ns); /* whether it was to be had */
void gid_py_lock_let_go(struct gid_py_lock *lock);

/* Adds the types of C to gid._gid. False: there is no memory. */
bool gid_py_add_types(void);

/* Memory that gidd was asked for. */
struct gid_py_import {
	bool is_asked; /* and it has not answered yet */
	bool is_done;
	int error;
	struct gid_slab *slab; /* a reference of the caller's */
};

/* A consumer. Python makes it, of zeroes, and sets what is marked. */
struct gid_py_reader {
	struct gid_py_lock *lock;      /* set */
	struct gid_domain *domain;     /* set */
	struct gid_consumer *consumer; /* set; NULL: it is closed */
	struct gid_py_import memory;
	struct gid_frame fetched; /* whose memory that is, while is_fetching */
	bool is_fetching;	  /* until the frame is taken over */
	bool is_hidden;		  /* the producer said last that nothing is to be shown */
	bool is_shared;		  /* set: several threads or tasks have waited at once */
	bool is_by_ring;	  /* it is waited for over the ring, not for the descriptor */
	bool is_asleep;		  /* a thread is, over the ring */
	bool is_left;		  /* it was closed then: that thread destroys it */
	uint64_t seen;		  /* when the last frame came, ns */
};

struct gid_py_frame; /* a frame with its note: see frame_calls.c */

/* What gid_py_next() returns beside -errno and the slot of a frame. */
enum gid_py_next {
	GID_PY_PART = -5000,   /* a frame in known memory of which a part is shown */
	GID_PY_OTHER = -5001,  /* a frame that is `fetched`: in other memory */
	GID_PY_END = -5002,    /* the flow has ended */
	GID_PY_HEARD = -5003,  /* gidd said something, or is gone */
	GID_PY_CLOSED = -5004, /* it is closed */
	GID_PY_LEFT = -5005,   /* likewise, and it was destroyed just now */
	GID_PY_FLOOD = -5006,  /* very many entries without a picture: there may be more */
	GID_PY_NO_SLOT = -5007 /* see gid_py_send() */
};

/*
 * The next frame, of whose memory the caller has a reference if it is `known`: its slot, or enum
 * gid_py_next, or -errno. -EAGAIN: there is none, and the caller has to wait by itself. Before that
 * it sleeps where it can, until a time (ns) or for less. Takes the lock, and lets it go while it
 * sleeps: then it must not be held. `frame` is one if it returns a slot or GID_PY_PART.
 */
int gid_py_next(struct gid_py_reader *reader, const struct gid_slab *known,
		struct gid_py_frame *frame, uint64_t until);

/* Takes over the frame that is `fetched`. */
void gid_py_adopt(struct gid_py_reader *reader, struct gid_py_frame *frame);

/* For one who waits for the descriptor. A thread that sleeps over the ring is woken, to do so. */
void gid_py_wait_by_descriptor(struct gid_py_reader *reader);

/* Whether it is destroyed. If not, gid_py_next() returns GID_PY_LEFT to the thread that sleeps. */
bool gid_py_close(struct gid_py_reader *reader);

/* Whether all that was read of the frame until now is what was sent. */
bool gid_py_is_current(const struct gid_consumer *consumer, const struct gid_frame *frame,
		const struct gid_slab *slab);

/* Gives it back, which may lie in no memory that is here. Whether it was current until now. */
bool gid_py_release(struct gid_py_reader *reader, const struct gid_frame *frame,
		const struct gid_slab *slab);

/* A producer. Python makes it, of zeroes, and sets what is marked. */
struct gid_py_writer {
	struct gid_py_lock *lock;      /* set */
	struct gid_producer *producer; /* set; NULL: it is closed */
	struct gid_slab *slab;	       /* set */
	bool is_patient;	       /* set */
	uint64_t heard;		       /* when its readers were listened to last, ns */
};

/*
 * The number of a slot that is taken, -1: none, lies where only these functions write it: so an
 * exception out of a signal's handler, which comes after any call, leaves no slot behind.
 *
 * Takes a free slot. What came back is collected where there is none, now and then, and if `hears`.
 * Whether there was one; if not, all are held, and the next release rings; or it is closed. Takes
 * the lock.
 */
bool gid_py_take_slot(struct gid_py_writer *writer, bool hears, int32_t *slot);

/* A frame of which nothing is said. */
void gid_py_begin(struct gid_frame *frame);

/*
 * Sends a slot, or gives it back if that fails. It came to be now, where nothing else is said. As
 * gid_producer_send(); or GID_PY_CLOSED, or GID_PY_NO_SLOT: it is taken no more.
 */
int gid_py_send(struct gid_py_writer *writer, int32_t *slot, struct gid_frame *frame,
		const char *metadata, uint32_t size);

/* The same of a frame of which nothing is said. Takes the lock. */
int gid_py_send_bare(struct gid_py_writer *writer, int32_t *slot);

/* Gives a slot back, if one is taken. */
void gid_py_give(struct gid_slab *slab, int32_t *slot);

/* The producers' callback. */
void gid_py_released(void *data, gid_id gid);

#endif
