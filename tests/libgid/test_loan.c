// SPDX-License-Identifier: MIT
/*
 * Loans: a compositor in `open` sends what its client drew, from the client's own slab, to
 * `cluster`. Real gidds, everybody in this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <gid/stream.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cockpit.h"
#include "tap.h"

#define CLUSTER 2

static struct gid_domain *owner, *lender, *reader;
static struct gid_layout layout;
static struct gid_slab *slab;	/* the owner's */
static struct gid_slab *loaned; /* the same as the lender has it */

static struct {
	int granted, published, released, error;
	gid_id gid;
} heard;

static void hear_granted(void *data, gid_id gid, int error) {
	heard.granted++;
	heard.error = error;
}

static void hear_published(void *data, int error) {
	heard.published++;
	heard.error = error;
}

static void hear_released(void *data, gid_id gid) {
	heard.released++;
	heard.gid = gid;
}

static void count_revoked(void *data, struct gid_slab *gone) {
	++*(int *)data;
}

/* Lets everybody hear what there is to hear, and what is said to that, a few times. */
static void settle(struct gid_producer *producer) {
	for (int i = 0; i < 4; i++) {
		cockpit_pass_on(owner, reader);
		cockpit_pass_on(lender, reader);
		gid_domain_dispatch(owner);
		gid_domain_dispatch(lender);
		gid_domain_dispatch(reader);
		if (producer != NULL) {
			gid_producer_dispatch(producer);
		}
	}
}

static bool has_published(void *data) {
	return heard.published > 0;
}

static bool has_granted(void *data) {
	return heard.granted > 0;
}

static struct gid_producer *produce(uint64_t lease_ns) {
	struct gid_producer_options options = {
			.size = sizeof(options),
			.lease_ns = lease_ns,
			.released = hear_released,
			.published = hear_published,
			.granted = hear_granted,
	};
	struct gid_producer *producer = NULL;
	memset(&heard, 0, sizeof(heard));
	int error = gid_producer_create(lender, "movie", &options, &producer);
	tap_ok(error == 0 && cockpit_until(lender, has_published, NULL) && heard.error == 0,
			"a stream is published without a wait (%s)", gid_domain_error(lender));
	return producer;
}

static struct gid_consumer *consume(struct gid_producer *producer) {
	struct gid_consumer_options options = {.size = sizeof(options), .credit = 4};
	struct gid_consumer *consumer = NULL;
	tap_ok(gid_consumer_create(reader, "open", "movie", &options, &consumer) == 0,
			"a consumer (%s)", gid_domain_error(reader));
	settle(producer);
	return consumer;
}

static int send(struct gid_producer *producer, uint32_t slot) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(loaned, slot);
	return gid_producer_send(producer, &frame);
}

/* Sends, and if a grant is needed first, once more when it is there. */
static int send_granted(struct gid_producer *producer, uint32_t slot) {
	heard.granted = 0;
	int count = send(producer, slot);
	if (count != -EINPROGRESS) {
		return count;
	}
	if (!cockpit_until(lender, has_granted, NULL) || heard.error < 0) {
		return heard.error;
	}
	return send(producer, slot);
}

static void begin(void) {
	tap_ok(gid_slab_create(owner, &layout, 0, 4, NULL, &slab) == 0, "the client's slab");
	memset(gid_slab_data(slab, 1), 77, 16);
	tap_ok(gid_slab_import(lender, gid_slab_gid(slab, 0), &loaned) == 0,
			"the compositor has it");
}

