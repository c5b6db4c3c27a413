// SPDX-License-Identifier: MIT
/*
 * Both ends of a ring, each in a thread of its own, with a random schedule. Slots are plain memory
 * that the producer writes and the consumer reads: ThreadSanitizer tells if a slot was ever given
 * back while it could still be read.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "repeated.h"
#include "ring_run.h"
#include "tap.h"

/* --- the producer ----------------------------------------------------------------------------- */

struct producer {
	struct run *run;
	struct gid_ring_producer end;
	uint64_t random;
	uint64_t sequence_of[SLOTS];
};

static void slot_back(struct producer *producer, const struct gid_ring_sent *sent, enum fate fate) {
	struct run *run = producer->run;
	set_fate(run, sent->time, fate);
	if (sent->gid == GID_NONE) {
		return;
	}
	uint32_t slot = gid_slot_of(sent->gid);
	if (!run->out[slot] || producer->sequence_of[slot] != sent->time) {
		fail(run, "a slot came back twice");
	}
	run->out[slot] = false;
	run->released += fate == FATE_RELEASED;
	run->taken_back += fate == FATE_TAKEN_BACK;
	run->forced += fate == FATE_FORCED;
	if (fate != FATE_FORCED) {
		/* Nobody reads it any more. */
		memset(run->slots[slot], 0xee, sizeof(run->slots[slot]));
	}
}

static void collect(struct producer *producer) {
	struct gid_ring_sent sent;
	int got;
	while ((got = gid_ring_collect(&producer->end, &sent)) == 1) {
		slot_back(producer, &sent, FATE_RELEASED);
	}
	if (got < 0) {
		fail(producer->run, "an honest consumer broke the protocol");
	}
}

static void take_back(struct producer *producer, uint64_t below) {
	struct gid_ring_sent sent;
	int got;
	while ((got = gid_ring_take_back(&producer->end, below, &sent)) == 1) {
		slot_back(producer, &sent, FATE_TAKEN_BACK);
	}
	if (got < 0) {
		fail(producer->run, "an honest consumer's head broke the protocol");
	}
}

static void force(struct producer *producer) {
	struct gid_ring_sent oldest, taken;
	if (gid_ring_oldest(&producer->end, &oldest)) {
		take_back(producer, oldest.index + 1);
		if (gid_ring_take_by_force(&producer->end, oldest.index, &taken)) {
			slot_back(producer, &taken, FATE_FORCED);
		}
	}
}

static void ring_bell(struct producer *producer) {
	if (gid_ring_should_wake_consumer(&producer->end)) {
		producer->run->rings++;
		sem_post(&producer->run->bell);
	}
}

static int free_slot(struct run *run) {
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		if (!run->out[slot]) {
			return (int)slot;
		}
	}
	return -1;
}

static void send_one(struct producer *producer, uint64_t sequence) {
	struct run *run = producer->run;
	const struct schedule *schedule = run->schedule;
	struct gid_wire_frame frame;
	bool picture = random_below(&producer->random, 100) >= schedule->no_picture_percent;
	int slot = free_slot(run);
	gid_id gid = picture ? gid_make(1, 1, (uint32_t)slot, 0) : GID_NONE;
	fill_frame(&frame, gid, sequence);
	if (picture && schedule->force_percent == 0) {
		for (uint32_t i = 0; i < SLOT_WORDS; i++) {
			run->slots[slot][i] = sequence + i;
		}
	}
	int sent = gid_ring_send(&producer->end, &frame, NULL, sequence);
	struct gid_ring_sent oldest;
	if (sent == 0 && schedule->drop_old &&
			gid_ring_oldest_unread(&producer->end, &oldest) == 1) {
		take_back(producer, oldest.index + 1);
		sent = gid_ring_send(&producer->end, &frame, NULL, sequence);
	}
	while (sent == 0 && schedule->patient && run->failure == NULL) {
		collect(producer);
		sent = gid_ring_send(&producer->end, &frame, NULL, sequence);
		pause_randomly(&producer->random, 3);
	}
	if (sent == 0) {
		run->dropped++;
		return;
	}
	set_fate(run, sequence, FATE_SENT);
	run->sent++;
	if (picture) {
		run->out[slot] = true;
		producer->sequence_of[slot] = sequence;
	}
	ring_bell(producer);
}

