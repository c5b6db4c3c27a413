// SPDX-License-Identifier: MIT
/** A consumer's frames: taken out of the ring, waited for, given back; what is told of them. */
#include <errno.h>
#include <gid/timeline.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

#include "consumer.h"

/* How often, at least, a caller that never runs out of frames reads gidd's messages. */
#define DISPATCH_NS 100000000ull

/* Latency is measured at most once in this time, as counted by the frames' submit times. */
#define MEASURE_NS 1000000ull

/* --- receiving -------------------------------------------------------------------------------- */

/* Adds so many frames of one latency to the statistics that gidctl shows. */
static void add_latency(
		struct gid_wire_page *page, uint64_t submit_time, uint64_t now, uint32_t frames) {
	uint64_t latency = now > submit_time ? now - submit_time : 0, us = latency / 1000;
	uint64_t sum = page->latency_sum_ns + latency * frames;
	size_t last = sizeof(page->latency_buckets) / sizeof(page->latency_buckets[0]) - 1;
	size_t bucket = us == 0 ? 0 : 64 - (size_t)__builtin_clzll(us);
	uint64_t *count = &page->latency_buckets[bucket < last ? bucket : last];
	__atomic_store_n(count, *count + frames, __ATOMIC_RELAXED);
	__atomic_store_n(&page->latency_sum_ns, sum, __ATOMIC_RELAXED);
}

static void write_point(const struct gid_consumer *consumer, enum gid_timeline_event event,
		const struct gid_frame *frame, uint64_t now) {
	gid_timeline_write(consumer->timeline,
			&(struct gid_timeline_point){
					.event = event,
					.time = now,
					.gid = frame->gid,
					.stream = consumer->name,
					.sequence = frame->sequence,
					.domain = gid_domain_number(consumer->domain),
			});
}

/* Frames are missing, or it is the first one. */
static __attribute__((noinline)) void note_gap(
		struct gid_consumer *consumer, uint64_t expected, struct gid_frame *frame) {
	if (expected != 0 && frame->sequence > expected) {
		consumer->stats.missed += frame->sequence - expected;
		frame->flags |= GID_FRAME_DISCONT;
	} else if (expected == 0) {
		frame->flags |= consumer->stats.reconnects > 0 ? GID_FRAME_DISCONT : 0;
		/* a stream that lives is asked for at once again */
		consumer->back_off = GID_BACK_OFF_MIN_NS;
	}
}

/* Publishes the releases, and wakes the producer if it waits for one. */
static inline void publish_releases(struct gid_consumer *consumer) {
	gid_ring_publish_releases(&consumer->ring);
	if (gid_ring_should_wake_producer(&consumer->ring)) {
		gid_doorbell_ring(&consumer->doorbell);
	}
}

static void give_back(struct gid_consumer *consumer, uint64_t index) {
	if (gid_ring_put_back(&consumer->ring, index) == 0) {
		publish_releases(consumer);
	}
}

/* Saturates: the time is the producer's, and may be anything. */
static void translate(uint64_t *time, int64_t offset) {
	if (*time != GID_TIME_NONE) {
		int64_t ours;
		if (__builtin_add_overflow((int64_t)*time, offset, &ours)) {
			ours = INT64_MAX;
		}
		*time = ours < 0 ? 0 : (uint64_t)ours;
	}
}

/* From the producer's clock to ours. */
static __attribute__((noinline)) void translate_times(struct gid_frame *frame, int64_t offset) {
	translate(&frame->capture_time, offset);
	translate(&frame->submit_time, offset);
	translate(&frame->present_time, offset);
}

/* The note and the metadata, which only entries with a second line have. */
static __attribute__((noinline)) void take_more(const struct gid_consumer *consumer,
		const struct gid_wire_note *note, struct gid_frame *frame) {
	frame->note = frame->note_size > 0 ? note : NULL;
	if (frame->metadata != GID_NONE) {
		gid_id slab = __atomic_load_n(&consumer->shared->metadata, __ATOMIC_RELAXED);
		frame->metadata = gid_make(consumer->producer_domain, gid_slab_of(slab),
				gid_slot_of(frame->metadata), 0);
	}
}