static void end(void) {
	gid_slab_unref(loaned);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

static void test_flow(void) {
	begin();
	struct gid_producer *producer = produce(0);
	struct gid_consumer *consumer = consume(producer);
	struct gid_slab *seen = NULL;
	tap_ok(gid_slab_import(reader, gid_slab_gid(slab, 0), &seen) == -ENOENT,
			"before it is lent, the slab cannot be read");
	tap_ok(send(producer, 1) == -EINPROGRESS, "the first frame waits for the grant");
	tap_ok(send_granted(producer, 1) == 1, "and is sent when that is there");
	tap_ok(send(producer, 2) == 1, "the second at once");
	struct gid_frame first, second;
	tap_ok(gid_consumer_receive(consumer, &first) == 1 && first.gid == gid_slab_gid(slab, 1),
			"it arrives under the client's own gid");
	tap_ok(gid_slab_import(reader, first.gid, &seen) == 0 &&
					*(const char *)gid_slab_view(seen, 1) == 77,
			"with the client's pixels");
	tap_ok(gid_slab_holders(loaned, 1) == 1 && gid_slab_take(loaned) == -EAGAIN,
			"it is held, and its slots are not the compositor's to take");
	gid_slab_unref(loaned);
	loaned = NULL;
	gid_consumer_release(consumer, &first);
	settle(producer);
	tap_ok(heard.released == 1 && heard.gid == first.gid, "released");
	gid_consumer_receive(consumer, &second);
	gid_slab_destroy(slab, false);
	slab = NULL;
	settle(producer);
	gid_consumer_release(consumer, &second);
	settle(producer);
	tap_ok(heard.released == 2 && heard.gid == second.gid,
			"released, after the client is gone, too");
	gid_slab_unref(seen);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	end();
}

static void test_lease(void) {
	begin();
	struct gid_producer *producer = produce(1000 * 1000000ull);
	struct gid_consumer *consumer = consume(producer);
	struct gid_slab *seen = NULL;
	struct gid_frame frame;
	int revoked = 0;
	tap_ok(send_granted(producer, 1) == 1 && gid_consumer_receive(consumer, &frame) == 1 &&
					gid_slab_import(reader, frame.gid, &seen) == 0,
			"a frame is taken");
	gid_slab_on_revoked(seen, count_revoked, &revoked);
	tap_ok(send_granted(producer, 0) == 1, "and another one sent");
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			heard.released == 0 && cockpit_now_ms() < end; cockpit_sleep_ms(20)) {
		gid_producer_dispatch(producer);
	}
	settle(producer);
	tap_ok(heard.released == 1 && revoked == 1 && !gid_slab_is_current(seen, frame.gid),
			"a lease that runs out takes the slab from its reader");
	gid_consumer_release(consumer, &frame);
	gid_slab_unref(seen);
	tap_ok(send_granted(producer, 1) == 1 && gid_consumer_receive(consumer, &frame) == 1 &&
					gid_slab_import(reader, frame.gid, &seen) == 0,
			"until the next frame");
	gid_slab_unref(seen);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	end();
}

/* One that hangs, here in the lender's own domain, takes the slab from nobody else. */
static void test_lease_of_another_reader(void) {
	begin();
	struct gid_producer *producer = produce(300 * 1000000ull);
	struct gid_consumer *consumer = consume(producer), *hung = NULL;
	struct gid_slab *seen = NULL;
	struct gid_frame frame, kept;
	int revoked = 0;
	tap_ok(gid_consumer_create(owner, NULL, "movie", NULL, &hung) == 0, "one more consumer");
	settle(producer);
	tap_ok(send_granted(producer, 1) == 2 && gid_consumer_receive(consumer, &frame) == 1 &&
					gid_consumer_receive(hung, &kept) == 1 &&
					gid_slab_import(reader, frame.gid, &seen) == 0,
			"a frame is taken by both");
	gid_slab_on_revoked(seen, count_revoked, &revoked);
	gid_consumer_release(consumer, &frame);
	tap_ok(send(producer, 2) == 2 && gid_consumer_receive(consumer, &frame) == 1,
			"and the next one by the other");
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			heard.released == 0 && cockpit_now_ms() < end; cockpit_sleep_ms(20)) {
		gid_producer_dispatch(producer);
	}
	settle(producer);
	struct gid_producer_stats stats;
	gid_producer_get_stats(producer, &stats);
	tap_ok(heard.released == 1 && stats.leases_expired == 1,
			"the one that hangs loses its frame");
	tap_ok(revoked == 0 && gid_slab_is_current(seen, frame.gid) && send(producer, 3) == 2,
			"and the other one nothing");
	gid_slab_unref(seen);
	gid_consumer_destroy(hung);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	end();
}