static void *produce(void *data) {
	struct run *run = data;
	const struct schedule *schedule = run->schedule;
	struct producer *producer = calloc(1, sizeof(*producer));
	producer->run = run;
	producer->random = 88172645463325252ull;
	producer->end = run->begin;
	for (uint64_t sequence = 1; sequence <= schedule->frames && run->failure == NULL;
			sequence++) {
		collect(producer);
		if (random_below(&producer->random, 100) < schedule->force_percent) {
			force(producer);
		}
		send_one(producer, sequence);
		pause_randomly(&producer->random, schedule->producer_pauses);
	}
	__atomic_store_n(&run->finished, true, __ATOMIC_SEQ_CST);
	sem_post(&run->bell);
	/* The consumer takes and gives back the rest. */
	for (int i = 0; i < 10000 && producer->end.in_flight > 0 && run->failure == NULL; i++) {
		collect(producer);
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
	if (producer->end.in_flight != 0) {
		fail(run, "frames never came back");
	}
	free(producer);
	return NULL;
}

/* --- the consumer ----------------------------------------------------------------------------- */

#define BURST_MOST 5u

struct consumer {
	struct run *run;
	struct gid_ring_consumer end;
	uint64_t random, last;
	struct gid_wire_frame held[GID_RING_ENTRIES + BURST_MOST];
	uint32_t held_count;
};

static void check_slot(struct run *run, const struct gid_wire_frame *frame) {
	if (frame->gid == GID_NONE || run->schedule->force_percent != 0) {
		return;
	}
	const uint64_t *words = run->slots[gid_slot_of(frame->gid)];
	for (uint32_t i = 0; i < SLOT_WORDS; i++) {
		if (words[i] != frame->sequence + i) {
			fail(run, "a slot changed while it was held");
		}
	}
}

static void release(struct consumer *consumer, uint32_t at) {
	struct gid_wire_frame frame = consumer->held[at];
	check_slot(consumer->run, &frame);
	consumer->held[at] = consumer->held[--consumer->held_count];
	int error = gid_ring_release(&consumer->end, frame.index);
	if (error < 0 && consumer->run->schedule->force_percent == 0) {
		fail(consumer->run, "a held frame could not be released");
	}
}

static void take(struct consumer *consumer, const struct gid_wire_frame *frame) {
	struct run *run = consumer->run;
	struct gid_wire_frame expected;
	fill_frame(&expected, frame->gid, frame->sequence);
	expected.index = frame->index;
	if (memcmp(frame, &expected, sizeof(expected)) != 0) {
		fail(run, "a frame was torn");
		return;
	}
	if (frame->sequence <= consumer->last) {
		fail(run, "a frame came out of order");
	}
	consumer->last = frame->sequence;
	set_fate(run, frame->sequence, FATE_RECEIVED);
	run->received++;
	check_slot(run, frame);
	consumer->held[consumer->held_count++] = *frame;
}

/* Sleeps until the doorbell: one that is lost shows as a time-out. */
static void sleep_until_rung(struct consumer *consumer) {
	struct run *run = consumer->run;
	if (!gid_ring_consumer_sleep(&consumer->end) &&
			!__atomic_load_n(&run->finished, __ATOMIC_SEQ_CST)) {
		struct timespec end;
		clock_gettime(CLOCK_REALTIME, &end);
		end.tv_sec += 180;
		if (sem_timedwait(&run->bell, &end) < 0) {
			fail(run, "a doorbell was lost");
		}
	}
	gid_ring_consumer_wake(&consumer->end);
}

static void *consume(void *data) {
	struct run *run = data;
	const struct schedule *schedule = run->schedule;
	struct consumer *consumer = calloc(1, sizeof(*consumer));
	consumer->run = run;
	consumer->random = 362436069362436069ull;
	gid_ring_consumer_init(&consumer->end, run->ring, run->page);
	while (run->failure == NULL) {
		bool finished = __atomic_load_n(&run->finished, __ATOMIC_SEQ_CST);
		struct gid_wire_frame frames[BURST_MOST];
		uint32_t most = 1 + random_below(&consumer->random, BURST_MOST);
		int got = gid_ring_receive_burst(&consumer->end, frames, most);
		if (got < 0) {
			fail(run, "an honest producer broke the protocol");
		} else if (got > 0) {
			for (int i = 0; i < got; i++) {
				take(consumer, &frames[i]);
			}
		} else if (finished) {
			break;
		} else {
			while (consumer->held_count > 0) {
				release(consumer,
						random_below(&consumer->random,
								consumer->held_count));
			}
			sleep_until_rung(consumer);
		}
		while (consumer->held_count > schedule->hold_max) {
			release(consumer, random_below(&consumer->random, consumer->held_count));
		}
		pause_randomly(&consumer->random, schedule->consumer_pauses);
	}
	while (consumer->held_count > 0) {
		release(consumer, 0);
	}
	if (run->failure == NULL && schedule->force_percent == 0 && consumer->end.held != 0) {
		fail(run, "the consumer's end holds what was released");
	}
	free(consumer);
	return NULL;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void check_fates(struct run *run) {
	for (uint64_t sequence = 1; sequence <= run->schedule->frames; sequence++) {
		unsigned char fate = run->fates[sequence];
		if ((fate & FATE_SENT) == 0 && fate != 0) {
			fail(run, "a frame that was not sent had a fate");
		}
		if ((fate & FATE_RECEIVED) != 0 && (fate & FATE_TAKEN_BACK) != 0) {
			fail(run, "a frame was received and taken back");
		}
		bool once = (fate &
					    (FATE_RECEIVED | FATE_TAKEN_BACK | FATE_FORCED |
							    FATE_RELEASED)) != 0;
		if ((fate & FATE_SENT) != 0 && !once) {
			fail(run, "a frame was lost");
		}
	}
}

static void test_schedule(const struct schedule *schedule) {
	struct run *run = calloc(1, sizeof(*run));
	run->schedule = schedule;
	run->ring = ring_memory(sizeof(*run->ring));
	run->page = ring_memory(sizeof(*run->page));
	gid_ring_producer_init(&run->begin, run->ring, run->page, schedule->credit);
	run->fates = calloc(schedule->frames + 1, 1);
	sem_init(&run->bell, 0, 0);
	pthread_t threads[2];
	pthread_create(&threads[0], NULL, produce, run);
	pthread_create(&threads[1], NULL, consume, run);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	check_fates(run);
	if (run->failure == NULL && !schedule->drop_old && schedule->force_percent == 0 &&
			run->sent != run->received) {
		fail(run, "not every frame that was sent was received");
	}
	tap_ok(run->failure == NULL,
			"%s: %s (sent %" PRIu64 ", received %" PRIu64 ", taken back %" PRIu64
			", forced %" PRIu64 ", missed %" PRIu64 ", rung %" PRIu64 ")",
			schedule->name,
			run->failure == NULL ? "each frame once, whole, in order" : run->failure,
			run->sent, run->received, run->taken_back, run->forced, run->dropped,
			run->rings);
	sem_destroy(&run->bell);
	free(run->fates);
	free(run->ring);
	free(run->page);
	free(run);
}

static const struct schedule schedules[] = {
		{"as fast as both can", 200000, 8, .patient = true, .hold_max = 2},
		{"a credit of one", 50000, 1, .patient = true, .hold_max = 0},
		{"all credit there is", 200000, GID_CREDIT_MAX, .patient = true, .hold_max = 40},
		{"a slow consumer", 20000, 8, .patient = true, .hold_max = 3, .consumer_pauses = 3},
		{"a slow producer", 20000, 8, .hold_max = 3, .producer_pauses = 3},
		{"both hesitate", 20000, 16, .patient = true, .hold_max = 9, .producer_pauses = 4,
				.consumer_pauses = 4},
		{"frames without a picture", 100000, 6, .patient = true, .hold_max = 4,
				.no_picture_percent = 30},
		{"without patience", 300000, 8, .hold_max = 2},
		{"drop-old, as fast as both can", 300000, 4, true, .hold_max = 1},
		{"drop-old, a slow consumer", 100000, 8, true, .hold_max = 4,
				.consumer_pauses = 20},
		{"drop-old, a credit of one", 200000, 1, true, .hold_max = 0,
				.consumer_pauses = 200},
		{"drop-old, all credit there is", 300000, GID_CREDIT_MAX, true, .hold_max = 60,
				.consumer_pauses = 100},
		{"drop-old, with frames without a picture", 200000, 6, true, .hold_max = 2,
				.consumer_pauses = 100, .no_picture_percent = 30},
		{"leases that run out", 100000, 8, .patient = true, .force_percent = 5,
				.hold_max = 6, .consumer_pauses = 50},
		{"leases that run out, drop-old", 100000, 8, true, .force_percent = 20,
				.hold_max = 6, .consumer_pauses = 30, .no_picture_percent = 10},
		{"leases that run out, all credit there is", 100000, GID_CREDIT_MAX,
				.patient = true, .force_percent = 10, .hold_max = 50,
				.consumer_pauses = 40},
};

int main(void) {
	for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
		struct schedule schedule = schedules[i];
		schedule.frames = repeated(schedule.frames, schedule.frames);
		test_schedule(&schedule);
	}
	return tap_finish();
}
