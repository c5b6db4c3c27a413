// SPDX-License-Identifier: MIT
/*
 * Producers of a domain with a window: gidd is asked for memory for each consumer's ring, and who
 * dispatches does not wait for that. What comes for nobody any more is given back.
 */
#include <gid/stream.h>
#include <sys/mman.h>

#include "false_flow.h"
#include "memory_source.h"
#include "producer.h"

#define WINDOW_SIZE (UINT64_C(1) << 20)
#define PLACE 4096u /* in the window */
#define STREAM 5u

enum way {
	SAYS_NOTHING, /* until the test says otherwise */
	HAS_NO_WINDOW,
	REFUSES,
};

static atomic_int way;
static atomic_uint allocs, frees, accepted, published;
static atomic_uint alloc_serial, alloc_size, accepted_offset;
static int window = -1;

static void give(void) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_ALLOCATED, alloc_serial);
	message.allocated.offset = PLACE;
	message.allocated.size = alloc_size;
	flow_say(&message, &window, 1);
}

static bool answer_alloc(int fd, uint32_t serial) {
	const enum way now = (enum way)way;
	return now == SAYS_NOTHING ||
			false_gidd_answer(fd, serial, now == REFUSES ? -EDQUOT : -ENOTSUP, 0);
}

static bool hear(int fd, const union gid_wire_message *message, unsigned life) {
	uint32_t serial = message->header.serial;
	switch (message->header.type) {
	case GID_WIRE_ALLOC:
		alloc_serial = serial;
		alloc_size = (unsigned)gid_memory_round_up(message->alloc.size);
		allocs++;
		return answer_alloc(fd, serial);
	case GID_WIRE_FREE:
		frees += message->allocated.offset == PLACE;
		return true;
	case GID_WIRE_PUBLISH:
		published++;
		return false_gidd_answer(fd, serial, 0, STREAM);
	case GID_WIRE_ACCEPT:
		accepted_offset = (unsigned)message->subscribed.window_offset;
		accepted++;
		return true;
	default:
		return flow_hear(fd, message);
	}
}

static unsigned joined, left;

static void hear_subscriber(void *data, uint32_t domain, bool is_there, uint32_t consumers) {
	joined += is_there;
	left += !is_there;
}

static struct gid_producer *produce(struct gid_domain *domain) {
	const struct gid_producer_options options = {
			.size = sizeof(options), .subscriber = hear_subscriber};
	struct gid_producer *producer = NULL;
	int error = gid_producer_create(domain, "movie", &options, &producer);
	if (error < 0) {
		tap_ok(false, "a producer: %d, %s", error, gid_domain_error(domain));
		exit(tap_finish());
	}
	return producer;
}

/* What a consumer of another machine has. */
static struct gid_memory_own page;
static int bells[2];
static uint32_t number;

static void say_subscriber(void) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIBER, 0);
	message.subscriber.subscription = ++number;
	message.subscriber.stream = STREAM;
	message.subscriber.domain = 2;
	message.subscriber.credit = 4;
	message.subscriber.flags = GID_WIRE_REMOTE;
	flow_say(&message, (int[]){page.fd, bells[1]}, 2);
}

static void say_end(uint32_t of) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
	message.subscription_end.subscription = of;
	flow_say(&message, NULL, 0);
}

/* A consumer, for whose ring gidd does not say anything yet. */
static void join_in_vain(struct gid_domain *domain) {
	const unsigned before = allocs, came = joined, taken = accepted;
	way = SAYS_NOTHING;
	say_subscriber();
	WAIT_FOR(domain, allocs > before);
	false_gidd_wait(domain);
	tap_ok(gid_domain_is_connected(domain) && joined == came && accepted == taken,
			"who dispatches does not wait for a ring's memory");
}

