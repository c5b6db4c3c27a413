// SPDX-License-Identifier: MIT
/* Streams that end: in their own callbacks, with their domain, and a thousand times. */
#include <errno.h>

#include "stream_pair.h"

static struct gid_producer *doomed;

static void destroy_producer(void *data, gid_id gid) {
	gid_producer_destroy(doomed);
	doomed = NULL;
}

static void destroy_consumer(void *data, enum gid_consumer_state state, int reason) {
	if (state == GID_CONSUMER_ENDED) {
		gid_consumer_destroy(*(struct gid_consumer **)data);
		*(struct gid_consumer **)data = NULL;
	}
}

/* Callbacks may end what calls them, and domains may end first. */
static void test_ends(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer_options options = {
			.size = sizeof(options), .released = destroy_producer};
	struct gid_consumer *consumer;
	struct gid_consumer_options consumer_options = {.size = sizeof(consumer_options),
			.state = destroy_consumer,
			.data = &consumer};
	gid_producer_create(open_domain, "movie", &options, &doomed);
	gid_consumer_create(cluster_domain, "open", "movie", &consumer_options, &consumer);
	settle(doomed);
	struct gid_frame frame;
	send_slot(doomed, slab, 0);
	send_slot(doomed, slab, 1);
	gid_consumer_receive(consumer, &frame);
	gid_consumer_release(consumer, &frame);
	send_slot(doomed, slab, 2);
	tap_ok(doomed == NULL, "a producer that is destroyed by its callback, while it sends");
	tap_ok(gid_consumer_receive(consumer, &frame) == -EPIPE && consumer == NULL,
			"and a consumer by its own");
	settle(NULL);

	struct gid_domain *domain;
	gid_domain_connect("open", &domain);
	gid_producer_create(domain, "movie", NULL, &doomed);
	consumer_options.state = hear_state;
	gid_consumer_create(domain, NULL, "movie", &consumer_options, &consumer);
	struct gid_slab *theirs;
	gid_slab_create(domain, &layout, 0, 4, NULL, &theirs);
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			gid_consumer_get_state(consumer) != GID_CONSUMER_LIVE &&
			cockpit_now_ms() < end;) {
		cockpit_sleep_ms(5);
		gid_domain_dispatch(domain);
	}
	tap_ok(send_slot(doomed, theirs, 0) == 1 && gid_consumer_receive(consumer, &frame) == 1,
			"a stream inside a domain");
	gid_domain_destroy(domain);
	tap_ok(send_slot(doomed, theirs, 1) == -EPIPE &&
					gid_consumer_receive(consumer, &frame) == -EPIPE &&
					gid_consumer_release(consumer, &frame) == 0,
			"both survive its end");
	gid_producer_destroy(doomed);
	gid_consumer_destroy(consumer);
	gid_slab_unref(theirs);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* --- callbacks that end more than their stream, or send --------------------------------------- */

/* What the next `released` does. */
static struct {
	struct gid_domain *domain;
	struct gid_producer *producer;
	struct gid_slab *slab;
	bool ends_producer;
} next;

static void destroy_domain(void *data, gid_id gid) {
	hear_released(data, gid);
	if (next.domain != NULL) {
		struct gid_domain *domain = next.domain;
		next.domain = NULL;
		if (next.ends_producer) {
			gid_producer_destroy(next.producer);
		}
		gid_domain_destroy(domain);
	}
}

static void send_another(void *data, gid_id gid) {
	hear_released(data, gid);
	if (next.slab != NULL) {
		struct gid_slab *slab = next.slab;
		next.slab = NULL;
		send_slot(next.producer, slab, 3);
	}
}

static struct gid_producer *produce_for(void (*released)(void *data, gid_id gid)) {
	struct gid_producer_options options = {.size = sizeof(options), .released = released};
	struct gid_producer *producer = NULL;
	gid_producer_create(open_domain, "movie", &options, &producer);
	memset(&heard, 0, sizeof(heard));
	next.producer = producer;
	return producer;
}

/* Another connection takes the place of `open_domain`, which is returned. */
static struct gid_domain *open_another(void) {
	struct gid_domain *kept = open_domain;
	gid_domain_connect("open", &open_domain);
	return kept;
}

/*
 * Two consumers that have no room: of what the one leaves unread nobody else has anything, so that
 * its slot is free before the other one's is let go.
 */
