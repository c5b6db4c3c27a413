// SPDX-License-Identifier: MIT
/*
 * What a consumer makes of what gidd says of its subscription: refusals, answers that never come,
 * a ring, doorbells past gidd, and all of them when they are not expected.
 */
#include <gid/stream.h>
#include <sys/eventfd.h>

#include "consumer.h"
#include "false_flow.h"
#include "memory_source.h"

#define SOON_NS UINT64_C(20000000)
#define UNSAID 1

static atomic_int answer_of; /* what gidd says to SUBSCRIBE; UNSAID: nothing */
static atomic_bool hangs_up; /* instead */
static atomic_uint asked, asked_live;
static atomic_int number;
static atomic_int page = -1, bell = -1; /* that came with the last SUBSCRIBE */

static int told_count, told; /* by `answered` */
static int state_count, state_reason;
static enum gid_consumer_state state;

static void keep(atomic_int *kept, int *fd) {
	if (*kept >= 0) {
		close(*kept);
	}
	*kept = *fd;
	*fd = -1;
}

static bool hear(int fd, const union gid_wire_message *message, unsigned life) {
	uint32_t serial = message->header.serial;
	switch (message->header.type) {
	case GID_WIRE_SUBSCRIBE:
		keep(&page, &false_gidd.fds[0]);
		if ((message->subscribe.flags & GID_WIRE_LIVE) == 0) {
			keep(&bell, &false_gidd.fds[1]);
		}
		number = (int)message->subscribe.subscription;
		asked_live += (message->subscribe.flags & GID_WIRE_LIVE) != 0;
		asked++;
		return !hangs_up &&
				(answer_of == UNSAID ||
						false_gidd_answer(fd, serial, answer_of, 0));
	default:
		return flow_hear(fd, message);
	}
}

static void hear_answer(void *data, int error) {
	told = error;
	told_count++;
}

static void hear_state(void *data, enum gid_consumer_state new_state, int reason) {
	state = new_state;
	state_reason = reason;
	state_count++;
}

static struct gid_consumer_options options(bool reconnect, bool waits) {
	return (struct gid_consumer_options){
			.size = sizeof(struct gid_consumer_options),
			.reconnect = reconnect,
			.state = hear_state,
			.answered = waits ? NULL : hear_answer,
	};
}

static int consume(struct gid_domain *domain, bool reconnect, bool waits,
		struct gid_consumer **consumer) {
	struct gid_consumer_options chosen = options(reconnect, waits);
	*consumer = NULL;
	told_count = state_count = told = state_reason = 0;
	return gid_consumer_create(domain, NULL, "movie", &chosen, consumer);
}

/* --- refusals --------------------------------------------------------------------------------- */

/* As gidd says while it cannot reach the other machine. */
static void test_too_soon(struct gid_domain *domain) {
	struct gid_consumer *consumer;
	answer_of = -ENOTCONN;
	tap_ok(consume(domain, false, true, &consumer) == -ENOTCONN && consumer == NULL,
			"who does not wait for a stream is told that it is too soon");
	tap_ok(consume(domain, true, true, &consumer) == 0 &&
					gid_consumer_get_state(consumer) == GID_CONSUMER_WAITING,
			"who waits for one has a consumer");
	unsigned before = asked;
	answer_of = 0;
	WAIT_FOR(domain, asked > before);
	tap_ok(gid_consumer_get_state(consumer) == GID_CONSUMER_WAITING && state_count == 0,
			"which asks again by itself");
	gid_consumer_destroy(consumer);

	answer_of = -ENOTCONN;
	tap_ok(consume(domain, true, false, &consumer) == 0, "who wants no waiting gets it, too");
	WAIT_FOR(domain, told_count >= 2);
	tap_ok(told == -ENOTCONN && gid_consumer_get_state(consumer) == GID_CONSUMER_WAITING,
			"it is told of each refusal: %d", told);
	gid_consumer_destroy(consumer);
}