static void test_late(struct gid_domain *domain) {
	struct gid_producer *producer = produce(domain);
	join_in_vain(domain);
	struct gid_frame frame = GID_FRAME_INIT;
	frame.flags = GID_FRAME_EOS;
	tap_ok(gid_producer_send(producer, &frame) == 0, "what is sent meanwhile nobody gets");
	give();
	WAIT_FOR(domain, accepted > 0);
	tap_ok(joined == 1 && accepted_offset == PLACE && gid_producer_consumers(producer) == 1,
			"the consumer comes when there is memory");
	tap_ok(gid_producer_send(producer, &frame) == 1, "and gets what is sent from then on");
	say_end(number);
	WAIT_FOR(domain, left > 0);
	WAIT_FOR(domain, frees > 0);
	tap_ok(left == 1 && frees == 1, "its memory is given back when it goes");
	gid_producer_destroy(producer);
}

/* Nothing comes of it, and the memory is given back. */
static void expect_nothing(struct gid_domain *domain, const char *who) {
	const unsigned before = frees, came = joined, taken = accepted, over = flow.ended;
	give();
	WAIT_FOR(domain, frees > before);
	tap_ok(joined == came && accepted == taken && flow.ended == over,
			"memory for %s is given back", who);
}

static void test_ended_before(struct gid_domain *domain) {
	struct gid_producer *producer = produce(domain);
	join_in_vain(domain);
	const uint32_t first = alloc_serial;
	join_in_vain(domain);
	const uint32_t second = alloc_serial;
	say_end(number + 1); /* of which nobody knows here */
	say_end(number - 1);
	flow_wait_heard(domain, 2);
	alloc_serial = first;
	expect_nothing(domain, "a consumer that has gone");
	const unsigned taken = accepted;
	alloc_serial = second;
	give();
	WAIT_FOR(domain, accepted > taken);
	tap_ok(accepted == taken + 1 && gid_producer_consumers(producer) == 1,
			"another one's is its own");
	join_in_vain(domain);
	const unsigned over = flow.ended;
	gid_producer_destroy(producer);
	WAIT_FOR(domain, flow.ended > over); /* of the one that had joined */
	expect_nothing(domain, "a stream that has ended");
}

static void test_refused(struct gid_domain *domain) {
	struct gid_producer *producer = produce(domain);
	const unsigned before = flow.ended, came = joined;
	way = REFUSES;
	say_subscriber();
	WAIT_FOR(domain, flow.ended > before);
	tap_ok(flow.end_reason == -EDQUOT && joined == came,
			"without memory the consumer is refused: %d", flow.end_reason);
	const unsigned taken = accepted;
	way = HAS_NO_WINDOW;
	say_subscriber();
	WAIT_FOR(domain, accepted > taken);
	tap_ok(joined == came + 1 && accepted_offset == 0,
			"a ring that only programs of this machine read is elsewhere");
	gid_producer_destroy(producer);
}

static void test_another_gidd(struct gid_domain *domain) {
	struct gid_producer *producer = produce(domain);
	join_in_vain(domain);
	const unsigned before = published, came = joined;
	false_gidd.life++;
	WAIT_FOR(domain, published > before);
	tap_ok(joined == came && producer->joining == NULL,
			"with a gidd that goes those go that waited for it");
	gid_producer_destroy(producer);
}

static struct gid_producer *outliving;

static void test_all(struct gid_domain *domain) {
	test_late(domain);
	test_ended_before(domain);
	test_refused(domain);
	test_another_gidd(domain);
	outliving = produce(domain);
	join_in_vain(domain);
}

int main(void) {
	setenv("GID_ANSWER_SECONDS", "20", 1);
	window = memfd_create("window", MFD_CLOEXEC);
	if (ftruncate(window, WINDOW_SIZE) < 0 ||
			gid_memory_create(&page, "gid-page", sizeof(struct gid_wire_page)) < 0 ||
			socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bells) < 0) {
		return 1;
	}
	false_gidd.window = WINDOW_SIZE;
	int result = false_gidd_test(hear, test_all);
	gid_producer_destroy(outliving); /* its domain went first, with one that waited */
	gid_memory_finish(&page);
	close(bells[0]);
	close(bells[1]);
	close(window);
	return result;
}
