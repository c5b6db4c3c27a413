// SPDX-License-Identifier: MIT
/*
 * A slab leaves its memory. Who reads there finds its gid out of date before it finds zeroes, and
 * who holds frames has time to give them back, or to keep what he shows.
 */
#include <errno.h>
#include <gid/stream.h>

#include "slab_pair.h"

#define CLUSTER 2
#define WORD 0x00abcdefu
/* Of the half second that who holds frames has. */
#define TIME_MS 400

static struct gid_slab *slab;
static struct gid_producer *producer;
static struct gid_consumer *consumer;

static void settle(void) {
	for (int i = 0; i < 4; i++) {
		cockpit_pass_on(owner, reader);
		gid_domain_dispatch(owner);
		gid_domain_dispatch(reader);
		gid_producer_dispatch(producer);
	}
}

static bool begin_stream_of(uint32_t credit, bool keeps_shown) {
	struct gid_producer_options producing = {
			.size = sizeof(producing),
			.credit_max = credit,
			.lease_ns = UINT64_C(1000000) * COCKPIT_PATIENCE_MS,
			.keeps_shown = keeps_shown,
	};
	struct gid_consumer_options consuming = {.size = sizeof(consuming), .credit = 4};
	slab = make(2);
	bool good = slab != NULL &&
			gid_producer_create(owner, "movie", &producing, &producer) == 0 &&
			gid_consumer_create(reader, "open", "movie", &consuming, &consumer) == 0;
	if (good) {
		settle();
	}
	return tap_ok(good, "a stream");
}

static bool begin_stream(void) {
	return begin_stream_of(4, false);
}

static void end_stream(void) {
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, true);
	consumer = NULL;
	producer = NULL;
	slab = NULL;
}

/* Sends what is in the slot to the other domain, which reads it. */
static const volatile uint32_t *pass(uint32_t slot, struct gid_frame *got, struct gid_slab **seen) {
	struct gid_frame frame = GID_FRAME_INIT;
	*(uint32_t *)gid_slab_data(slab, slot) = WORD;
	frame.gid = gid_slab_gid(slab, slot);
	*seen = NULL;
	const volatile uint32_t *view = NULL;
	if (gid_producer_send(producer, &frame) == 1 && gid_consumer_receive(consumer, got) == 1 &&
			gid_slab_import(reader, got->gid, seen) == 0) {
		view = gid_slab_view(*seen, slot);
	}
	tap_ok(view != NULL && *view == WORD, "a frame of slot %u", slot);
	return view;
}

/* The owner is to leave, and is in other memory. */
static void evict(void) {
	const gid_id gid = gid_slab_gid(slab, 0);
	bool good = gid_domain_revoke(owner, "open", NULL, gid, NULL) == 0;
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			gid_slab_gid(slab, 0) == gid && cockpit_now_ms() < end;
			cockpit_sleep_ms(1)) {
		gid_domain_dispatch(owner);
	}
	tap_ok(good && gid_slab_gid(slab, 0) != gid && *(uint32_t *)gid_slab_data(slab, 0) == WORD,
			"its owner goes on in other memory");
}

static void test_out_of_date(void) {
	struct gid_slab *got = NULL;
	slab = make(1);
	*(uint32_t *)gid_slab_data(slab, 0) = WORD;
	const gid_id gid = gid_slab_gid(slab, 0);
	gid_slab_grant(slab, CLUSTER);
	cockpit_pass_on(owner, reader);
	int error = gid_slab_import(reader, gid, &got);
	const volatile uint32_t *view = error == 0 ? gid_slab_view(got, 0) : NULL;
	tap_ok(view != NULL && *view == WORD && gid_slab_is_current(got, gid),
			"a slab is read in another domain");
	evict();
	/* The reader hears of nothing meanwhile. */
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			view != NULL && *view == WORD && cockpit_now_ms() < end;
			cockpit_sleep_ms(1)) {
		gid_domain_dispatch(owner);
	}
	tap_ok(view != NULL && *view == 0 && !gid_slab_is_current(got, gid),
			"what it sees there then is out of date, also before it is told");
	gid_slab_unref(got);
	gid_slab_destroy(slab, true);
	slab = NULL;
}

static void count_revoked(void *data, struct gid_slab *of) {
	++*(int *)data;
}

/* A program that also shows what it sends has it as any other reader. */
static void test_own_reader(void) {
	struct gid_slab *got = NULL, *again = NULL;
	int revoked = 0;
	slab = make(1);
	*(uint32_t *)gid_slab_data(slab, 0) = WORD;
	const gid_id gid = gid_slab_gid(slab, 0);
	tap_ok(gid_slab_import(owner, gid, &got) == 0 &&
					gid_slab_on_revoked(got, count_revoked, &revoked) == 0,
			"a slab is read by its owner");
	evict();
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			revoked == 0 && cockpit_now_ms() < end; cockpit_sleep_ms(1)) {
		gid_domain_dispatch(owner);
	}
	tap_ok(revoked == 1 && !gid_slab_is_current(got, gid),
			"who hears there, too, that it has left that memory");
	int error = gid_slab_import(owner, gid_slab_gid(slab, 0), &again);
	const uint32_t *view = error == 0 ? gid_slab_view(again, 0) : NULL;
	tap_ok(view != NULL && *view == WORD && gid_slab_emptied(slab) == 0,
			"and reads it where it is now");
	gid_slab_unref(again);
	gid_slab_unref(got);
	gid_slab_destroy(slab, true);
	slab = NULL;
}