/* Frames that are being received. */
struct taking {
	struct gid_consumer *consumer;
	struct gid_frame *next;
	uint64_t base, next_sequence; /* the consumer's */
	uint64_t sequence;	      /* of `next` */
	gid_id first;		      /* that can be one of the producer's */
};

static inline __attribute__((always_inline)) bool copy_picture(
		void *data, const struct gid_wire_entry *line) {
	struct taking *taking = data;
	bool is_picture = gid_wire_read_picture(taking->next, line, taking->first);
	taking->sequence = taking->next->sequence;
	return is_picture;
}

/* The frame at `next` is held now: numbers it, and goes on to the next one. */
static inline __attribute__((always_inline)) void next_frame(void *data, uint64_t index) {
	struct taking *taking = data;
	struct gid_frame *frame = taking->next++;
	const uint64_t sequence = taking->sequence;
	frame->index = taking->base + index;
	if (RING_RARELY(sequence != taking->next_sequence)) {
		note_gap(taking->consumer, taking->next_sequence, frame);
	}
	taking->next_sequence = sequence + 1;
}

/*
 * The slow path, for all but whole pictures without more. An entry without a picture goes back at
 * once: it has no slot to be read.
 */
static __attribute__((noinline)) int take_other(struct taking *taking,
		struct gid_ring_consumer *end, uint64_t index, uint32_t number) {
	struct gid_frame *frame = taking->next;
	struct gid_wire_frame copy;
	int got = gid_ring_keep(end, index, &copy, number);
	if (got <= 0) {
		return got;
	}
	if (gid_wire_get_frame(frame, &copy, taking->consumer->producer_domain) < 0) {
		return -EPROTO;
	}
	taking->sequence = frame->sequence;
	if (copy.more != 0) {
		take_more(taking->consumer, &end->notes[number], frame);
	}
	if (frame->gid == GID_NONE) {
		give_back(taking->consumer, index);
	}
	next_frame(taking, index);
	return got;
}

/* Works on a copy, so that the compiler can keep `taking` itself in registers. */
static inline __attribute__((always_inline)) int take_hard(
		void *data, struct gid_ring_consumer *end, uint64_t index, uint32_t number) {
	struct taking *taking = data, copy = *taking;
	int got = take_other(&copy, end, index, number);
	*taking = copy;
	return got;
}

/* How the producer's clock differs from ours; NULL: it is the same one. */
static const struct gid_clock *find_clock(const struct gid_consumer *consumer) {
	return consumer->domain == NULL || consumer->domain->clocks == NULL
			? NULL
			: &consumer->domain->clocks[consumer->producer_domain];
}

/*
 * Reading the clock costs as much as a frame. So the latency of the last frame counts for all since
 * the last measurement, which followed each other fast.
 */
static __attribute__((noinline)) void measure(
		struct gid_consumer *consumer, const struct gid_frame *frames, uint32_t count) {
	uint64_t now = gid_clock_now(), time = frames[count - 1].submit_time;
	add_latency(consumer->memory.data, time, now,
			(uint32_t)(consumer->received - consumer->measured_at));
	consumer->measured_at = consumer->received;
	consumer->measured = time;
	for (uint32_t i = 0; consumer->timeline != NULL && i < count; i++) {
		write_point(consumer, GID_TIMELINE_RECEIVE, &frames[i], now);
	}
}

static inline void count_frames(
		struct gid_consumer *consumer, const struct gid_frame *frames, uint32_t count) {
	struct gid_wire_page *page = consumer->memory.data;
	consumer->received += count;
	__atomic_store_n(&page->received, consumer->received, __ATOMIC_RELAXED);
	if (frames[count - 1].submit_time - consumer->measured >= MEASURE_NS ||
			consumer->timeline != NULL) {
		measure(consumer, frames, count);
	}
}