static void test_owner_has_the_last_word(void) {
	struct gid_slab *seen = NULL;
	begin();
	tap_ok(gid_slab_grant(loaned, CLUSTER) == 0 &&
					gid_slab_import(reader, gid_slab_gid(slab, 0), &seen) == 0,
			"lent without a stream");
	gid_slab_unref(seen);
	tap_ok(gid_slab_grant(slab, CLUSTER) == 0 && gid_slab_revoke(loaned, CLUSTER) == 0,
			"the lender takes back its loan, not the owner's grant");
	settle(NULL);
	tap_ok(gid_slab_import(reader, gid_slab_gid(slab, 0), &seen) == 0, "which holds");
	gid_slab_unref(seen);
	tap_ok(gid_slab_grant(loaned, CLUSTER) == 0 && gid_slab_revoke(slab, CLUSTER) == 0,
			"the owner takes back both");
	settle(NULL);
	tap_ok(gid_slab_import(reader, gid_slab_gid(slab, 0), &seen) == -ENOENT, "at once");
	tap_ok(gid_slab_grant(loaned, CLUSTER) == -EPERM, "and for good");
	tap_ok(gid_slab_grant(loaned, 3) == -EPERM, "lent only as the configuration allows");
	tap_ok(gid_slab_grant(slab, CLUSTER) == 0 && gid_slab_grant(loaned, CLUSTER) == 0,
			"until the owner grants again");
	end();
}

/* By the raw name: whoever has not imported the slab cannot lend it. */
static void test_strangers(void) {
	struct gid_domain *stranger = NULL;
	struct gid_slab *stolen = NULL, *seen = NULL;
	begin();
	tap_ok(gid_domain_connect("open", &stranger) == 0 &&
					gid_slab_import(stranger, gid_slab_gid(slab, 0), &stolen) ==
							0,
			"another client of the domain");
	struct gid_slab *foreign = NULL;
	tap_ok(gid_slab_grant(slab, CLUSTER) == 0 &&
					gid_slab_import(reader, gid_slab_gid(slab, 0), &foreign) ==
							0 &&
					gid_slab_grant(foreign, 1) == -ENOENT,
			"a reader of another domain cannot lend on");
	gid_slab_unref(foreign);
	gid_slab_unref(stolen);
	tap_ok(gid_slab_revoke(slab, CLUSTER) == 0, "taken back");
	settle(NULL);
	tap_ok(gid_slab_import(reader, gid_slab_gid(slab, 0), &seen) == -ENOENT, "from all");
	gid_domain_destroy(stranger);
	end();
}

static void test_lender_dies(void) {
	struct gid_slab *seen = NULL;
	int revoked = 0;
	begin();
	tap_ok(gid_slab_grant(loaned, CLUSTER) == 0 &&
					gid_slab_import(reader, gid_slab_gid(slab, 0), &seen) == 0,
			"lent");
	gid_slab_on_revoked(seen, count_revoked, &revoked);
	gid_domain_destroy(lender);
	tap_ok(gid_domain_connect("open", &lender) == 0, "the lender goes");
	settle(NULL);
	tap_ok(revoked == 1, "and its loan with it");
	gid_slab_unref(seen);
	end();
}

static int last_reason;

static void hear_state(void *data, enum gid_consumer_state state, int reason) {
	last_reason = reason;
}

