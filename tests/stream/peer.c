// SPDX-License-Identifier: MIT
/*
 * One end of a stream as a process of its own, for tests that stop, kill and watch it:
 *
 *     stream-peer produce NAME [OPTION=VALUE…]
 *     stream-peer consume DOMAIN NAME [OPTION=VALUE…]
 *
 * Prints a line of JSON at every change of state and every 50 ms. A producer fills each slot with
 * the frame's sequence number; a consumer compares that when it receives and when it releases.
 */
#include <errno.h>
#include <gid/stream.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull
#define REPORT_NS (50 * MS)
#define HELD_MAX GID_CREDIT_MAX

static struct {
	uint64_t fps, slots, credit, lease_ms, hold, spin_us, frames, drop_old, reconnect, quiet,
		mark, lossless;
} options = {.fps = 100, .slots = 8};

static volatile sig_atomic_t ended;

static void end(int number) {
	ended = 1;
}

static uint64_t now_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static _Noreturn void fail(struct gid_domain *domain, const char *what, int error) {
	fprintf(stderr, "%s: %s (%s)\n", what, gid_strerror(error),
		domain != NULL ? gid_domain_error(domain) : "");
	printf("{\"event\": \"failed\", \"error\": %d}\n", error);
	exit(1);
}

static void read_option(const char *argument) {
	static const struct {
		const char *name;
		uint64_t *value;
	} known[] = {
		{"fps", &options.fps},
		{"slots", &options.slots},
		{"credit", &options.credit},
		{"lease_ms", &options.lease_ms},
		{"hold", &options.hold},
		{"spin_us", &options.spin_us},
		{"frames", &options.frames},
		{"drop_old", &options.drop_old},
		{"reconnect", &options.reconnect},
		{"quiet", &options.quiet},
		{"mark", &options.mark},
		{"lossless", &options.lossless},
	};
	const char *equals = strchr(argument, '=');
	for (size_t i = 0; equals != NULL && i < sizeof(known) / sizeof(known[0]); i++) {
		size_t length = (size_t)(equals - argument);
		if (strlen(known[i].name) == length &&
			strncmp(known[i].name, argument, length) == 0) {
			*known[i].value = strtoull(equals + 1, NULL, 10);
			return;
		}
	}
	fprintf(stderr, "no such option: %s\n", argument);
	exit(2);
}

/* A system call that a trace of this process can be searched for. */
static void mark(const char *text) {
	if (options.mark != 0) {
		(void)!write(STDERR_FILENO, text, strlen(text));
	}
}

/* --- producing -------------------------------------------------------------------------------- */

struct produced {
	struct gid_domain *domain;
	struct gid_producer *producer;
	struct gid_slab *slab;
	uint64_t late_ns; /* the longest that a frame came after its time */
	uint64_t send_ns; /* the longest that sending one took */
	uint64_t no_slot;
};

static void report_producer(const struct produced *p, const char *event) {
	struct gid_producer_stats stats;
	gid_producer_get_stats(p->producer, &stats);
	printf("{\"event\": \"%s\", \"t\": %" PRIu64 ", \"frames\": %" PRIu64
	       ", \"delivered\": %" PRIu64 ", \"dropped\": %" PRIu64
	       ", \"leases_expired\": %" PRIu64 ", \"held\": %u"
	       ", \"consumers\": %u, \"doorbells\": %" PRIu64 ", \"late_ms\": %.3f"
	       ", \"send_ms\": %.3f, \"no_slot\": %" PRIu64 ", \"connected\": %s}\n",
		event, now_ns(), stats.frames, stats.delivered, stats.dropped, stats.leases_expired,
		stats.held, stats.consumers, stats.doorbells, (double)p->late_ns / 1e6,
		(double)p->send_ns / 1e6, p->no_slot,
		gid_domain_is_connected(p->domain) ? "true" : "false");
	fflush(stdout);
}

static void hear_released(void *data, gid_id gid) {
	struct produced *p = data;
	gid_slab_give(p->slab, gid_slot_of(gid));
}

static void hear_subscriber(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	report_producer(data, joined ? "joined" : "left");
}

static void send_frame(struct produced *p, uint64_t sequence) {
	int slot = gid_slab_take(p->slab);
	if (slot < 0 && gid_producer_reclaim(p->producer, false) == 1) {
		slot = gid_slab_take(p->slab);
	}
	if (slot < 0) {
		p->no_slot++;
		return;
	}
	uint64_t *words = gid_slab_data(p->slab, (uint32_t)slot);
	for (size_t i = 0; i < 512; i++) {
		words[i] = sequence;
	}
	struct gid_frame frame = {
		.gid = gid_slab_gid(p->slab, (uint32_t)slot),
		.capture_time = now_ns(),
		.present_time = GID_TIME_NONE,
		.pts = sequence,
		.dts = GID_TIME_NONE,
		.duration = GID_TIME_NONE,
	};
	uint64_t start = now_ns();
	int sent = gid_producer_send(p->producer, &frame);
	uint64_t took = now_ns() - start;
	p->send_ns = took > p->send_ns ? took : p->send_ns;
	if (sent < 0) {
		fail(p->domain, "send", sent);
	}
	if (sent == 0) {
		gid_slab_give(p->slab, (uint32_t)slot);
	}
}