static inline struct taking begin_taking(struct gid_consumer *consumer, struct gid_frame *frames) {
	return (struct taking){
			.consumer = consumer,
			.next = frames,
			.base = consumer->base,
			.next_sequence = consumer->next_sequence,
			.first = gid_wire_first_gid(consumer->producer_domain),
	};
}

/* Completes the receiving of `count` frames, if there are any. Returns `count`. */
static inline __attribute__((always_inline)) int finish_taking(
		struct taking *taking, struct gid_frame *frames, int count) {
	struct gid_consumer *consumer = taking->consumer;
	if (count > 0) {
		const struct gid_clock *clock = find_clock(consumer);
		for (int i = 0; clock != NULL && i < count; i++) { /* of another machine */
			translate_times(&frames[i], clock->offset);
		}
		consumer->next_sequence = taking->next_sequence;
		count_frames(consumer, frames, (uint32_t)count);
	}
	return count;
}

/* Receives the next frames that are there. Returns how many, or -EPROTO. */
static __attribute__((noinline)) int take_some(
		struct gid_consumer *consumer, struct gid_frame *frames, uint32_t most) {
	struct taking taking = begin_taking(consumer, frames);
	most = most < GID_BURST_MAX ? most : GID_BURST_MAX;
	int count = gid_ring_receive_each(
			&consumer->ring, most, copy_picture, next_frame, take_hard, &taking);
	return finish_taking(&taking, frames, count);
}

/* The claimed entry needs the slow path. Where it was reclaimed, receives the next one instead. */
static __attribute__((noinline)) int take_claimed(
		struct gid_consumer *consumer, struct gid_frame *frame, uint64_t index) {
	struct taking taking = begin_taking(consumer, frame);
	int got = take_other(&taking, &consumer->ring, index, 0);
	return got != 0 ? finish_taking(&taking, frame, got) : take_some(consumer, frame, 1);
}

/* The fast path for one frame, without loops. */
static inline __attribute__((always_inline)) int take_one(
		struct gid_consumer *consumer, struct gid_frame *frame) {
	struct taking taking = begin_taking(consumer, frame);
	uint64_t index;
	int claimed = gid_ring_claim(&consumer->ring, 1, &index);
	if (claimed <= 0) {
		return claimed;
	}
	if (RING_RARELY(!gid_ring_take(&consumer->ring, index, copy_picture, &taking))) {
		return take_claimed(consumer, frame, index);
	}
	next_frame(&taking, index);
	return finish_taking(&taking, frame, 1);
}

static void set_over(struct gid_consumer *consumer) {
	if (!consumer->over) {
		consumer->over = true;
		consumer->reason = gid_consumer_is_closed(consumer) ? 0 : -EPIPE;
	}
}

/*
 * Consumes the events of the eventfd that bypasses gidd: they are edge-triggered, so that whoever
 * polls sees each ring once. Returns whether the socket has something to be read.
 */
static bool take_edges(struct gid_consumer *consumer) {
	struct epoll_event events[3];
	int count = epoll_wait(consumer->sleep.epoll_fd, events, 3, 0);
	bool by_socket = false, rung = false;
	for (int i = 0; i < count; i++) {
		by_socket |= events[i].data.fd == consumer->doorbell.fd;
		rung |= events[i].data.fd == consumer->doorbell.hear;
	}
	uint64_t sent = __atomic_load_n(&consumer->shared->tail, __ATOMIC_ACQUIRE);
	if (rung && !gid_doorbell_bears(&consumer->doorbell, sent)) {
		gid_consumer_stop_hearing(consumer);
		gid_consumer_send_hearing(consumer, false);
	}
	return by_socket;
}

/* Returns 0, or -EPROTO. */
static int silence(struct gid_consumer *consumer) {
	int heard = gid_doorbell_silence(&consumer->doorbell, consumer->ring.asleep / 2);
	if (heard == -EPIPE) {
		set_over(consumer);
		heard = 0;
	}
	return heard;
}

