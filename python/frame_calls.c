// SPDX-License-Identifier: MIT
#include "frame_calls.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

/* A stream flows while its last frame is not older than this. */
#define FLOWS_NS UINT64_C(100000000)
/* The interval at which messages of gidd are handled meanwhile. */
#define DISPATCH_NS UINT64_C(100000000)

struct gid_py_lock {
	pthread_mutex_t mutex;
	uint64_t dispatched; /* when messages of gidd were handled last, ns */
};

struct gid_py_frame {
	struct gid_frame frame;
	uint8_t note[GID_NOTE_MAX]; /* a copy: libgid reuses its own */
};

static void gid_py_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct gid_py_import *import = data;
	*import = (struct gid_py_import){.is_done = true, .error = error, .slab = slab};
}

struct gid_py_lock *gid_py_lock_create(void) {
	struct gid_py_lock *lock = calloc(1, sizeof(*lock));
	if (lock != NULL) {
		pthread_mutexattr_t attributes;
		pthread_mutexattr_init(&attributes);
		pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
		pthread_mutex_init(&lock->mutex, &attributes);
		pthread_mutexattr_destroy(&attributes);
	}
	return lock;
}

/* Not destroyed first: it is unlocked, or in a forked child, where its owner does not exist. */
void gid_py_lock_destroy(struct gid_py_lock *lock) {
	free(lock);
}

void gid_py_lock_take(struct gid_py_lock *lock) {
	pthread_mutex_lock(&lock->mutex);
}

bool gid_py_lock_try(struct gid_py_lock *lock) {
	return pthread_mutex_trylock(&lock->mutex) == 0;
}

bool gid_py_lock_take_within(struct gid_py_lock *lock, uint64_t ns) {
	const struct timespec between = {.tv_nsec = 1000000};
	uint64_t begin = gid_clock_now();
	while (!gid_py_lock_try(lock)) {
		if (gid_clock_now() - begin > ns) {
			return false;
		}
		nanosleep(&between, NULL);
	}
	return true;
}

void gid_py_lock_let_go(struct gid_py_lock *lock) {
	pthread_mutex_unlock(&lock->mutex);
}

/*
 * Receives up to the next picture: 1, GID_PY_END, or -errno. The number of entries without a
 * picture is limited: a producer could add them as fast as we take them.
 */
static int receive_picture(struct gid_py_reader *reader, struct gid_frame *frame) {
	for (uint32_t i = 0; i < GID_CREDIT_MAX; i++) {
		int result = gid_consumer_receive(reader->consumer, frame);
		if (result != 1) {
			return result;
		}
		reader->is_hidden = (frame->flags & GID_FRAME_HIDDEN) != 0;
		if (frame->gid != GID_NONE) {
			return 1;
		}
		if ((frame->flags & GID_FRAME_EOS) != 0) {
			return GID_PY_END;
		}
	}
	return GID_PY_FLOOD;
}

static void keep_note(struct gid_py_frame *to) {
	if (to->frame.note_size > 0) {
		memcpy(to->note, to->frame.note, to->frame.note_size);
	}
	to->frame.note = to->note;
}

/*
 * The memory of a frame, which may need a request to gidd. The frame is `fetched` until
 * gid_py_adopt().
 */
static void fetch(struct gid_py_reader *reader, const struct gid_frame *frame,
		struct gid_slab *slab, int error) {
	struct gid_py_import *memory = &reader->memory;
	if (error == -EINPROGRESS) {
		memory->is_asked = true;
	} else {
		gid_py_imported(memory, frame->gid, error, slab);
	}
	reader->fetched = *frame; /* its note is valid: nothing is received before gid_py_adopt() */
	reader->is_fetching = true;
}

