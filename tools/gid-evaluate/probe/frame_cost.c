// SPDX-License-Identifier: MIT
/*
 * What a frame costs, sent, received and released, by the public calls: with 1 to 64 streams and
 * with 1 to 8 consumers of one stream, all on one core, so that it is the whole price of both
 * sides; and in bursts, where frames come in numbers, on one core and between two. In ns of the
 * thread's processor time, so that other programs do not count, and in cycles of the time stamp
 * counter where there is one.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <errno.h>
#include <gid/stream.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "probe.h"

#define STREAMS_MAX 64
#define CONSUMERS_MAX 8
#define ROUNDS 30
#define FRAMES 20000
#define SLOTS 4
#define BURST_SLOTS 62 /* two bursts in flight, within what a consumer may hold */
#define BURST_STREAM "probe-bursts"
#define PATIENCE_NS 30000000000u

struct flow {
	struct gid_slab *slab;
	struct gid_producer *producer;
	struct gid_consumer *consumers[CONSUMERS_MAX];
	struct gid_frame frames[GID_BURST_MAX]; /* of bursts: sent again, each time with others */
};

/* Cycles of the time stamp counter in a nanosecond, or 0. */
static double cycles_per_ns(void) {
#ifdef __x86_64__
	uint64_t begin = probe_now(), first = __rdtsc();
	while (probe_now() - begin < 20000000) {
	}
	uint64_t last = __rdtsc();
	return (double)(last - first) / (double)(probe_now() - begin);
#else
	return 0;
#endif
}

static uint64_t own_time(void) {
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool flow_is_live(const struct flow *flow, int consumers) {
	for (int i = 0; i < consumers; i++) {
		const struct gid_consumer *own = flow->consumers[i]; /* or another thread's: NULL */
		if (own != NULL && gid_consumer_get_state(own) != GID_CONSUMER_LIVE) {
			return false;
		}
	}
	return gid_producer_consumers(flow->producer) == (uint32_t)consumers;
}

static void flow_init(struct flow *flow, struct gid_domain *domain, int number, int consumers) {
	struct gid_layout layout;
	char name[32];
	*flow = (struct flow){0};
	snprintf(name, sizeof(name), "probe-%d", number);
	struct gid_producer_options options = {.size = sizeof(options), .quiet = true};
	struct gid_consumer_options reading = {.size = sizeof(reading), .reconnect = true};
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 16, 16, 64);
	int ret = gid_slab_create(domain, &layout, 0, SLOTS, NULL, &flow->slab);
	if (ret == 0) {
		ret = gid_producer_create(domain, name, &options, &flow->producer);
	}
	for (int i = 0; ret == 0 && i < consumers; i++) {
		ret = gid_consumer_create(domain, NULL, name, &reading, &flow->consumers[i]);
	}
	uint64_t patience = probe_now() + PATIENCE_NS;
	struct pollfd news = {.fd = gid_domain_get_fd(domain), .events = POLLIN};
	while (ret == 0 && !flow_is_live(flow, consumers)) {
		poll(&news, 1, 100); /* some of it has no news */
		gid_domain_dispatch(domain);
		ret = probe_now() < patience ? 0 : -ETIMEDOUT;
	}
	if (ret < 0) {
		errx(1, "stream %s: %s", name, gid_strerror(ret));
	}
}

static void flow_finish(struct flow *flow) {
	for (int i = 0; i < CONSUMERS_MAX; i++) {
		gid_consumer_destroy(flow->consumers[i]);
	}
	gid_producer_destroy(flow->producer);
	gid_slab_destroy(flow->slab, false);
}

/* Looks for what came back only once no slot is left, as a producer of many frames does. */
static int take_slot(struct flow *flow) {
	int slot = gid_slab_take(flow->slab);
	if (slot < 0) {
		gid_producer_dispatch(flow->producer);
		slot = gid_slab_take(flow->slab);
	}
	if (slot < 0) {
		errx(1, "no slot came back");
	}
	return slot;
}

static void pass_frame(struct flow *flow, int consumers) {
	int slot = take_slot(flow);
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(flow->slab, (uint32_t)slot);
	if (gid_producer_send(flow->producer, &frame) != consumers) {
		errx(1, "a frame was lost");
	}
	gid_slab_give(flow->slab,
			(uint32_t)slot); /* from now on it is taken as long as it is held */
	for (int i = 0; i < consumers; i++) {
		if (gid_consumer_receive(flow->consumers[i], &frame) != 1) {
			errx(1, "a frame did not come");
		}
		gid_consumer_release(flow->consumers[i], &frame);
	}
}

/* --- bursts ----------------------------------------------------------------------------------- */

