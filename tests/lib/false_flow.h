// SPDX-License-Identifier: MIT
/*
 * A false gidd that speaks of subscriptions: what it was told of them, and what it says. For one
 * file, whose own messages it hears by `false_gidd_hear` as ever.
 */
#ifndef TESTS_FALSE_FLOW_H
#define TESTS_FALSE_FLOW_H

#include "false_gidd.h"
#include "tap.h"

#define PATIENCE_NS (UINT64_C(60) * 1000000000)

static struct {
	atomic_int connection; /* gidd's end of the present one */
	atomic_uint ended, hearing_on, hearing_off;
	atomic_int end_reason;
} flow = {.connection = -1};

/* What most tests want of a message that they do not look at themselves. */
static bool flow_hear(int fd, const union gid_wire_message *message) {
	switch (message->header.type) {
	case GID_WIRE_HELLO:
		flow.connection = fd;
		return false_gidd_greet(fd, message->header.serial);
	case GID_WIRE_SUBSCRIPTION_END:
		flow.end_reason = message->subscription_end.reason;
		flow.ended++;
		return true;
	case GID_WIRE_HEARING:
		flow.hearing_on += message->hearing.on;
		flow.hearing_off += !message->hearing.on;
		return true;
	default:
		return true;
	}
}

static void flow_say(union gid_wire_message *message, const int *fds, uint32_t fd_count) {
	int error = gid_socket_send(
			flow.connection, message->bytes, message->header.size, fds, fd_count);
	if (error < 0) {
		tap_ok(false, "gidd says something: %d", error);
	}
}

static inline void flow_say_doorbell(uint32_t number, enum gid_wire_doorbell_way way, int fd) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_DOORBELL, 0);
	message.doorbell.subscription = number;
	message.doorbell.way = way;
	flow_say(&message, &fd, fd >= 0);
}

static inline void flow_say_hearing(uint32_t number) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_HEARING, 0);
	message.hearing.subscription = number;
	flow_say(&message, NULL, 0);
}

/* Until the domain has heard `count` more messages. */
static inline void flow_wait_heard(struct gid_domain *domain, int count) {
	uint64_t late = gid_clock_now() + PATIENCE_NS;
	while (count > 0 && gid_clock_now() < late) {
		nanosleep(&(struct timespec){.tv_nsec = FALSE_GIDD_STEP_NS}, NULL);
		count -= gid_domain_dispatch(domain);
	}
	if (count != 0) {
		tap_ok(false, "%d messages are not heard", count);
	}
}

/* Has the domain hear what there is until that comes true, which it has to. */
#define WAIT_FOR(domain, what)                                                                     \
	do {                                                                                       \
		uint64_t late = gid_clock_now() + PATIENCE_NS;                                     \
		while (!(what) && gid_clock_now() < late) {                                        \
			false_gidd_wait(domain);                                                   \
		}                                                                                  \
		if (!(what)) {                                                                     \
			tap_ok(false, "comes true: %s", #what);                                    \
		}                                                                                  \
	} while (0)

#endif