/* One reader that may not read a slab does not take it from the others. */
static void test_a_refused_reader(void) {
	begin();
	struct gid_producer *producer = produce(0);
	struct gid_consumer_options options = {
			.size = sizeof(options), .credit = 4, .state = hear_state};
	struct gid_consumer *refused = NULL, *own = NULL;
	tap_ok(gid_consumer_create(reader, "open", "movie", &options, &refused) == 0 &&
					gid_consumer_create(owner, NULL, "movie", NULL, &own) == 0,
			"readers of both domains");
	settle(producer);
	tap_ok(gid_slab_revoke(slab, CLUSTER) == 0, "the slab shall not be read by one of them");
	tap_ok(send_granted(producer, 1) == -EPERM, "which the lender hears");
	tap_ok(send(producer, 1) == 1, "the other one gets frames");
	settle(producer);
	struct gid_frame frame;
	tap_ok(gid_consumer_receive(own, &frame) == 1 && frame.gid == gid_slab_gid(slab, 1),
			"and reads them");
	tap_ok(gid_consumer_get_state(refused) == GID_CONSUMER_ENDED && last_reason == -EPERM,
			"and the first one hears why it does not (%s)", gid_strerror(last_reason));
	gid_consumer_destroy(refused);
	gid_consumer_destroy(own);
	gid_producer_destroy(producer);
	end();
}

/* The reader has had frames of the slab until then. */
static void test_forbidden_afterwards(void) {
	begin();
	struct gid_producer *producer = produce(0);
	struct gid_consumer_options options = {
			.size = sizeof(options), .credit = 4, .state = hear_state};
	struct gid_consumer *consumer = NULL;
	struct gid_frame frame;
	tap_ok(gid_consumer_create(reader, "open", "movie", &options, &consumer) == 0,
			"a reader (%s)", gid_domain_error(reader));
	settle(producer);
	tap_ok(send_granted(producer, 1) == 1 && gid_consumer_receive(consumer, &frame) == 1,
			"that has a frame of the slab");
	gid_consumer_release(consumer, &frame);
	last_reason = 0;
	tap_ok(gid_slab_revoke(slab, CLUSTER) == 0, "which its owner forbids afterwards");
	settle(producer);
	tap_ok(send_granted(producer, 2) == -EPERM, "the lender hears that with its next frame");
	settle(producer);
	tap_ok(gid_consumer_get_state(consumer) == GID_CONSUMER_ENDED && last_reason == -EPERM,
			"and the reader, why it gets no more (%s)", gid_strerror(last_reason));
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	end();
}

static struct gid_producer *shower;
static gid_id forbidden, shown;

/* What it may not have ends its subscription, before it gets what the stream shows. */
static void show(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	struct gid_frame frame = GID_FRAME_INIT;
	if (joined) {
		frame.gid = forbidden;
		gid_producer_send(shower, &frame);
		frame.gid = shown;
		gid_producer_send(shower, &frame);
	}
}

static void test_refused_as_it_comes(void) {
	struct gid_producer_options options = {
			.size = sizeof(options), .keeps_shown = true, .subscriber = show};
	struct gid_frame frame = GID_FRAME_INIT;
	struct gid_slab *own = NULL;
	begin();
	tap_ok(gid_slab_create(lender, &layout, 0, 1, NULL, &own) == 0 &&
					gid_producer_create(lender, "movie", &options, &shower) ==
							0 &&
					gid_slab_revoke(slab, CLUSTER) == 0,
			"a stream of two slabs, of which one may not be lent");
	forbidden = gid_slab_gid(loaned, 1);
	shown = frame.gid = gid_slab_gid(own, 0);
	gid_producer_send(shower, &frame);
	struct gid_consumer *consumer = consume(shower);
	tap_ok(gid_producer_consumers(shower) == 0 && gid_slab_holders(own, 0) == 1,
			"whose subscription ends as it begins holds nothing: %u",
			gid_slab_holders(own, 0));
	gid_consumer_destroy(consumer);
	gid_producer_destroy(shower);
	tap_ok(gid_slab_holders(own, 0) == 0, "nor does the stream after its end");
	gid_slab_destroy(own, false);
	end();
}