static void test_refused(struct gid_domain *domain) {
	struct gid_consumer *consumer;
	answer_of = -EACCES;
	unsigned before = flow.ended;
	consume(domain, false, false, &consumer);
	WAIT_FOR(domain, told_count > 0);
	tap_ok(told == -EACCES && state == GID_CONSUMER_ENDED && state_reason == -EACCES,
			"a refusal that comes later ends the consumer: %d", state_reason);
	gid_consumer_destroy(consumer);
	consume(domain, true, false, &consumer);
	WAIT_FOR(domain, told_count >= 2);
	tap_ok(told == -EACCES && state_count == 0, "or has it ask again: %d", told_count);
	gid_consumer_destroy(consumer);
	answer_of = 0;
	consume(domain, true, true, &consumer); /* after it, nothing else is under way */
	tap_ok(consumer != NULL && flow.ended == before,
			"gidd is not told of the end of what it refused");
	gid_consumer_destroy(consumer);
}

static struct gid_consumer *to_destroy;

static void destroy_it(void *data, int error) {
	told_count++;
	gid_consumer_destroy(to_destroy);
}

static void test_destroyed_by_answer(struct gid_domain *domain) {
	struct gid_consumer_options chosen = options(true, false);
	chosen.answered = destroy_it;
	told_count = state_count = 0;
	answer_of = -EACCES;
	gid_consumer_create(domain, NULL, "movie", &chosen, &to_destroy);
	WAIT_FOR(domain, told_count > 0);
	unsigned before = asked;
	for (int i = 0; i < 100; i++) {
		false_gidd_wait(domain);
	}
	tap_ok(told_count == 1 && state_count == 0 && asked == before,
			"who destroys a consumer when it is refused hears no more of it");
}

/* --- no answers ------------------------------------------------------------------------------- */

static void test_unanswered(struct gid_domain *domain) {
	struct gid_consumer *consumer;
	uint64_t answer_ns = domain->answer_ns;
	domain->answer_ns = SOON_NS;
	answer_of = UNSAID;
	unsigned before = flow.ended;
	tap_ok(consume(domain, false, true, &consumer) == -ETIMEDOUT,
			"a stream that nobody answers for is none");
	WAIT_FOR(domain, flow.ended > before);
	tap_ok(flow.end_reason == -ETIMEDOUT, "and gidd is told, which may make it late: %d",
			flow.end_reason);

	before = flow.ended;
	consume(domain, false, false, &consumer);
	WAIT_FOR(domain, told_count > 0);
	WAIT_FOR(domain, flow.ended > before);
	tap_ok(told == -ETIMEDOUT && state == GID_CONSUMER_ENDED && flow.end_reason == -ETIMEDOUT &&
					gid_domain_is_connected(domain),
			"likewise who did not wait for it: %d", told);
	gid_consumer_destroy(consumer);
	domain->answer_ns = answer_ns;
}

static void test_hung_up(struct gid_domain *domain) {
	struct gid_consumer *consumer;
	hangs_up = true;
	consume(domain, false, false, &consumer);
	WAIT_FOR(domain, told_count > 0);
	hangs_up = false;
	tap_ok(told == -ENOTCONN && gid_consumer_get_state(consumer) == GID_CONSUMER_WAITING,
			"a gidd that goes instead of answering is waited for: %d", told);
	answer_of = 0;
	WAIT_FOR(domain, told_count > 1);
	tap_ok(told == 0 && gid_consumer_get_state(consumer) == GID_CONSUMER_WAITING,
			"and the next one is asked");
	gid_consumer_destroy(consumer);
}

/* --- a ring ----------------------------------------------------------------------------------- */

static struct {
	struct gid_memory_own memory;
	struct gid_ring_producer producer;
	const void *page;
} ring;

static void say_subscribed(uint32_t subscription) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIBED, 0);
	message.subscribed.subscription = subscription;
	message.subscribed.domain = 1;
	flow_say(&message, &ring.memory.fd, 1);
}