/* Silences the doorbell, where that woke us. The one system call after a sleep. */
static int end_sleep(struct gid_consumer *consumer) {
	gid_ring_consumer_wake(&consumer->ring);
	if (!gid_sleep_was_rung(&consumer->sleep, consumer->memory.data) ||
			(consumer->doorbell.hear >= 0 && !take_edges(consumer))) {
		return 0;
	}
	return silence(consumer);
}

/*
 * A quiet consumer is not rung. It looks now and then whether the other side hung up, as gidd,
 * which would tell, may be away.
 */
static int listen_sometimes(struct gid_consumer *consumer) {
	uint64_t now = gid_clock_now();
	if (now - consumer->listened < DISPATCH_NS) {
		return -EAGAIN;
	}
	consumer->listened = now;
	int heard = silence(consumer);
	return heard < 0 || consumer->over ? heard : -EAGAIN;
}

/*
 * There is no frame: asks for a wake-up by the next one, unless the consumer is quiet. Returns
 * -EAGAIN; 0: look for a frame once more; -EPROTO.
 */
static int await_next(struct gid_consumer *consumer) {
	if (consumer->options.quiet) {
		return listen_sometimes(consumer);
	}
	return gid_ring_consumer_sleep(&consumer->ring) ? 0 : -EAGAIN;
}

static inline int wake_up(struct gid_consumer *consumer) {
	gid_sleep_calm(&consumer->sleep);
	bool sleeps = consumer->ring.asleep % 2 != 0 && consumer->shared != NULL && !consumer->over;
	return sleeps ? end_sleep(consumer) : 0;
}

static inline __attribute__((always_inline)) int receive(
		struct gid_consumer *consumer, struct gid_frame *frames, uint32_t most) {
	int got = wake_up(consumer);
	/* A few tries at most: what comes after the last one rings. */
	for (int i = 0; got == 0 && i < 3; i++) {
		got = most == 1 ? take_one(consumer, frames) : take_some(consumer, frames, most);
		if (got > 0) {
			if (consumer->ring.asleep % 2 != 0) {
				gid_ring_consumer_wake(&consumer->ring);
			}
			gid_sleep_end(&consumer->sleep);
			return got;
		}
		if (got == 0 && consumer->over) {
			got = -EPIPE;
		} else if (got == 0 && gid_consumer_is_closed(consumer)) {
			set_over(consumer); /* its last frames may have come just before */
		} else if (got == 0) {
			got = await_next(consumer);
		}
	}
	return got == 0 ? -EAGAIN : got;
}

/*
 * Ends the subscription. Returns what receiving answers: -EAGAIN where the consumer waits for the
 * next subscription, as later calls do; but -EPROTO is always told.
 */
static __attribute__((noinline)) int end_subscription(struct gid_consumer *consumer, int got) {
	gid_consumer_enter(consumer);
	gid_consumer_disconnect(consumer, got == -EPIPE ? consumer->reason : got);
	bool waits = consumer->state == GID_CONSUMER_WAITING && !consumer->destroyed;
	gid_consumer_leave(consumer);
	return got == -EPIPE && waits ? -EAGAIN : got;
}

static inline __attribute__((always_inline)) int receive_up_to(
		struct gid_consumer *consumer, struct gid_frame *frames, uint32_t count) {
	consumer->sleep.word = NULL;
	if (consumer->state != GID_CONSUMER_LIVE) {
		gid_sleep_calm(&consumer->sleep);
		return consumer->state == GID_CONSUMER_ENDED ? -EPIPE : -EAGAIN;
	}
	int got = receive(consumer, frames, count);
	if (got > 0 && consumer->life.count == 0) { /* nearly always: of this machine */
		return got;
	}
	if ((got > 0 || got == -EPROTO) && gid_life_is_over(&consumer->life)) {
		/* A machine was restored: these may be of its earlier life. */
		consumer->reason = got = -EPIPE;
	}
	if (got == -EAGAIN) {
		gid_sleep_prepare(&consumer->sleep, &consumer->ring);
	}
	return got == -EPIPE || got == -EPROTO ? end_subscription(consumer, got) : got;
}