static void fill_two(struct gid_producer *producer, struct gid_slab *slab,
		struct gid_consumer *consumers[2]) {
	struct gid_frame frame;
	consumers[0] = consume(1, true, false);
	settle(producer);
	consumers[1] = consume(2, true, false);
	settle(producer);
	send_slot(producer, slab, 0);
	tap_ok(gid_consumer_receive(consumers[0], &frame) == 1 &&
					gid_consumer_release(consumers[0], &frame) == 0 &&
					send_slot(producer, slab, 1) == 2,
			"two consumers have all that they may");
}

static void test_domain_ends(bool with_producer) {
	struct gid_domain *kept = open_another();
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce_for(destroy_domain);
	struct gid_consumer *consumers[2];
	next.ends_producer = with_producer;
	fill_two(producer, slab, consumers);
	next.domain = open_domain;
	send_slot(producer, slab, 2);
	open_domain = kept;
	tap_ok(next.domain == NULL && (with_producer || heard.released == 1),
			"a domain is destroyed while its stream sends%s",
			with_producer ? ", and the stream before it" : "");
	bool all = true;
	for (uint32_t slot = 0; slot < 4; slot++) {
		all &= gid_slab_holders(slab, slot) == 0;
	}
	tap_ok(all, "nothing is held any more");
	if (!with_producer) {
		gid_producer_destroy(producer);
	}
	gid_slab_unref(slab);
	gid_consumer_destroy(consumers[0]);
	gid_consumer_destroy(consumers[1]);
	settle(NULL);
}

/* The same where a consumer goes that has several frames. */
static void test_domain_ends_with_consumer(void) {
	struct gid_domain *kept = open_another();
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce_for(destroy_domain);
	struct gid_consumer *consumer = consume(3, false, false);
	settle(producer);
	for (uint32_t slot = 0; slot < 3; slot++) {
		send_slot(producer, slab, slot);
	}
	next.domain = open_domain;
	next.ends_producer = false;
	gid_consumer_destroy(consumer);
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			next.domain != NULL && cockpit_now_ms() < end;) {
		struct pollfd poll_fd = {gid_producer_get_fd(producer), POLLIN, 0};
		poll(&poll_fd, 1, 100);
		gid_producer_dispatch(producer);
	}
	open_domain = kept;
	tap_ok(next.domain == NULL && gid_slab_holders(slab, 2) == 0,
			"a domain is destroyed as a consumer's frames come back");
	gid_producer_destroy(producer);
	gid_slab_unref(slab);
	settle(NULL);
}