/* Receives the next frame, and imports its memory. */
static int take(struct gid_py_reader *reader, const struct gid_slab *known,
		struct gid_py_frame *to) {
	struct gid_frame *frame = &to->frame;
	int result = receive_picture(reader, frame);
	if (result != 1) {
		return result;
	}
	/*
	 * In nearly all cases the memory is known: then even libgid's own table is not consulted.
	 */
	if (known == NULL || !gid_slab_is_current(known, frame->gid)) {
		struct gid_slab *slab = NULL;
		reader->memory = (struct gid_py_import){0};
		int error = gid_slab_import_async(reader->domain, frame->gid, gid_py_imported,
				&reader->memory, &slab);
		if (error != 0 || slab != known) {
			fetch(reader, frame, slab, error);
			return GID_PY_OTHER;
		}
		gid_slab_unref(slab);
	}
	keep_note(to);
	bool is_cropped = frame->crop.width > 0 && frame->crop.height > 0;
	return is_cropped ? GID_PY_PART : (int)gid_slot_of(frame->gid);
}

/* Receives what is there now, unless another thread does. -EAGAIN: nothing. */
static int look(struct gid_py_reader *reader, const struct gid_slab *known,
		struct gid_py_frame *frame) {
	if (reader->consumer == NULL) {
		return GID_PY_CLOSED;
	}
	if (reader->is_asleep || reader->is_fetching) {
		return -EAGAIN;
	}
	uint64_t now = gid_clock_now();
	if (now - reader->lock->dispatched > DISPATCH_NS) {
		reader->lock->dispatched = now;
		if (gid_domain_dispatch(reader->domain) != 0) {
			return GID_PY_HEARD;
		}
	}
	int result = take(reader, known, frame);
	if (result >= 0 || result == GID_PY_PART || result == GID_PY_OTHER) {
		reader->seen = now;
	}
	return result;
}

void gid_py_wait_by_descriptor(struct gid_py_reader *reader) {
	if (reader->is_asleep) {
		reader->is_shared = true;
		gid_consumer_interrupt(reader->consumer);
	} else if (reader->is_by_ring) {
		reader->is_by_ring = false;
		gid_consumer_set_sleeps(reader->consumer, false);
	}
}

/* Sleeps on the ring without the lock: while frames flow, and no other caller waits. */
static int sleep_and_look(struct gid_py_reader *reader, const struct gid_slab *known,
		struct gid_py_frame *frame, uint64_t until) {
	struct gid_consumer *consumer = reader->consumer;
	uint64_t end = reader->seen + FLOWS_NS;
	if (!reader->is_by_ring) {
		reader->is_by_ring = true;
		gid_consumer_set_sleeps(consumer, true);
	}
	reader->is_asleep = true;
	gid_py_lock_let_go(reader->lock);
	gid_consumer_sleep_until(consumer, end < until ? end : until);
	gid_py_lock_take(reader->lock);
	reader->is_asleep = false;
	if (reader->is_shared && reader->consumer != NULL) {
		gid_py_wait_by_descriptor(reader);
	}
	if (reader->is_left) {
		gid_consumer_destroy(consumer);
		reader->is_left = false;
		return GID_PY_LEFT;
	}
	return look(reader, known, frame);
}

int gid_py_next(struct gid_py_reader *reader, const struct gid_slab *known,
		struct gid_py_frame *frame, uint64_t until) {
	gid_py_lock_take(reader->lock);
	int result = look(reader, known, frame);
	if (result == -EAGAIN && !reader->is_shared && !reader->is_asleep && !reader->is_fetching) {
		uint64_t now = gid_clock_now();
		if (now < until && now - reader->seen < FLOWS_NS) {
			result = sleep_and_look(reader, known, frame, until);
		}
	}
	gid_py_lock_let_go(reader->lock);
	return result;
}

void gid_py_adopt(struct gid_py_reader *reader, struct gid_py_frame *frame) {
	frame->frame = reader->fetched;
	keep_note(frame);
	reader->is_fetching = false;
}

bool gid_py_close(struct gid_py_reader *reader) {
	struct gid_consumer *consumer = reader->consumer;
	reader->consumer = NULL;
	if (reader->memory.is_asked) {
		gid_slab_import_cancel(reader->domain, &reader->memory);
	} else if (reader->is_fetching && reader->memory.error == 0) {
		gid_slab_unref(reader->memory.slab);
	}
	if (reader->is_asleep) {
		reader->is_left = true;
		gid_consumer_interrupt(consumer);
		return false;
	}
	gid_consumer_destroy(consumer);
	return true;
}

