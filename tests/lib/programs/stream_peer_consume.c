// SPDX-License-Identifier: MIT
/** The end that consumes: takes frames, holds some for a while, and compares what they show. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stream_peer.h"

struct held {
	struct gid_frame frame;
	struct gid_slab *slab;
};

struct consumed {
	struct gid_domain *domain;
	struct gid_consumer *consumer;
	struct held held[GID_CREDIT_MAX + 1];
	uint64_t held_count, torn, expired, lost_imports, discont, longest_gap_ns, last_frame;
	uint64_t wrong;	   /* not what was sent, although it is held */
	uint64_t older;	   /* came behind a newer one, of one connection */
	uint64_t repeated; /* came once more, of one connection */
	uint64_t newest;
	int state, reason, error;
};

static void report_consumer(const struct consumed *c, const char *event) {
	struct gid_consumer_stats stats;
	gid_consumer_get_stats(c->consumer, &stats);
	printf("{\"event\": \"%s\", \"t\": %" PRIu64
	       ", \"state\": %d, \"reason\": %d, \"error\": %d"
	       ", \"frames\": %" PRIu64 ", \"missed\": %" PRIu64 ", \"held\": %u"
	       ", \"reconnects\": %" PRIu64 ", \"torn\": %" PRIu64 ", \"expired\": %" PRIu64
	       ", \"wrong\": %" PRIu64 ", \"older\": %" PRIu64 ", \"repeated\": %" PRIu64
	       ", \"lost_imports\": %" PRIu64 ", \"discont\": %" PRIu64
	       ", \"longest_gap_ms\": %.3f, \"connected\": %s}\n",
			event, gid_clock_now(), c->state, c->reason, c->error, stats.frames,
			stats.missed, stats.held, stats.reconnects, c->torn, c->expired, c->wrong,
			c->older, c->repeated, c->lost_imports, c->discont,
			(double)c->longest_gap_ns / 1e6,
			gid_domain_is_connected(c->domain) ? "true" : "false");
	fflush(stdout);
}

static void hear_state(void *data, enum gid_consumer_state state, int reason) {
	struct consumed *c = data;
	c->state = state;
	c->reason = reason;
	c->last_frame = c->newest = 0;
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
	c->wrong += !whole && gid_consumer_holds(c->consumer, &held->frame, held->slab, NULL) == 0;
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
	uint64_t now = gid_clock_now();
	if (c->last_frame != 0 && now - c->last_frame > c->longest_gap_ns) {
		c->longest_gap_ns = now - c->last_frame;
	}
	c->last_frame = now;
	c->discont += (frame->flags & GID_FRAME_DISCONT) != 0;
	if (frame->gid == GID_NONE) {
		return;
	}
	c->older += frame->pts < c->newest;
	c->repeated += frame->pts == c->newest;
	c->newest = frame->pts > c->newest ? frame->pts : c->newest;
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

int consume(const char *domain, const char *name) {
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
	uint64_t report = gid_clock_now(), count = 0;
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
		if ((options.mark == 0 || count + 100 >= options.frames) &&
				gid_clock_now() >= report) {
			report_consumer(&c, "running");
			report = gid_clock_now() + REPORT_NS;
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