static void burst_init(struct flow *flow, struct gid_domain *domain) {
	struct gid_layout layout;
	*flow = (struct flow){0};
	struct gid_producer_options options = {
			.size = sizeof(options),
			.credit_max = GID_CREDIT_MAX,
			.quiet = true,
	};
	for (uint32_t i = 0; i < GID_BURST_MAX; i++) {
		flow->frames[i] = (struct gid_frame)GID_FRAME_INIT;
	}
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 16, 16, 64);
	int error = gid_slab_create(domain, &layout, 0, BURST_SLOTS, NULL, &flow->slab);
	if (error == 0) {
		error = gid_producer_create(domain, BURST_STREAM, &options, &flow->producer);
	}
	if (error < 0) {
		errx(1, "stream %s: %s", BURST_STREAM, gid_strerror(error));
	}
}

/* It looks for frames by itself, and never sleeps. */
static struct gid_consumer *burst_consumer(struct gid_domain *domain) {
	struct gid_consumer *consumer;
	struct gid_consumer_options options = {
			.size = sizeof(options),
			.reconnect = true,
			.credit = GID_CREDIT_MAX,
			.quiet = true,
	};
	int error = gid_consumer_create(domain, NULL, BURST_STREAM, &options, &consumer);
	if (error < 0) {
		errx(1, "stream %s: %s", BURST_STREAM, gid_strerror(error));
	}
	return consumer;
}

static void wait_for_consumers(const struct flow *flow, struct gid_domain *domain, int consumers) {
	uint64_t patience = probe_now() + PATIENCE_NS;
	struct pollfd news = {.fd = gid_domain_get_fd(domain), .events = POLLIN};
	while (!flow_is_live(flow, consumers)) {
		poll(&news, 1, 100);
		gid_domain_dispatch(domain);
		if (probe_now() > patience) {
			errx(1, "stream %s: nobody came", BURST_STREAM);
		}
	}
}

/* As many frames as there are slots for, in one burst. */
static uint32_t send_burst(struct flow *flow) {
	gid_id gids[GID_BURST_MAX];
	int count = gid_slab_take_burst(flow->slab, gids, GID_BURST_MAX);
	if (count < 0) {
		gid_producer_dispatch(flow->producer);
		return 0;
	}
	for (int i = 0; i < count; i++) {
		flow->frames[i].gid = gids[i];
	}
	if (gid_producer_send_burst(flow->producer, flow->frames, (uint32_t)count) != count) {
		errx(1, "frames were lost");
	}
	gid_slab_give_burst(flow->slab, gids, (uint32_t)count);
	return (uint32_t)count;
}

static uint32_t receive_burst(struct gid_consumer *consumer) {
	struct gid_frame frames[GID_BURST_MAX];
	int count = gid_consumer_receive_burst(consumer, frames, GID_BURST_MAX);
	if (count < 0) {
		return 0;
	}
	gid_consumer_release_burst(consumer, frames, (uint32_t)count);
	return (uint32_t)count;
}

static void burst_init_alone(struct flow *flow, struct gid_domain *domain, int consumers) {
	burst_init(flow, domain);
	for (int i = 0; i < consumers; i++) {
		flow->consumers[i] = burst_consumer(domain);
	}
	wait_for_consumers(flow, domain, consumers);
}

static void pass_bursts(struct flow *flow, int count, int consumers) {
	for (int passed = 0; passed < count;) {
		uint32_t sent = send_burst(flow);
		for (int i = 0; i < consumers; i++) {
			if (receive_burst(flow->consumers[i]) != sent) {
				errx(1, "frames did not come");
			}
		}
		passed += (int)sent;
	}
}

/* What the other core does: a reader with a connection of its own. */
static void *read_bursts(void *data) {
	const bool *is_over = data;
	struct gid_domain *domain;
	probe_pin(probe_core(0));
	probe_connect(NULL, &domain);
	struct gid_consumer *consumer = burst_consumer(domain);
	while (!__atomic_load_n(is_over, __ATOMIC_ACQUIRE)) {
		if (gid_consumer_get_state(consumer) != GID_CONSUMER_LIVE) {
			gid_domain_dispatch(domain);
		} else {
			receive_burst(consumer);
		}
	}
	gid_consumer_destroy(consumer);
	gid_domain_destroy(domain);
	return NULL;
}

static void print_burst(const char *where, struct figure *figure) {
	char name[64];
	snprintf(name, sizeof(name), "bursts, %s, cycles", where);
	probe_print(name, figure);
	figure_finish(figure);
}

static void measure_bursts_alone(struct gid_domain *domain, double rate) {
	struct flow flow;
	struct figure figure;
	burst_init_alone(&flow, domain, 1);
	figure_init(&figure, "cycles", ROUNDS);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = own_time();
		pass_bursts(&flow, FRAMES, 1);
		figure_add(&figure, (double)(own_time() - begin) / FRAMES * rate);
		gid_domain_dispatch(domain);
	}
	print_burst("one core", &figure);
	flow_finish(&flow);
}