int gid_consumer_receive(struct gid_consumer *consumer, struct gid_frame *frame) {
	return receive_up_to(consumer, frame, 1);
}

int gid_consumer_receive_burst(
		struct gid_consumer *consumer, struct gid_frame *frames, uint32_t count) {
	return count == 0 ? -EINVAL : receive_up_to(consumer, frames, count);
}

int gid_consumer_get_check(
		struct gid_consumer *consumer, struct gid_frame *frame, struct gid_check *check) {
	struct gid_wire_frame copy;
	struct gid_wire_check carried;
	struct gid_frame again;
	if (consumer->shared == NULL || frame->index - consumer->base > INT64_MAX) {
		return -ENOTCONN;
	}
	if (frame->gid == GID_NONE) {
		return -ENODATA;
	}
	int error = gid_ring_get_check(
			&consumer->ring, frame->index - consumer->base, &copy, &carried);
	if (error < 0) {
		return error;
	}
	/* The note was copied as it was received, with the size that was said then. */
	if (gid_wire_get_frame(&again, &copy, consumer->producer_domain) < 0 ||
			again.gid != frame->gid || again.sequence != frame->sequence ||
			again.note_size != frame->note_size) {
		return -EPROTO;
	}
	if (copy.more != 0) {
		take_more(consumer, frame->note, &again);
	}
	const struct gid_clock *clock = find_clock(consumer);
	if (clock != NULL) {
		translate_times(&again, clock->offset);
	}
	again.index = frame->index;
	again.flags |= frame->flags & GID_FRAME_DISCONT; /* that we set */
	*frame = again;
	*check = (struct gid_check){.kind = carried.kind};
	memcpy(check->bytes, carried.words, sizeof(check->bytes));
	memcpy(check->descriptor, &copy.gid, sizeof(check->descriptor));
	return 0;
}

/* Gives one back, but does not publish that yet. Returns 1, 0: it is back already, -EINVAL. */
static inline __attribute__((always_inline)) int put_back(
		struct gid_consumer *consumer, const struct gid_frame *frame) {
	if (frame->index - consumer->base > INT64_MAX) {
		return 0; /* went back with its subscription */
	}
	if (consumer->shared == NULL) {
		return -EINVAL;
	}
	int error = gid_ring_put_back(&consumer->ring, frame->index - consumer->base);
	if (error < 0) {
		/* an entry without a picture goes back by itself */
		return frame->gid == GID_NONE ? 0 : error;
	}
	return 1;
}

/* Whether the frame is still held: one that was taken by force was released before. */
static bool has_still(const struct gid_consumer *consumer, const struct gid_frame *frame) {
	return consumer->shared != NULL &&
			gid_ring_is_held(&consumer->ring, frame->index - consumer->base);
}

/*
 * Gives one back, and writes its point. Before it is published: the producer may write FREED at
 * once.
 */
static __attribute__((noinline)) int put_back_traced(
		struct gid_consumer *consumer, const struct gid_frame *frame, uint64_t now) {
	bool tells = has_still(consumer, frame);
	int ret = put_back(consumer, frame);
	if (ret == 1 && tells) {
		write_point(consumer, GID_TIMELINE_RELEASED, frame, now);
	}
	return ret;
}

/* One by one: with a timeline, or without a ring. Returns how many went back. */
static __attribute__((noinline)) uint32_t release_singly(struct gid_consumer *consumer,
		const struct gid_frame *frames, uint32_t count, int *error) {
	const bool traced = consumer->timeline != NULL;
	const uint64_t now = traced ? gid_clock_now() : 0;
	uint32_t released = 0;
	for (const struct gid_frame *frame = frames; frame < frames + count; frame++) {
		int ret = traced ? put_back_traced(consumer, frame, now)
				 : put_back(consumer, frame);
		*error = ret < 0 ? ret : *error;
		released += ret > 0;
	}
	return released;
}