/* Who subscribes is lent what was sent so far, but for what the owner forbids. */
static void test_readers_that_come_later(void) {
	struct gid_slab *other = NULL, *lent = NULL;
	struct gid_frame frame = GID_FRAME_INIT, seen;
	begin();
	struct gid_producer *producer = produce(0);
	tap_ok(gid_slab_create(owner, &layout, 0, 2, NULL, &other) == 0 &&
					gid_slab_import(lender, gid_slab_gid(other, 0), &lent) == 0,
			"one more slab of the client's");
	frame.gid = gid_slab_gid(lent, 0);
	tap_ok(gid_producer_send(producer, &frame) == 0, "nobody reads its first frame");
	struct gid_consumer *consumer = consume(producer);
	tap_ok(gid_producer_send(producer, &frame) == 1 &&
					gid_consumer_receive(consumer, &seen) == 1 &&
					seen.gid == frame.gid,
			"who subscribes then gets the next one at once");
	tap_ok(gid_slab_revoke(slab, CLUSTER) == 0 && send_granted(producer, 1) == -EPERM,
			"a frame of a slab that its owner forbids ends the subscription");
	gid_consumer_destroy(consumer);
	consumer = consume(producer);
	tap_ok(send_granted(producer, 1) == -EPERM, "and so it does the next one");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_unref(lent);
	gid_slab_destroy(other, false);
	end();
}

static bool is_connected(void *data) {
	return gid_domain_is_connected(data);
}

static bool is_away(void *data) {
	return !gid_domain_is_connected(data);
}

static void test_gidd_restarts(void) {
	begin();
	struct gid_producer *producer = produce(0);
	struct gid_consumer *consumer = consume(producer);
	struct gid_slab *withheld = NULL, *kept = NULL;
	tap_ok(gid_slab_create(owner, &layout, 0, 1, NULL, &withheld) == 0 &&
					gid_slab_import(lender, gid_slab_gid(withheld, 0), &kept) ==
							0 &&
					gid_slab_revoke(withheld, CLUSTER) == 0,
			"another slab, that shall not be lent");
	tap_ok(send_granted(producer, 1) == 1, "a frame");
	cockpit_kill(1);
	tap_ok(cockpit_start(1) && cockpit_until(owner, is_connected, owner) &&
					cockpit_until(lender, is_connected, lender),
			"gidd restarts");
	struct gid_slab *seen = NULL;
	int error = -ENOENT;
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			error != 0 && cockpit_now_ms() < end; cockpit_sleep_ms(20)) {
		settle(producer);
		error = gid_slab_import(reader, gid_slab_gid(slab, 1), &seen);
	}
	tap_ok(error == 0, "the loan was renewed (%s)", gid_domain_error(reader));
	struct gid_frame frame;
	tap_ok(send_granted(producer, 2) == 1 && gid_consumer_receive(consumer, &frame) == 1,
			"frames go on");
	error = -ENOENT;
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			error != 0 && error != -EPERM && cockpit_now_ms() < end;
			cockpit_sleep_ms(20)) {
		settle(producer);
		error = gid_slab_grant(kept, CLUSTER);
	}
	tap_ok(error == -EPERM, "and the owner's word still holds (%s)", gid_strerror(error));
	gid_slab_unref(kept);
	gid_slab_destroy(withheld, false);
	gid_slab_unref(seen);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	end();
}

/* How often the reader's gidd has asked by itself which slabs are still there. */
static unsigned count_revalidations(void) {
	static char text[1 << 20];
	char path[128];
	unsigned count = 0;
	snprintf(path, sizeof(path), "%s/cluster.log", cockpit_folder);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	text[size < 0 ? 0 : size] = '\0';
	for (const char *at = text; (at = strstr(at, "slabs revalidated")) != NULL; at++) {
		count++;
	}
	return count;
}