static void listen_until(struct produced *p, uint64_t until) {
	struct pollfd fds[] = {
		{gid_domain_get_fd(p->domain), POLLIN, 0},
		{gid_producer_get_fd(p->producer), POLLIN, 0},
	};
	do {
		uint64_t now = now_ns(), left = now < until ? until - now : 0;
		struct timespec timeout = {
			(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
		if (ppoll(fds, 2, &timeout, NULL) > 0) {
			if (fds[0].revents != 0) {
				gid_domain_dispatch(p->domain);
			}
			if (fds[1].revents != 0) {
				gid_producer_dispatch(p->producer);
			}
		}
	} while (now_ns() < until && !ended);
}

/* As fast as the consumer takes them. */
static void send_in_one_go(struct produced *p) {
	while (gid_producer_consumers(p->producer) == 0) {
		listen_until(p, now_ns() + MS);
	}
	listen_until(p, now_ns() + 200 * MS);
	mark("begin\n");
	uint64_t give_up = now_ns() + 60000 * MS, sequence = 0;
	struct gid_producer_stats stats = {0};
	while (stats.delivered < options.frames && now_ns() < give_up) {
		send_frame(p, ++sequence);
		gid_producer_get_stats(p->producer, &stats);
	}
	mark("end\n");
	listen_until(p, now_ns() + 500 * MS);
	report_producer(p, "done");
}

static int produce(const char *name) {
	static const struct gid_layout layout = {
		.fourcc = 0x34325258, /* XR24 */
		.width = 64,
		.height = 16,
		.plane_count = 1,
		.planes = {{0, 256}},
	};
	struct produced p = {0};
	int error = gid_domain_connect(NULL, &p.domain);
	if (error < 0) {
		fail(NULL, "connect", error);
	}
	error = gid_slab_create(p.domain, &layout, 0, (uint32_t)options.slots, NULL, &p.slab);
	if (error < 0) {
		fail(p.domain, "slab", error);
	}
	struct gid_producer_options producer_options = {
		.size = sizeof(producer_options),
		.lease_ns = options.lease_ms * MS,
		.credit_max = (uint32_t)options.credit,
		.released = hear_released,
		.subscriber = hear_subscriber,
		.data = &p,
		.quiet = options.quiet != 0,
	};
	error = gid_producer_create(p.domain, name, &producer_options, &p.producer);
	if (error < 0) {
		fail(p.domain, "producer", error);
	}
	report_producer(&p, "published");
	if (options.frames != 0) {
		send_in_one_go(&p);
		ended = 1;
	}
	uint64_t period = 1000000000u / options.fps, due = now_ns(), report = due, sequence = 0;
	while (!ended) {
		due += period;
		listen_until(&p, due);
		while (options.lossless != 0 && gid_producer_room(p.producer) == 0 && !ended) {
			listen_until(&p, now_ns() + 10 * MS);
		}
		uint64_t late = now_ns() - due;
		p.late_ns = late > p.late_ns ? late : p.late_ns;
		if (late > period) {
			due += late; /* what a pause of the machine left out is not made up for */
		}
		send_frame(&p, ++sequence);
		if (now_ns() >= report) {
			report_producer(&p, "running");
			report = now_ns() + REPORT_NS;
		}
	}
	report_producer(&p, "ending");
	gid_producer_destroy(p.producer);
	gid_slab_destroy(p.slab, false);
	gid_domain_destroy(p.domain);
	return 0;
}

/* --- consuming -------------------------------------------------------------------------------- */

struct held {
	struct gid_frame frame;
	struct gid_slab *slab;
};

struct consumed {
	struct gid_domain *domain;
	struct gid_consumer *consumer;
	struct held held[HELD_MAX + 1];
	uint64_t held_count, torn, expired, lost_imports, discont, longest_gap_ns, last_frame;
	int state, reason, error;
};

static void report_consumer(const struct consumed *c, const char *event) {
	struct gid_consumer_stats stats;
	gid_consumer_get_stats(c->consumer, &stats);
	printf("{\"event\": \"%s\", \"t\": %" PRIu64
	       ", \"state\": %d, \"reason\": %d, \"error\": %d"
	       ", \"frames\": %" PRIu64 ", \"missed\": %" PRIu64 ", \"held\": %u"
	       ", \"reconnects\": %" PRIu64 ", \"torn\": %" PRIu64 ", \"expired\": %" PRIu64
	       ", \"lost_imports\": %" PRIu64 ", \"discont\": %" PRIu64
	       ", \"longest_gap_ms\": %.3f, \"connected\": %s}\n",
		event, now_ns(), c->state, c->reason, c->error, stats.frames, stats.missed,
		stats.held, stats.reconnects, c->torn, c->expired, c->lost_imports, c->discont,
		(double)c->longest_gap_ns / 1e6,
		gid_domain_is_connected(c->domain) ? "true" : "false");
	fflush(stdout);
}

static void hear_state(void *data, enum gid_consumer_state state, int reason) {
	struct consumed *c = data;
	c->state = state;
	c->reason = reason;
	c->last_frame = 0;
	if (c->consumer != NULL) {
		report_consumer(c, "state");
	}
}

/* Whether the slot holds the frame whole; what was taken back by force meanwhile does not count. */
static void check_content(struct consumed *c, const struct held *held) {
	const volatile uint64_t *words = gid_slab_view(held->slab, gid_slot_of(held->frame.gid));
	bool whole = true;
	for (size_t i = 0; i < 512; i++) {
		whole &= words[i] == held->frame.pts;
	}
	if (gid_slab_is_current(held->slab, held->frame.gid)) {
		c->torn += !whole;
	} else {
		c->expired++;
	}
}

static void release_oldest(struct consumed *c) {
	struct held held = c->held[0];
	memmove(c->held, c->held + 1, --c->held_count * sizeof(c->held[0]));
	check_content(c, &held);
	gid_slab_unref(held.slab);
	gid_consumer_release(c->consumer, &held.frame);
}

static void take_frame(struct consumed *c, const struct gid_frame *frame) {
	uint64_t now = now_ns();
	if (c->last_frame != 0 && now - c->last_frame > c->longest_gap_ns) {
		c->longest_gap_ns = now - c->last_frame;
	}
	c->last_frame = now;
	c->discont += (frame->flags & GID_FRAME_DISCONT) != 0;
	if (frame->gid == GID_NONE) {
		return;
	}
	struct held held = {.frame = *frame};
	if (gid_slab_import(c->domain, frame->gid, &held.slab) < 0) {
		c->lost_imports++;
		gid_consumer_release(c->consumer, frame);
		return;
	}
	check_content(c, &held);
	c->held[c->held_count++] = held;
	while (c->held_count > options.hold) {
		release_oldest(c);
	}
}

static int consume(const char *domain, const char *name) {
	struct consumed c = {.state = GID_CONSUMER_WAITING};
	int error = gid_domain_connect(NULL, &c.domain);
	if (error < 0) {
		fail(NULL, "connect", error);
	}
	struct gid_consumer_options consumer_options = {
		.size = sizeof(consumer_options),
		.credit = (uint32_t)options.credit,
		.drop_old = options.drop_old != 0,
		.reconnect = options.reconnect != 0,
		.spin_us = (uint32_t)options.spin_us,
		.state = hear_state,
		.data = &c,
	};
	error = gid_consumer_create(c.domain, domain, name, &consumer_options, &c.consumer);
	if (error < 0) {
		fail(c.domain, "consumer", error);
	}
	report_consumer(&c, "subscribed");
	uint64_t report = now_ns(), count = 0;
	while (!ended) {
		int ready = gid_consumer_wait(c.consumer, 50);
		struct gid_frame frame;
		if (ready == 1 || ready == -EPIPE) {
			c.error = gid_consumer_receive(c.consumer, &frame);
			if (c.error == 1) {
				take_frame(&c, &frame);
				if (++count == 100) {
					mark("begin\n");
				} else if (count + 100 == options.frames) {
					mark("end\n");
				}
			}
		}
		if (c.state == GID_CONSUMER_ENDED) {
			break;
		}
		if ((options.mark == 0 || count + 100 >= options.frames) && now_ns() >= report) {
			report_consumer(&c, "running");
			report = now_ns() + REPORT_NS;
		}
	}
	while (c.held_count > 0) {
		release_oldest(&c);
	}
	report_consumer(&c, "ending");
	gid_consumer_destroy(c.consumer);
	gid_domain_destroy(c.domain);
	return 0;
}

int main(int argc, char **argv) {
	signal(SIGTERM, end);
	bool producing = argc >= 3 && strcmp(argv[1], "produce") == 0;
	bool consuming = argc >= 4 && strcmp(argv[1], "consume") == 0;
	if (!producing && !consuming) {
		fprintf(stderr, "usage: stream-peer produce NAME | consume DOMAIN NAME\n");
		return 2;
	}
	for (int i = producing ? 3 : 4; i < argc; i++) {
		read_option(argv[i]);
	}
	return producing ? produce(argv[2]) : consume(argv[2], argv[3]);
}