/* Its reader is late with one frame, and gives back another one, of memory that was left later. */
static void test_late_reader(void) {
	struct gid_frame late, early;
	struct gid_slab *of_late = NULL, *of_early = NULL;
	if (!begin_stream()) {
		return;
	}
	const volatile uint32_t *kept = pass(0, &late, &of_late);
	const long began = cockpit_now_ms();
	evict();
	const volatile uint32_t *given = pass(1, &early, &of_early);
	evict();
	gid_consumer_release(consumer, &early);
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			kept != NULL && *kept == WORD && cockpit_now_ms() < end;
			cockpit_sleep_ms(1)) {
		gid_producer_dispatch(producer);
		gid_domain_dispatch(owner);
	}
	const long took = cockpit_now_ms() - began;
	tap_ok(kept != NULL && *kept == 0 && took >= TIME_MS,
			"what it holds stays for half a second: %ld ms", took);
	tap_ok(given != NULL && *given == 0, "what it gave back no longer than that");
	gid_consumer_release(consumer, &late);
	gid_slab_unref(of_late);
	gid_slab_unref(of_early);
	end_stream();
}

static void keep(void *data, struct gid_slab *of) {
	*(int *)data = gid_slab_keep(of, 0);
}

/* As a picture that stands, on the display of who may read it still. */
static void test_kept(void) {
	struct gid_frame frame;
	struct gid_slab *seen = NULL;
	int error = -EINPROGRESS;
	if (!begin_stream()) {
		return;
	}
	const volatile uint32_t *view = pass(0, &frame, &seen);
	gid_slab_on_revoked(seen, keep, &error);
	evict();
	/* Between two dispatches of the owner its reader hears all that there is, as he would in
	 * time.
	 */
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			error == -EINPROGRESS && cockpit_now_ms() < end; cockpit_sleep_ms(1)) {
		gid_domain_dispatch(owner);
		cockpit_pass_on(owner, reader);
		gid_domain_dispatch(reader);
	}
	tap_ok(error == 0 && view != NULL && *view == WORD,
			"who holds it for longer keeps the picture, not zeroes (%d)", error);
	gid_consumer_release(consumer, &frame);
	gid_slab_unref(seen);
	end_stream();
}

/* A second is over before its owner has a processor again, and the reader loses what he held. */
static void test_late_owner(void) {
	struct gid_frame frame;
	struct gid_slab *seen = NULL;
	int error = -EINPROGRESS;
	if (!begin_stream()) {
		return;
	}
	pass(0, &frame, &seen);
	gid_slab_on_revoked(seen, keep, &error);
	evict();
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			error == -EINPROGRESS && cockpit_now_ms() < end; cockpit_sleep_ms(1)) {
		gid_domain_dispatch(reader);
	}
	settle();
	tap_ok(error == 0 && gid_slab_emptied(slab) == 0 &&
					*(uint32_t *)gid_slab_data(slab, 0) == WORD,
			"its owner, who had left in time, has lost nothing (%d)", error);
	gid_consumer_release(consumer, &frame);
	gid_slab_unref(seen);
	end_stream();
}

/* A reader that had no room gets the picture when it has, also where that needs another grant. */
static void test_shown_again(void) {
	struct gid_frame held, got, frame = GID_FRAME_INIT;
	struct gid_slab *seen = NULL, *moved = NULL;
	if (!begin_stream_of(1, true)) {
		return;
	}
	pass(0, &held, &seen);
	*(uint32_t *)gid_slab_data(slab, 1) = WORD;
	frame.gid = gid_slab_gid(slab, 1);
	tap_ok(gid_producer_send(producer, &frame) == 0, "there is no room for the next picture");
	evict();
	kill(cockpit_gidd[1], SIGSTOP);
	gid_consumer_release(consumer, &held);
	gid_producer_dispatch(producer);
	bool connected = gid_domain_is_connected(owner);
	kill(cockpit_gidd[1], SIGCONT);
	tap_ok(connected, "when there is, nobody waits for gidd");
	settle();
	bool has = gid_consumer_receive(consumer, &got) == 1 &&
			gid_slab_import(reader, got.gid, &moved) == 0;
	const uint32_t *view = has ? gid_slab_view(moved, 1) : NULL;
	tap_ok(view != NULL && *view == WORD, "and the picture is there");
	gid_slab_unref(moved);
	gid_slab_unref(seen);
	end_stream();
}

int main(void) {
	if (slab_pair_init()) {
		test_out_of_date();
		test_own_reader();
		test_late_reader();
		test_kept();
		test_late_owner();
		test_shown_again();
	}
	return slab_pair_finish();
}