static void measure_bursts_between(struct gid_domain *domain, double rate) {
	struct flow flow;
	struct figure figure;
	bool is_over = false;
	pthread_t reader;
	burst_init(&flow, domain);
	int error = pthread_create(&reader, NULL, read_bursts, &is_over);
	if (error != 0) {
		errx(1, "no second thread: %s", strerror(error));
	}
	wait_for_consumers(&flow, domain, 1);
	figure_init(&figure, "cycles", ROUNDS);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = probe_now();
		for (uint32_t sent = 0; sent < FRAMES;) {
			sent += send_burst(&flow);
		}
		figure_add(&figure, (double)(probe_now() - begin) / FRAMES * rate);
		gid_domain_dispatch(domain);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);
	print_burst("two cores", &figure);
	flow_finish(&flow);
}

/* --- many streams, many consumers ------------------------------------------------------------- */

static struct flow *flows_create(struct gid_domain *domain, int streams, int consumers) {
	struct flow *flows = calloc((size_t)streams, sizeof(*flows));
	if (flows == NULL) {
		err(1, "flows");
	}
	for (int i = 0; i < streams; i++) {
		flow_init(&flows[i], domain, i, consumers);
		pass_frame(&flows[i], consumers); /* the first one asks gidd for a grant */
	}
	return flows;
}

static void flows_destroy(struct flow *flows, int streams) {
	for (int i = 0; i < streams; i++) {
		flow_finish(&flows[i]);
	}
	free(flows);
}

static void measure(struct gid_domain *domain, int streams, int consumers, double rate) {
	struct flow *flows = flows_create(domain, streams, consumers);
	struct figure figure, ticks;
	char name[64];
	figure_init(&figure, "ns", ROUNDS);
	figure_init(&ticks, "cycles", ROUNDS);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = own_time();
		for (int i = 0; i < FRAMES; i++) {
			pass_frame(&flows[i % streams], consumers);
		}
		double cost = (double)(own_time() - begin) / FRAMES;
		figure_add(&figure, cost);
		figure_add(&ticks, cost * rate);
		gid_domain_dispatch(domain);
	}
	snprintf(name, sizeof(name), "streams: %d, consumers: %d", streams, consumers);
	probe_print(name, &figure);
	if (rate > 0) {
		snprintf(name, sizeof(name), "streams: %d, consumers: %d, cycles", streams,
				consumers);
		probe_print(name, &ticks);
	}
	figure_finish(&figure);
	figure_finish(&ticks);
	flows_destroy(flows, streams);
}

static struct gid_domain *connect_here(void) {
	struct gid_domain *domain;
	probe_pin(probe_core(1));
	probe_connect(NULL, &domain);
	return domain;
}

static int number_of(const char *text, int most) {
	char *end;
	errno = 0;
	long number = strtol(text, &end, 10);
	if (errno != 0 || *end != '\0' || number < 1 || number > most) {
		errx(2, "frames: a number from 1 to %d is expected, not %s", most, text);
	}
	return (int)number;
}

/* `frames bursts COUNT CONSUMERS`: so many frames of one stream, in bursts. */
static int pass_in_bursts(int count, int consumers) {
	struct gid_domain *domain = connect_here();
	struct flow flow;
	burst_init_alone(&flow, domain, consumers);
	pass_bursts(&flow, count, consumers);
	flow_finish(&flow);
	gid_domain_destroy(domain);
	probe_begin();
	probe_end();
	return 0;
}

int probe_frames(int argc, char **argv) {
	if (argc == 4 && strcmp(argv[1], "bursts") == 0) {
		return pass_in_bursts(
				number_of(argv[2], INT_MAX), number_of(argv[3], CONSUMERS_MAX));
	}
	if (argc != 4) {
		errx(2, "frames: three numbers are expected: COUNT STREAMS CONSUMERS");
	}
	int count = number_of(argv[1], INT_MAX), streams = number_of(argv[2], STREAMS_MAX);
	int consumers = number_of(argv[3], CONSUMERS_MAX);
	struct gid_domain *domain = connect_here();
	struct flow *flows = flows_create(domain, streams, consumers);
	for (int i = 0; i < count; i++) {
		pass_frame(&flows[i % streams], consumers);
	}
	flows_destroy(flows, streams);
	gid_domain_destroy(domain);
	probe_begin();
	probe_end();
	return 0;
}

int probe_streams(int argc, char **argv) {
	if (argc > 1) {
		errx(2, "streams: no argument is expected, not %s", argv[1]);
	}
	struct gid_domain *domain = connect_here();
	double rate = cycles_per_ns();
	probe_begin();
	for (int streams = 1; streams <= STREAMS_MAX; streams *= 4) {
		measure(domain, streams, 1, rate);
	}
	for (int consumers = 2; consumers <= CONSUMERS_MAX; consumers *= 2) {
		measure(domain, 1, consumers, rate);
	}
	if (rate > 0) {
		measure_bursts_alone(domain, rate);
		if (probe_core(0) != probe_core(1)) {
			measure_bursts_between(domain, rate);
		}
	}
	probe_end();
	gid_domain_destroy(domain);
	return 0;
}