/* Frames that are given back together. */
struct releasing {
	const struct gid_frame *frames;
	uint64_t base; /* the consumer's */
	int error;
};

/* UINT64_MAX: the frame went back with its subscription. */
static inline __attribute__((always_inline)) uint64_t index_of(const void *data, uint32_t number) {
	const struct releasing *releasing = data;
	uint64_t index = releasing->frames[number].index - releasing->base;
	return RING_RARELY(index > INT64_MAX) ? UINT64_MAX : index;
}

/*
 * Only an error where the frame should be held: those of earlier subscriptions and entries without
 * a picture went back by themselves.
 */
static inline __attribute__((always_inline)) void was_not_held(void *data, uint32_t number) {
	struct releasing *releasing = data;
	const struct gid_frame *frame = &releasing->frames[number];
	bool gone = frame->index - releasing->base > INT64_MAX;
	releasing->error = gone || frame->gid == GID_NONE ? releasing->error : -EINVAL;
}

int gid_consumer_release_burst(
		struct gid_consumer *consumer, const struct gid_frame *frames, uint32_t count) {
	struct releasing releasing = {.frames = frames, .base = consumer->base};
	uint32_t released = RING_RARELY(consumer->timeline != NULL || consumer->shared == NULL)
			? release_singly(consumer, frames, count, &releasing.error)
			: gid_ring_put_back_each(&consumer->ring, count, index_of, was_not_held,
					  &releasing);
	if (released > 0) {
		publish_releases(consumer);
	}
	return releasing.error;
}