static struct gid_consumer *make_live(struct gid_domain *domain) {
	struct gid_consumer *consumer;
	answer_of = 0;
	if (consume(domain, true, true, &consumer) < 0) {
		tap_ok(false, "a consumer: %s", gid_domain_error(domain));
		exit(tap_finish());
	}
	gid_memory_create(&ring.memory, "gid-ring", sizeof(struct gid_wire_ring));
	gid_memory_attach(page, 0, sizeof(struct gid_wire_page), &ring.page);
	gid_ring_producer_init(&ring.producer, ring.memory.data, ring.page, 4);
	int rings = eventfd(0, EFD_CLOEXEC);
	flow_say_doorbell((uint32_t)number, GID_WIRE_DOORBELL_RING, rings);
	flow_say_hearing((uint32_t)number);
	say_subscribed((uint32_t)number + 1);
	flow_wait_heard(domain, 3);
	tap_ok(consumer->doorbell.ring < 0 &&
					gid_consumer_get_state(consumer) == GID_CONSUMER_WAITING,
			"before its ring it takes no doorbell, nor another one's ring");
	say_subscribed((uint32_t)number);
	WAIT_FOR(domain, state == GID_CONSUMER_LIVE);
	close(rings);
	return consumer;
}

static void end_live(struct gid_consumer *consumer) {
	gid_consumer_destroy(consumer);
	gid_memory_unmap(ring.page, sizeof(struct gid_wire_page));
	gid_memory_finish(&ring.memory);
}

static uint64_t count_rings(int fd) {
	uint64_t count = 0;
	struct pollfd end = {.fd = fd, .events = POLLIN};
	return poll(&end, 1, 0) > 0 && read(fd, &count, sizeof(count)) > 0 ? count : 0;
}

static void test_doorbells(struct gid_domain *domain) {
	struct gid_consumer *consumer = make_live(domain);
	uint32_t ours = (uint32_t)number;
	int rings = eventfd(0, EFD_CLOEXEC), others = eventfd(0, EFD_CLOEXEC);
	unsigned before = flow.hearing_on;
	flow_say_doorbell(ours + 1, GID_WIRE_DOORBELL_RING, others);
	flow_say_doorbell(ours, GID_WIRE_DOORBELL_RING, rings);
	flow_say_doorbell(ours, GID_WIRE_DOORBELL_RING, others);
	flow_wait_heard(domain, 3);
	struct gid_wire_frame frame = {.sequence = 1, .flags = GID_FRAME_EOS};
	struct gid_frame got;
	gid_ring_send(&ring.producer, &frame, NULL, gid_clock_now());
	gid_ring_producer_sleep(&ring.producer);
	tap_ok(gid_consumer_receive(consumer, &got) == 1, "a frame comes by the ring");
	gid_consumer_release(consumer, &got);
	tap_ok(count_rings(rings) == 1 && count_rings(others) == 0,
			"its release rings past gidd, by the first bell alone");

	flow_say_doorbell(ours, GID_WIRE_DOORBELL_HEAR, rings);
	flow_say_doorbell(ours, GID_WIRE_DOORBELL_HEAR, others);
	flow_wait_heard(domain, 2);
	WAIT_FOR(domain, flow.hearing_on > before);
	tap_ok(consumer->doorbell.hear >= 0, "it hears past gidd, and says so");
	gid_consumer_receive(consumer, &got);
	eventfd_write(rings, 1);
	tap_ok(poll(&(struct pollfd){gid_consumer_get_fd(consumer), POLLIN, 0}, 1, 0) == 1,
			"who waits for frames wakes up from it");
	flow_say_hearing(ours + 1);
	flow_wait_heard(domain, 1);
	tap_ok(consumer->doorbell.hear >= 0, "what gidd says of another one is not for it");
	flow_say_hearing(ours);
	flow_wait_heard(domain, 1);
	tap_ok(consumer->doorbell.hear < 0 && flow.hearing_on == before + 1,
			"gidd can have it hear no more");
	flow_say_hearing(ours);
	say_subscribed(ours);
	flow_wait_heard(domain, 2);
	tap_ok(gid_consumer_get_state(consumer) == GID_CONSUMER_LIVE && state_count == 1,
			"what is said twice changes nothing");
	tap_ok(consumer->doorbell.giver == 1,
			"what is closed of it the producer's domain pays for");
	close(rings);
	close(others);
	end_live(consumer);
}