/* A gidd that started again does not know who has a slab, also if it has that by a loan alone. */
static void test_owner_leaves_after_a_restart(void) {
	struct gid_slab *seen = NULL, *other = NULL, *got = NULL;
	int revoked = 0, error = -ENOENT;
	begin();
	tap_ok(gid_slab_grant(loaned, CLUSTER) == 0 &&
					gid_slab_import(reader, gid_slab_gid(slab, 0), &seen) == 0,
			"lent");
	gid_slab_on_revoked(seen, count_revoked, &revoked);
	cockpit_kill(1);
	tap_ok(cockpit_until(owner, is_away, owner) && cockpit_until(lender, is_away, lender) &&
					cockpit_start(1) &&
					cockpit_until(owner, is_connected, owner) &&
					cockpit_until(lender, is_connected, lender),
			"gidd restarts");
	tap_ok(gid_slab_create(owner, &layout, 0, 1, NULL, &other) == 0 &&
					gid_slab_grant(other, CLUSTER) == 0,
			"another slab");
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			error != 0 && cockpit_now_ms() < end; cockpit_sleep_ms(20)) {
		settle(NULL);
		error = gid_slab_grant(loaned, CLUSTER);
		error = error == 0 ? gid_slab_import(reader, gid_slab_gid(other, 0), &got) : error;
	}
	tap_ok(error == 0 && revoked == 0, "the loan and the link are there again");
	unsigned before = count_revalidations();
	gid_slab_destroy(slab, false);
	slab = NULL;
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			revoked == 0 && cockpit_now_ms() < end; cockpit_sleep_ms(20)) {
		settle(NULL);
	}
	tap_ok(revoked == 1, "the reader hears of the end of the slab");
	tap_ok(count_revalidations() == before, "and its gidd did not have to ask");
	gid_slab_unref(got);
	gid_slab_unref(seen);
	gid_slab_destroy(other, false);
	end();
}

static void hear_made(void *data, int error, struct gid_slab *made) {
	*(int *)data = error;
}

static void test_a_slab_of_the_stream(void) {
	struct gid_producer *producer = produce(0);
	struct gid_consumer *consumer = consume(producer);
	struct gid_slab *own = NULL;
	int error = 1;
	heard.granted = 0;
	tap_ok(gid_slab_create_async(lender, "movie", &layout, 0, 2, NULL, hear_made, &error,
			       &own) == 0 &&
					cockpit_until(lender, has_granted, NULL) && error == 0 &&
					heard.error == 0,
			"memory that is made for the stream is granted without being asked for");
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(own, 0);
	tap_ok(gid_producer_send(producer, &frame) == 1, "so its first frame waits for nobody");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(own, false);
	settle(NULL);
}

/* The answer to the grant of its old number comes after it has another one. */
static void test_granted_as_it_moves(void) {
	struct gid_producer *producer = produce(0);
	struct gid_consumer *consumer = consume(producer);
	struct gid_slab *own = NULL, *seen = NULL;
	struct gid_frame frame = GID_FRAME_INIT, got;
	int error = gid_slab_create(lender, &layout, 0, 1, NULL, &own);
	tap_ok(error == 0 && gid_slab_take(own) == 0, "a slab of the producer's own");
	const gid_id gid = frame.gid = gid_slab_gid(own, 0);
	tap_ok(gid_domain_revoke(owner, "open", NULL, gid, NULL) == 0, "it is to leave its memory");
	kill(cockpit_gidd[1], SIGSTOP);
	gid_domain_dispatch(lender);
	heard.granted = 0;
	int sent = gid_producer_send(producer, &frame);
	kill(cockpit_gidd[1], SIGCONT);
	tap_ok(sent == -EINPROGRESS && cockpit_until(lender, has_granted, NULL) &&
					heard.error == 0 && gid_slab_gid(own, 0) != gid,
			"and does so while it is granted");
	heard.granted = 0;
	sent = gid_producer_send(producer, &frame);
	if (sent == -EINPROGRESS && cockpit_until(lender, has_granted, NULL)) {
		sent = gid_producer_send(producer, &frame);
	}
	error = gid_consumer_receive(consumer, &got) == 1 ? gid_slab_import(reader, got.gid, &seen)
							  : -EAGAIN;
	tap_ok(sent == 1 && error == 0, "its reader has it where it is then: %d (%s)", sent,
			gid_domain_error(reader));
	gid_slab_unref(seen);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(own, false);
	settle(NULL);
}

