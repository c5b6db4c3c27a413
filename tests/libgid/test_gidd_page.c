// SPDX-License-Identifier: MIT
/*
 * Consumers of a domain with a window: gidd is asked for the page's memory, too, and neither who
 * makes a consumer without waiting nor who dispatches waits for that. Nothing is kept that nobody
 * has.
 */
#include <gid/stream.h>
#include <sys/mman.h>

#include "consumer.h"
#include "false_flow.h"

#define WINDOW_SIZE (UINT64_C(1) << 20)
#define PLACE 4096u /* in the window */

enum way {
	GIVES,
	SAYS_NOTHING, /* until the test says otherwise */
	HAS_NO_WINDOW,
	REFUSES,
};

static atomic_int way;
static atomic_uint allocs, frees, asked;
static atomic_uint alloc_serial, alloc_size, asked_offset;
static int window = -1;

static bool give(int fd, uint32_t serial) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_ALLOCATED, serial);
	message.allocated.offset = PLACE;
	message.allocated.size = alloc_size;
	return gid_socket_send(fd, message.bytes, message.header.size, &window, 1) == 0;
}

static bool answer_alloc(int fd, uint32_t serial) {
	switch ((enum way)way) {
	case GIVES:
		return give(fd, serial);
	case SAYS_NOTHING:
		return true;
	case HAS_NO_WINDOW:
		return false_gidd_answer(fd, serial, -ENOTSUP, 0);
	case REFUSES:
		return false_gidd_answer(fd, serial, -EDQUOT, 0);
	}
	return false;
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
		return false_gidd_answer(fd, serial, 0, 0);
	case GID_WIRE_SUBSCRIBE:
		asked_offset = (unsigned)message->subscribe.window_offset;
		asked++;
		return false_gidd_answer(fd, serial, 0, 0);
	default:
		return flow_hear(fd, message);
	}
}

static int told_count, told; /* by `answered` */

static void hear_answer(void *data, int error) {
	told = error;
	told_count++;
}

static struct gid_consumer *consume(struct gid_domain *domain, bool reconnect) {
	struct gid_consumer_options options = {
			.size = sizeof(options),
			.reconnect = reconnect,
			.answered = hear_answer,
	};
	struct gid_consumer *consumer = NULL;
	told_count = told = 0;
	int error = gid_consumer_create(domain, "cluster", "movie", &options, &consumer);
	if (error < 0) {
		tap_ok(false, "a consumer: %d, %s", error, gid_domain_error(domain));
		exit(tap_finish());
	}
	return consumer;
}

/* As long as gidd does not say more. */
static struct gid_consumer *consume_in_vain(struct gid_domain *domain) {
	unsigned before = allocs;
	way = SAYS_NOTHING;
	struct gid_consumer *consumer = consume(domain, true);
	WAIT_FOR(domain, allocs > before);
	way = GIVES;
	tap_ok(gid_domain_is_connected(domain) && told_count == 0 &&
					gid_consumer_get_state(consumer) == GID_CONSUMER_WAITING,
			"who does not want to wait has a consumer before there is memory");
	return consumer;
}

static void test_late(struct gid_domain *domain) {
	unsigned before = asked, freed = frees;
	struct gid_consumer *consumer = consume_in_vain(domain);
	tap_ok(asked == before, "for whose stream gidd is not asked yet");
	give(flow.connection, alloc_serial);
	WAIT_FOR(domain, told_count > 0);
	tap_ok(told == 0 && asked == before + 1 && asked_offset == PLACE,
			"but then, with a page that lies there: %d", told);
	gid_consumer_destroy(consumer);
	WAIT_FOR(domain, frees > freed);
	tap_ok(frees == freed + 1, "its memory is given back");
}

static void test_destroyed_before(struct gid_domain *domain) {
	unsigned before = asked, freed = frees;
	gid_consumer_destroy(consume_in_vain(domain));
	give(flow.connection, alloc_serial);
	WAIT_FOR(domain, frees > freed);
	tap_ok(frees == freed + 1 && asked == before && told_count == 0,
			"memory that comes for nobody is given back");
	gid_consumer_destroy(consume_in_vain(domain));
	uint32_t serial = alloc_serial;
	struct gid_consumer *consumer = consume(domain, true);
	WAIT_FOR(domain, told_count > 0);
	freed = frees;
	give(flow.connection, serial);
	WAIT_FOR(domain, frees > freed);
	tap_ok(told == 0 && frees == freed + 1 && consumer->memory.window_offset == PLACE,
			"and is not taken for another one's");
	gid_consumer_destroy(consumer);
}

static void test_refused(struct gid_domain *domain) {
	unsigned before = asked;
	way = REFUSES;
	struct gid_consumer *consumer = consume(domain, false);
	WAIT_FOR(domain, told_count > 0);
	tap_ok(told == -EDQUOT && gid_consumer_get_state(consumer) == GID_CONSUMER_ENDED,
			"a refusal ends the consumer: %d", told);
	gid_consumer_destroy(consumer);
	consumer = consume(domain, true);
	WAIT_FOR(domain, told_count > 1);
	tap_ok(told == -EDQUOT && asked == before, "or has it ask again: %d", told_count);
	way = HAS_NO_WINDOW;
	WAIT_FOR(domain, told == 0);
	tap_ok(asked == before + 1 && asked_offset == 0,
			"a page that only programs of this machine read is elsewhere");
	gid_consumer_destroy(consumer);
	way = GIVES;
}

static void test_another_gidd(struct gid_domain *domain) {
	unsigned before = asked;
	struct gid_consumer *consumer = consume_in_vain(domain);
	false_gidd.life++;
	WAIT_FOR(domain, told_count > 0);
	tap_ok(told == -ENOTCONN && gid_consumer_get_state(consumer) == GID_CONSUMER_WAITING,
			"a gidd that goes has given no memory: %d", told);
	WAIT_FOR(domain, told_count > 1);
	tap_ok(told == 0 && asked == before + 1, "and the next one is asked: %d", told);
	gid_consumer_destroy(consumer);
}

/* It is asked for memory while messages are dispatched. */
static void test_asked_again(struct gid_domain *domain) {
	struct gid_consumer *consumer = consume(domain, true);
	WAIT_FOR(domain, told_count > 0);
	unsigned before = allocs;
	way = SAYS_NOTHING;
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
	message.subscription_end.subscription = consumer->number;
	flow_say(&message, NULL, 0);
	WAIT_FOR(domain, allocs > before);
	false_gidd_wait(domain);
	tap_ok(gid_domain_is_connected(domain) && told_count == 1,
			"when a stream ends nobody waits for memory for the next one");
	give(flow.connection, alloc_serial);
	way = GIVES;
	WAIT_FOR(domain, told_count > 1);
	tap_ok(told == 0, "which is asked for then: %d", told);
	gid_consumer_destroy(consumer);
}

static void test_all(struct gid_domain *domain) {
	test_late(domain);
	test_destroyed_before(domain);
	test_refused(domain);
	test_another_gidd(domain);
	test_asked_again(domain);
}

int main(void) {
	setenv("GID_ANSWER_SECONDS", "20", 1);
	window = memfd_create("window", MFD_CLOEXEC);
	if (ftruncate(window, WINDOW_SIZE) < 0) {
		return 1;
	}
	false_gidd.window = WINDOW_SIZE;
	int result = false_gidd_test(hear, test_all);
	close(window);
	return result;
}