static int end_reason(struct gid_domain *domain, bool closed, int reason) {
	struct gid_consumer *consumer = make_live(domain);
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
	message.subscription_end.subscription = (uint32_t)number;
	message.subscription_end.reason = reason;
	if (closed) {
		gid_ring_close(&ring.producer);
	}
	flow_say(&message, NULL, 0);
	WAIT_FOR(domain, state != GID_CONSUMER_LIVE);
	reason = state_reason;
	end_live(consumer);
	return reason;
}

/* A producer's last word may get lost on its way to gidd; it is in memory, too. */
static void test_ended(struct gid_domain *domain) {
	tap_ok(end_reason(domain, false, 0) == 0 && end_reason(domain, true, 0) == 0,
			"a stream that ended in good order, by gidd");
	tap_ok(end_reason(domain, false, -EPIPE) == -EPIPE, "and one whose producer was killed");
	tap_ok(end_reason(domain, true, -EPIPE) == 0, "gidd saw only that the producer was gone");
	tap_ok(end_reason(domain, true, -EPERM) == -EPERM, "what it refuses is told in any case");
}

/* Frames flow on where a new gidd will not know of them. */
static void test_announced(struct gid_domain *domain) {
	struct gid_consumer *consumer = make_live(domain);
	unsigned before = asked_live;
	answer_of = -EACCES;
	false_gidd.life++;
	WAIT_FOR(domain, asked_live > before);
	WAIT_FOR(domain, consumer->number == 0);
	tap_ok(gid_consumer_get_state(consumer) == GID_CONSUMER_LIVE,
			"a gidd that comes back and refuses ends nothing that flows");
	before = flow.hearing_on;
	unsigned ends = flow.ended;
	gid_consumer_send_hearing(consumer, true);
	end_live(consumer);
	answer_of = 0;
	consume(domain, true, true, &consumer);
	tap_ok(flow.hearing_on == before && flow.ended == ends, "and is told of it no more");
	gid_consumer_destroy(consumer);
}

/* Memory that its writer could take away is no ring. */
static void test_no_ring(struct gid_domain *domain) {
	struct gid_consumer_options chosen = options(false, true);
	struct gid_consumer *consumer;
	union gid_wire_message message;
	int no_ring = eventfd(0, EFD_CLOEXEC);
	state_count = 0;
	gid_consumer_create(domain, NULL, "movie", &chosen, &consumer);
	gid_wire_begin(&message, GID_WIRE_SUBSCRIBED, 0);
	message.subscribed.subscription = (uint32_t)number;
	message.subscribed.domain = 1;
	flow_say(&message, &no_ring, 1);
	WAIT_FOR(domain, state_count > 0);
	tap_ok(state == GID_CONSUMER_ENDED && state_reason == -EBADF,
			"what is no memory is no ring: %d", state_reason);
	close(no_ring);
	gid_consumer_destroy(consumer);
}

static void test_all(struct gid_domain *domain) {
	test_too_soon(domain);
	test_refused(domain);
	test_destroyed_by_answer(domain);
	test_unanswered(domain);
	test_hung_up(domain);
	test_doorbells(domain);
	test_ended(domain);
	test_announced(domain);
	test_no_ring(domain);
}

int main(void) {
	setenv("GID_ANSWER_SECONDS", "20", 1);
	int status = false_gidd_test(hear, test_all);
	keep(&page, &(int){-1});
	keep(&bell, &(int){-1});
	return status;
}