static bool has_both_granted(void *data) {
	return heard.granted == 2;
}

/* Each is asked for once, and the answers come in the order of the questions. */
static void test_two_grants_at_once(void) {
	struct gid_slab *other = NULL;
	struct gid_frame first = GID_FRAME_INIT, second = GID_FRAME_INIT;
	begin();
	struct gid_producer *producer = produce(0);
	struct gid_consumer *consumer = consume(producer);
	tap_ok(gid_slab_create(lender, &layout, 0, 2, NULL, &other) == 0, "one more slab");
	first.gid = gid_slab_gid(loaned, 1);
	second.gid = gid_slab_gid(other, 0);
	heard.granted = 0;
	for (int i = 0; i < 2; i++) {
		tap_ok(gid_producer_send(producer, &first) == -EINPROGRESS &&
						gid_producer_send(producer, &second) ==
								-EINPROGRESS,
				"a frame of each waits for its grant");
	}
	tap_ok(cockpit_until(lender, has_both_granted, NULL) && heard.error == 0,
			"both are granted, each once");
	tap_ok(gid_producer_send(producer, &first) == 1 &&
					gid_producer_send(producer, &second) == 1,
			"and both are sent");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(other, false);
	end();
}

static void test_gidd_is_away(void) {
	struct gid_producer *producer = produce(0);
	struct gid_consumer *consumer = consume(producer), *near = NULL;
	struct gid_consumer_options options = {.size = sizeof(options), .credit = 4};
	struct gid_slab *own = NULL;
	tap_ok(gid_consumer_create(owner, "open", "movie", &options, &near) == 0 &&
					gid_slab_create(lender, &layout, 0, 2, NULL, &own) == 0,
			"a second consumer, of the producer's domain");
	settle(producer);
	struct gid_frame frame = GID_FRAME_INIT, seen;
	frame.gid = gid_slab_gid(own, 0);
	cockpit_kill(1);
	settle(producer);
	tap_ok(gid_producer_send(producer, &frame) == 1 && gid_consumer_receive(near, &seen) == 1 &&
					seen.gid == frame.gid,
			"without gidd who needs no grant has the frame");
	tap_ok(gid_consumer_receive(consumer, &seen) == -EAGAIN, "and who needs one misses it");
	gid_consumer_destroy(near);
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(own, false);
}

int main(void) {
	tap_ok(cockpit_init() && gid_domain_connect("open", &owner) == 0 &&
					gid_domain_connect("open", &lender) == 0 &&
					gid_domain_connect("cluster", &reader) == 0,
			"two domains");
	gid_layout_init(&layout, 0x34325258 /* XR24 */, 64, 16, 4);
	test_flow();
	test_lease();
	test_lease_of_another_reader();
	test_owner_has_the_last_word();
	test_strangers();
	test_a_refused_reader();
	test_forbidden_afterwards();
	test_refused_as_it_comes();
	test_readers_that_come_later();
	test_lender_dies();
	test_gidd_restarts();
	test_owner_leaves_after_a_restart();
	test_a_slab_of_the_stream();
	test_granted_as_it_moves();
	test_two_grants_at_once();
	test_gidd_is_away();
	gid_domain_destroy(owner);
	gid_domain_destroy(lender);
	gid_domain_destroy(reader);
	cockpit_finish();
	return tap_finish();
}