static void test_sends_within(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce_for(send_another);
	struct gid_consumer *consumers[2];
	fill_two(producer, slab, consumers);
	next.slab = slab;
	tap_ok(send_slot(producer, slab, 2) == 2 && next.slab == NULL,
			"a callback sends while its stream does");
	gid_consumer_destroy(consumers[0]);
	gid_consumer_destroy(consumers[1]);
	settle(producer);
	tap_ok(heard.released == 4 && gid_slab_holders(slab, 1) == 0,
			"and each slot comes back: %u", heard.released);
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

/* A slab goes while a frame of it is out, and nothing takes another one for it. */
static void test_slab_goes(void) {
	struct gid_slab *gone = make_slab(2), *other;
	struct gid_producer *producer = produce(0, 8);
	struct gid_consumer *consumer = consume(4, false, false);
	struct gid_frame frames[2], old = GID_FRAME_INIT;
	settle(producer);
	memset(&heard, 0, sizeof(heard));
	old.gid = gid_slab_gid(gone, 0);
	bool good = gid_producer_send(producer, &old) == 1;
	gid_slab_destroy(gone, false);
	tap_ok(good && gid_producer_send(producer, &old) == -EINVAL,
			"nothing of a slab that is gone is sent");
	other = make_slab(2);
	good = send_slot(producer, other, 1) == 1;
	good &= gid_consumer_receive_burst(consumer, frames, 2) == 2;
	gid_consumer_release_burst(consumer, frames, 2);
	gid_producer_dispatch(producer);
	tap_ok(good && heard.released == 1 && heard.last_released == gid_slab_gid(other, 1) &&
					gid_slab_holders(other, 1) == 0,
			"a frame of it that comes back is nobody's, and that behind it is told of");
	gid_consumer_destroy(consumer);
	gid_producer_destroy(producer);
	gid_slab_destroy(other, false);
	settle(NULL);
}

/* 1000 times there and back leave nothing behind. */
static void test_cycles(void) {
	struct gid_slab *slab = make_slab(4);
	struct gid_producer *producer = produce(0, 8);
	settle(producer);
	int fds = 0, maps = 0, delivered = 0;
	for (int i = 0; i < 1010; i++) {
		if (i == 10) {
			fds = cockpit_count_settled("/proc/self/fd");
			maps = cockpit_count("/proc/self/maps");
		}
		struct gid_consumer *consumer;
		struct gid_consumer_options options = {.size = sizeof(options), .credit = 2};
		gid_consumer_create(cluster_domain, "open", "movie", &options, &consumer);
		long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
		while (gid_consumer_get_state(consumer) != GID_CONSUMER_LIVE &&
				cockpit_now_ms() < end) {
			struct pollfd poll_fds[] = {
					{gid_domain_get_fd(open_domain), POLLIN, 0},
					{gid_domain_get_fd(cluster_domain), POLLIN, 0},
			};
			poll(poll_fds, 2, 100);
			gid_domain_dispatch(open_domain);
			gid_domain_dispatch(cluster_domain);
		}
		struct gid_frame frame;
		send_slot(producer, slab, (uint32_t)i % 4);
		delivered += gid_consumer_receive(consumer, &frame) == 1;
		gid_consumer_destroy(consumer);
		gid_producer_dispatch(producer);
	}
	settle(producer);
	tap_ok(delivered == 1010, "each of 1010 subscriptions got its frame: %d", delivered);
	struct gid_producer_stats stats;
	gid_producer_get_stats(producer, &stats);
	tap_ok(stats.held == 0 && stats.consumers == 0, "no slot is held, no consumer left");
	tap_ok(cockpit_count_settled("/proc/self/fd") == fds,
			"no descriptor is left behind: %d, then %d", fds,
			cockpit_count_settled("/proc/self/fd"));
	tap_ok(cockpit_count("/proc/self/maps") <= maps + 2,
			"no mapping is left behind: %d, then %d", maps,
			cockpit_count("/proc/self/maps"));
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	settle(NULL);
}

static int told_count, told; /* by `published` */

static void hear_published(void *data, int error) {
	told = error;
	told_count++;
}

/* A producer that goes before gidd has answered leaves its name to the next one. */
static void test_made_again(void) {
	const struct gid_producer_options async = {
			.size = sizeof(async), .published = hear_published};
	struct gid_producer *producer = NULL, *other = NULL;
	gid_producer_create(open_domain, "movie", &async, &producer);
	gid_producer_create(open_domain, "camera/rear", NULL, &other); /* another one's is none */
	gid_producer_destroy(producer);
	gid_producer_destroy(other);
	producer = NULL;
	gid_producer_create(open_domain, "camera/rear", NULL, &other);
	tap_ok(other != NULL && told_count == 0, "what one asked for another one does not get");
	gid_producer_destroy(other);
	for (int i = 0; i < 3; i++) {
		gid_producer_destroy(producer);
		producer = NULL;
		gid_producer_create(open_domain, "movie", &async, &producer);
	}
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			told_count == 0 && cockpit_now_ms() < end;) {
		gid_domain_dispatch(open_domain);
	}
	settle(producer);
	tap_ok(producer != NULL && told_count == 1 && told == 0,
			"a producer can be made again at once: %d", told);
	gid_producer_destroy(producer);

	char *status = NULL;
	gid_producer_create(open_domain, "movie", &async, &producer);
	gid_producer_destroy(producer);
	gid_domain_status(open_domain, &status); /* and the answer has come meanwhile */
	free(status);
	producer = NULL;
	int error = gid_producer_create(open_domain, "movie", NULL, &producer);
	tap_ok(error == 0 && told_count == 1, "by one that waits for gidd, too: %d, %s", error,
			error < 0 ? gid_domain_error(open_domain) : "");
	settle(producer);
	gid_producer_destroy(producer);
	settle(NULL);
}

int main(void) {
	if (stream_pair_init()) {
		test_made_again();
		test_ends();
		test_domain_ends(false);
		test_domain_ends(true);
		test_domain_ends_with_consumer();
		test_sends_within();
		test_slab_goes();
		test_cycles();
	}
	return stream_pair_finish();
}