bool gid_py_is_current(const struct gid_consumer *consumer, const struct gid_frame *frame,
		const struct gid_slab *slab) {
	int held = gid_consumer_holds(consumer, frame, slab, NULL);
	if (held == -ENOTCONN) { /* the stream ended: ask the slab */
		return gid_slab_is_current(slab, frame->gid);
	}
	return held == 0;
}

bool gid_py_release(struct gid_py_reader *reader, const struct gid_frame *frame,
		const struct gid_slab *slab) {
	if (reader->consumer == NULL) {
		return false; /* closing the consumer released it */
	}
	bool current = slab != NULL && gid_py_is_current(reader->consumer, frame, slab);
	gid_consumer_release(reader->consumer, frame);
	return current;
}

/* The number of a free slot, or -EAGAIN. */
static int find_slot(struct gid_py_writer *writer, bool hears) {
	struct gid_producer *producer = writer->producer;
	int index = -EAGAIN;
	bool has_room = false;
	for (int i = hears ? 1 : 0; i < 2 && index < 0; i++) {
		if (i == 1) {
			gid_producer_dispatch(producer);
		}
		has_room = !writer->is_patient || gid_producer_room(producer) > 0;
		index = has_room ? gid_slab_take(writer->slab) : -EAGAIN;
	}
	if (index < 0 && !writer->is_patient && gid_producer_reclaim(producer, false) > 0) {
		index = gid_slab_take(writer->slab);
	}
	if (index < 0 && has_room) {
		gid_producer_lacks_memory(producer);
	}
	return index;
}

bool gid_py_take_slot(struct gid_py_writer *writer, bool hears, int32_t *slot) {
	gid_py_lock_take(writer->lock);
	if (writer->producer != NULL) {
		uint64_t now = gid_clock_now();
		hears = hears || now - writer->heard > DISPATCH_NS;
		writer->heard = hears ? now : writer->heard;
		*slot = find_slot(writer, hears);
		if (*slot < 0) {
			gid_producer_want_release(writer->producer);
		}
	}
	bool is_taken = *slot >= 0;
	gid_py_lock_let_go(writer->lock);
	return is_taken;
}

void gid_py_begin(struct gid_frame *frame) {
	*frame = (struct gid_frame)GID_FRAME_INIT;
}

int gid_py_send(struct gid_py_writer *writer, int32_t *slot, struct gid_frame *frame,
		const char *metadata, uint32_t size) {
	if (writer->producer == NULL) {
		return GID_PY_CLOSED;
	}
	if (*slot < 0) {
		return GID_PY_NO_SLOT;
	}
	frame->gid = gid_slab_gid(writer->slab, (uint32_t)*slot);
	if (frame->capture_time == GID_TIME_NONE) {
		frame->capture_time = gid_clock_now();
	}
	int result = gid_producer_put_metadata(writer->producer, frame, metadata, size);
	if (result == 0) {
		result = gid_producer_send(writer->producer, frame);
	}
	gid_py_give(writer->slab, slot);
	return result;
}

int gid_py_send_bare(struct gid_py_writer *writer, int32_t *slot) {
	struct gid_frame frame = GID_FRAME_INIT;
	gid_py_lock_take(writer->lock);
	int result = gid_py_send(writer, slot, &frame, NULL, 0);
	gid_py_lock_let_go(writer->lock);
	return result;
}

/* While readers hold the slot, their last release gives it back. */
void gid_py_give(struct gid_slab *slab, int32_t *slot) {
	if (*slot >= 0 && gid_slab_holders(slab, (uint32_t)*slot) == 0) {
		gid_slab_give(slab, (uint32_t)*slot);
	}
	*slot = -1;
}

void gid_py_released(void *data, gid_id gid) {
	gid_slab_give(data, gid_slot_of(gid));
}
