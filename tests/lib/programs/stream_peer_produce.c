// SPDX-License-Identifier: MIT
/** The end that produces: frames at a steady rate, or as many as are wanted in one go. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include "stream_peer.h"

struct produced {
	struct gid_domain *domain;
	struct gid_producer *producer;
	struct gid_slab *slab;
	uint64_t late_ns; /* the longest that a frame came after its time */
	uint64_t send_ns; /* the longest that sending one took */
	uint64_t no_slot;
	uint32_t out; /* slots that were taken and not given back */
};

static void report_producer(const struct produced *p, const char *event) {
	struct gid_producer_stats stats;
	gid_producer_get_stats(p->producer, &stats);
	printf("{\"event\": \"%s\", \"t\": %" PRIu64 ", \"frames\": %" PRIu64
	       ", \"delivered\": %" PRIu64 ", \"dropped\": %" PRIu64
	       ", \"leases_expired\": %" PRIu64 ", \"held\": %u, \"out\": %u"
	       ", \"consumers\": %u, \"doorbells\": %" PRIu64 ", \"late_ms\": %.3f"
	       ", \"send_ms\": %.3f, \"no_slot\": %" PRIu64 ", \"connected\": %s}\n",
			event, gid_clock_now(), stats.frames, stats.delivered, stats.dropped,
			stats.leases_expired, stats.held, p->out, stats.consumers, stats.doorbells,
			(double)p->late_ns / 1e6, (double)p->send_ns / 1e6, p->no_slot,
			gid_domain_is_connected(p->domain) ? "true" : "false");
	fflush(stdout);
}

static void give(struct produced *p, uint32_t slot) {
	gid_slab_give(p->slab, slot);
	p->out--;
}

static void hear_released(void *data, gid_id gid) {
	give(data, gid_slot_of(gid));
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
	p->out++;
	uint64_t *words = gid_slab_data(p->slab, (uint32_t)slot);
	for (size_t i = 0; i < 512; i++) {
		words[i] = sequence;
	}
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(p->slab, (uint32_t)slot);
	frame.capture_time = gid_clock_now();
	frame.pts = sequence;
	frame.crop = (struct gid_box){0, 0, (int32_t)options.crop, (int32_t)options.crop};
	uint64_t start = gid_clock_now();
	int sent = gid_producer_send(p->producer, &frame);
	uint64_t took = gid_clock_now() - start;
	p->send_ns = took > p->send_ns ? took : p->send_ns;
	if (sent < 0) {
		fail(p->domain, "send", sent);
	}
	if (sent == 0) {
		give(p, (uint32_t)slot);
	}
}

static void listen_until(struct produced *p, uint64_t until) {
	struct pollfd fds[] = {
			{gid_domain_get_fd(p->domain), POLLIN, 0},
			{gid_producer_get_fd(p->producer), POLLIN, 0},
	};
	do {
		uint64_t now = gid_clock_now(), left = now < until ? until - now : 0;
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
	} while (gid_clock_now() < until && !ended);
}

/* As fast as the consumer takes them. */
static void send_in_one_go(struct produced *p) {
	while (gid_producer_consumers(p->producer) == 0) {
		listen_until(p, gid_clock_now() + MS);
	}
	listen_until(p, gid_clock_now() + 200 * MS);
	mark("begin\n");
	uint64_t give_up = gid_clock_now() + 240000 * MS, sequence = 0;
	struct gid_producer_stats stats = {0};
	while (stats.delivered < options.frames && gid_clock_now() < give_up) {
		send_frame(p, ++sequence);
		gid_producer_get_stats(p->producer, &stats);
	}
	mark("end\n");
	listen_until(p, gid_clock_now() + 500 * MS);
	report_producer(p, "done");
}

int produce(const char *name) {
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
	error = gid_slab_create_for_stream(
			p.domain, name, &layout, 0, (uint32_t)options.slots, NULL, &p.slab);
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
	uint64_t period = 1000000000u / options.fps, due = gid_clock_now(), report = due,
		 sequence = 0;
	while (!ended) {
		due += period;
		listen_until(&p, due);
		while (options.lossless != 0 && gid_producer_room(p.producer) == 0 && !ended) {
			listen_until(&p, gid_clock_now() + 10 * MS);
		}
		uint64_t late = gid_clock_now() - due;
		p.late_ns = late > p.late_ns ? late : p.late_ns;
		if (late > period) {
			due += late; /* what a pause of the machine left out is not made up for */
		}
		send_frame(&p, ++sequence);
		if (gid_clock_now() >= report) {
			report_producer(&p, "running");
			report = gid_clock_now() + REPORT_NS;
		}
	}
	report_producer(&p, "ending");
	gid_producer_destroy(p.producer);
	gid_slab_destroy(p.slab, false);
	gid_domain_destroy(p.domain);
	return 0;
}