int gid_consumer_release(struct gid_consumer *consumer, const struct gid_frame *frame) {
	if (RING_RARELY(consumer->timeline != NULL)) {
		return gid_consumer_release_burst(consumer, frame, 1);
	}
	int ret = put_back(consumer, frame);
	if (ret == 1) {
		publish_releases(consumer);
	}
	return ret < 0 ? ret : 0;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static bool has_news(const struct gid_consumer *consumer) {
	return consumer->shared != NULL &&
			(consumer->over || gid_ring_is_readable(&consumer->ring) ||
					gid_consumer_is_closed(consumer));
}

/* Looks for news without sleeping, for as long as `spin_us` says. */
static bool spin(const struct gid_consumer *consumer, uint64_t until) {
	if (consumer->options.spin_us == 0) {
		return has_news(consumer);
	}
	do {
		for (int i = 0; i < 64; i++) {
			if (has_news(consumer)) {
				return true;
			}
			pause_briefly();
		}
	} while (gid_clock_now() < until);
	return false;
}

/* Before a sleep. Returns 1 where there is no need for it, 0, or -EPROTO. */
static int fall_asleep(struct gid_consumer *consumer) {
	int error = wake_up(consumer);
	if (error < 0 || consumer->shared == NULL) {
		return error;
	}
	return consumer->over || gid_ring_consumer_sleep(&consumer->ring);
}

static int sleep_until(struct gid_consumer *consumer, uint64_t deadline) {
	struct pollfd fds[] = {
			{.fd = gid_domain_get_fd(consumer->domain), .events = POLLIN},
			{.fd = consumer->sleep.epoll_fd, .events = POLLIN},
	};
	uint64_t now = gid_clock_now();
	/* Rounded up, so as not to come too early by less than a millisecond. */
	uint64_t left = deadline <= now ? 0 : (deadline - now + 999999) / 1000000;
	int ready = poll(fds, 2, deadline == UINT64_MAX ? -1 : (int)left);
	return ready < 0 ? -errno : ready;
}

static int dispatch(struct gid_consumer *consumer) {
	int error = gid_domain_dispatch(consumer->domain);
	consumer->dispatched = gid_clock_now();
	return error < 0 && consumer->state != GID_CONSUMER_LIVE ? error : 0;
}

static int wait_until(struct gid_consumer *consumer, uint64_t now, uint64_t deadline) {
	uint64_t spin_end = now + consumer->options.spin_us * 1000ull;
	bool late = now - consumer->dispatched >= DISPATCH_NS;
	for (;;) {
		int error = late || consumer->shared == NULL ? dispatch(consumer) : 0;
		if (error < 0) {
			return error;
		}
		late = false;
		if (consumer->destroyed || consumer->state == GID_CONSUMER_ENDED) {
			return -EPIPE;
		}
		if (consumer->shared != NULL && spin(consumer, spin_end)) {
			return 1;
		}
		int news = fall_asleep(consumer);
		if (news < 0) {
			gid_consumer_disconnect(consumer, news);
			continue;
		}
		if (news > 0) {
			return 1; /* a frame, or the end, which receiving tells */
		}
		if (deadline != UINT64_MAX && gid_clock_now() >= deadline) {
			return 0;
		}
		int ready = sleep_until(consumer, deadline);
		if (ready < 0) {
			return ready;
		}
		late = true;
	}
}

int gid_consumer_wait(struct gid_consumer *consumer, int timeout_ms) {
	if (consumer->domain == NULL) {
		return -EPIPE;
	}
	if (consumer->options.sleeps) {
		return -EINVAL; /* no doorbell rings */
	}
	uint64_t now = gid_clock_now();
	if (has_news(consumer) && now - consumer->dispatched < DISPATCH_NS) {
		return 1;
	}
	uint64_t deadline = timeout_ms < 0 ? UINT64_MAX : now + (uint64_t)timeout_ms * 1000000;
	gid_consumer_enter(consumer);
	int result = wait_until(consumer, now, deadline);
	gid_consumer_leave(consumer);
	return result;
}

/* --- a thread that does nothing else ---------------------------------------------------------- */

int gid_consumer_sleep_until(struct gid_consumer *consumer, uint64_t until) {
	if (!consumer->options.sleeps) {
		return -EINVAL;
	}
	gid_sleep_wait(&consumer->sleep, until);
	return 0;
}

int gid_consumer_sleep(struct gid_consumer *consumer) {
	return gid_consumer_sleep_until(consumer, GID_TIME_NONE);
}

int gid_consumer_set_sleeps(struct gid_consumer *consumer, bool sleeps) {
	if (consumer->options.quiet) {
		return -EINVAL;
	}
	if (consumer->options.sleeps != sleeps) {
		consumer->options.sleeps = sleeps;
		gid_sleep_change(&consumer->sleep, &consumer->ring, sleeps);
	}
	return 0;
}

void gid_consumer_interrupt(struct gid_consumer *consumer) {
	gid_sleep_interrupt(&consumer->sleep);
}

bool gid_consumer_wants_shown(const struct gid_consumer *consumer) {
	return consumer->shared != NULL &&
			__atomic_load_n(&consumer->shared->wants_shown, __ATOMIC_RELAXED) != 0;
}

int gid_consumer_tell_shown(struct gid_consumer *consumer, const struct gid_shown *shown) {
	if (consumer->shared == NULL) {
		return -ENOTCONN;
	}
	struct gid_shown told = *shown;
	if (consumer->domain != NULL && consumer->domain->clocks != NULL) {
		int64_t offset = consumer->domain->clocks[consumer->producer_domain].offset;
		translate(&told.time, offset == INT64_MIN ? INT64_MAX : -offset);
	}
	gid_ring_tell_shown(&consumer->ring, &told);
	return 0;
}

int gid_consumer_tell_showable(struct gid_consumer *consumer, const struct gid_showable *showable,
		uint32_t number) {
	if (consumer->shared == NULL) {
		return -ENOTCONN;
	}
	gid_ring_tell_showable(&consumer->ring, showable,
			number < GID_SHOWABLE_MAX ? number : GID_SHOWABLE_MAX);
	return 0;
}
