// SPDX-License-Identifier: MIT
/**
 * The calls that the package makes for each frame, without the interpreter's lock; and the
 * callbacks of libgid, from which Python could not raise an exception, so that a Ctrl-C would be
 * lost. build_gid.py declares all of it to Python.
 *
 * `lock` belongs to the connection, and is recursive. Callers of libgid hold it. Functions that
 * take it themselves say so.
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

/* NULL: out of memory. */
struct gid_py_lock *gid_py_lock_create(void);
void gid_py_lock_destroy(struct gid_py_lock *lock);
void gid_py_lock_take(struct gid_py_lock *lock);
bool gid_py_lock_try(struct gid_py_lock *lock);
bool gid_py_lock_take_within(struct gid_py_lock *lock, uint64_t ns); /* whether it was locked */
void gid_py_lock_let_go(struct gid_py_lock *lock);

/* Adds the types written in C to gid._gid. False: out of memory. */
bool gid_py_add_types(void);

/* An import of memory. */
struct gid_py_import {
	bool is_asked; /* gidd has not answered yet */
	bool is_done;
	int error;
	struct gid_slab *slab; /* the caller owns this reference */
};

/* A consumer. Python allocates it, zeroed, and sets the fields that say so. */
struct gid_py_reader {
	struct gid_py_lock *lock;      /* set by Python */
	struct gid_domain *domain;     /* set by Python */
	struct gid_consumer *consumer; /* set by Python; NULL: closed */
	struct gid_py_import memory;
	struct gid_frame fetched; /* the frame whose memory is being imported, while is_fetching */
	bool is_fetching;	  /* until gid_py_adopt() */
	bool is_hidden;		  /* by its last message the producer shows nothing */
	bool is_shared;		  /* set by Python: several threads or tasks have waited at once */
	bool is_by_ring;	  /* callers wait on the ring, not on the descriptor */
	bool is_asleep;		  /* a thread sleeps on the ring */
	bool is_left;		  /* closed meanwhile: that thread destroys it */
	uint64_t seen;		  /* when the last frame came, ns */
};

struct gid_py_frame; /* a frame with its note: see frame_calls.c */

/* What gid_py_next() returns besides -errno and the slot of a frame. */
enum gid_py_next {
	GID_PY_PART = -5000,   /* a frame in known memory with a crop */
	GID_PY_OTHER = -5001,  /* a frame in other memory: it is `fetched` */
	GID_PY_END = -5002,    /* the stream has ended */
	GID_PY_HEARD = -5003,  /* gidd sent a message, or is gone */
	GID_PY_CLOSED = -5004, /* it is closed */
	GID_PY_LEFT = -5005,   /* closed, and destroyed just now */
	GID_PY_FLOOD = -5006,  /* very many entries without a picture: there may be more */
	GID_PY_NO_SLOT = -5007 /* see gid_py_send() */
};

/*
 * Receives the next frame: returns its slot, enum gid_py_next, or -errno. The caller owns a
 * reference to `known`. -EAGAIN: there is none, and the caller must wait itself; before that the
 * function sleeps if it can, at most until `until` (ns). Takes the lock, and releases it while it
 * sleeps, so the caller must not hold it. `frame` is set if a slot or GID_PY_PART is returned.
 */
int gid_py_next(struct gid_py_reader *reader, const struct gid_slab *known,
		struct gid_py_frame *frame, uint64_t until);

/* Takes over the `fetched` frame. */
void gid_py_adopt(struct gid_py_reader *reader, struct gid_py_frame *frame);

/*
 * For a caller that waits on the descriptor. Wakes a thread that sleeps on the ring, so that it
 * does the same.
 */
void gid_py_wait_by_descriptor(struct gid_py_reader *reader);

/*
 * Returns whether it was destroyed. If not, gid_py_next() returns GID_PY_LEFT to the sleeping
 * thread.
 */
bool gid_py_close(struct gid_py_reader *reader);

/* Whether everything read from the frame so far was what its producer sent. */
bool gid_py_is_current(const struct gid_consumer *consumer, const struct gid_frame *frame,
		const struct gid_slab *slab);

/* Releases the frame; `slab` may be NULL. Returns whether it was current until now. */
bool gid_py_release(struct gid_py_reader *reader, const struct gid_frame *frame,
		const struct gid_slab *slab);

/* A producer. Python allocates it, zeroed, and sets the fields that say so. */
struct gid_py_writer {
	struct gid_py_lock *lock;      /* set by Python */
	struct gid_producer *producer; /* set by Python; NULL: closed */
	struct gid_slab *slab;	       /* set by Python */
	bool is_patient;	       /* set by Python */
	uint64_t heard;		       /* when releases were collected last, ns */
};

/*
 * The number of the taken slot, -1: none, is written by these functions only: so an exception of a
 * signal handler, which can come after any call, leaves no slot behind.
 *
 * Takes a free slot. Collects releases if there is none, at intervals, and if `hears`. Returns
 * whether there was one; if not, all are held and the next release rings, or the producer is
 * closed. Takes the lock.
 */
bool gid_py_take_slot(struct gid_py_writer *writer, bool hears, int32_t *slot);

/* A frame without fields. */
void gid_py_begin(struct gid_frame *frame);

/*
 * Sends a slot, or frees it if that fails. The capture time is now, unless set. Returns as
 * gid_producer_send(); GID_PY_CLOSED; or GID_PY_NO_SLOT: no slot is taken.
 */
int gid_py_send(struct gid_py_writer *writer, int32_t *slot, struct gid_frame *frame,
		const char *metadata, uint32_t size);

/* The same with a frame without fields. Takes the lock. */
int gid_py_send_bare(struct gid_py_writer *writer, int32_t *slot);

/* Frees a slot, if one is taken. */
void gid_py_give(struct gid_slab *slab, int32_t *slot);

/* The producers' callback. */
void gid_py_released(void *data, gid_id gid);

#endif
