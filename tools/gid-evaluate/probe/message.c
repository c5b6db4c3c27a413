// SPDX-License-Identifier: MIT
/*
 * Messages of 16 bytes to 64 KiB from one domain to another and back (5.1.5). A message is written
 * into a slot, its frame is sent by a stream, and the other side reads all of it where it lies.
 * Both sides sleep before each message, as two programs that wait for each other do. The echo
 * sends back how long the message was on its way. In turn with it the same bytes go by a bare
 * futex and shared memory, so that whatever else happens on the machine meets both.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <errno.h>
#include <gid/stream.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

#define BYTES_MAX 65536u
#define SLOTS 8
#define MESSAGES 1000
#define WARM_UP 100
#define PATIENCE_MS 60000

struct pipe_end {
	struct gid_domain *domain;
	struct gid_producer *producer;
	struct gid_consumer *consumer;
	struct gid_slab *slab;
	const char *peer;
	pthread_mutex_t lock; /* of all the above, but for gid_consumer_sleep() */
	pthread_t dispatcher;
	bool is_ending;
};

static void released(void *data, gid_id gid) {
	struct pipe_end *end = data;
	gid_slab_give(end->slab, gid_slot_of(gid));
}

static void *dispatch(void *data) {
	struct pipe_end *end = data;
	struct pollfd fds[] = {
			{.fd = gid_domain_get_fd(end->domain), .events = POLLIN},
			{.fd = gid_producer_get_fd(end->producer), .events = POLLIN},
	};
	bool is_ending = false;
	while (!is_ending) {
		poll(fds, 2, 100);
		pthread_mutex_lock(&end->lock);
		gid_domain_dispatch(end->domain);
		gid_producer_dispatch(end->producer);
		is_ending = end->is_ending;
		pthread_mutex_unlock(&end->lock);
		if (!is_ending) {
			gid_consumer_interrupt(end->consumer);
		}
	}
	return NULL;
}

static void end_init(struct pipe_end *end, const char *peer, const char *out, const char *in) {
	struct gid_layout layout;
	*end = (struct pipe_end){.peer = peer};
	pthread_mutex_init(&end->lock, NULL);
	probe_connect(NULL, &end->domain);
	struct gid_producer_options options = {
			.size = sizeof(options), .released = released, .data = end, .quiet = true};
	struct gid_consumer_options in_options = {
			.size = sizeof(in_options), .reconnect = true, .sleeps = true};
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, BYTES_MAX / 4, 1, 64);
	if (gid_slab_create(end->domain, &layout, 0, SLOTS, NULL, &end->slab) < 0 ||
			gid_producer_create(end->domain, out, &options, &end->producer) < 0 ||
			gid_consumer_create(end->domain, peer, in, &in_options, &end->consumer) <
					0) {
		errx(1, "%s", gid_domain_error(end->domain));
	}
	if (pthread_create(&end->dispatcher, NULL, dispatch, end) != 0) {
		err(1, "thread");
	}
}

static void end_finish(struct pipe_end *end) {
	pthread_mutex_lock(&end->lock);
	end->is_ending = true;
	pthread_mutex_unlock(&end->lock);
	pthread_join(end->dispatcher, NULL);
	gid_consumer_destroy(end->consumer);
	gid_producer_destroy(end->producer);
	gid_slab_destroy(end->slab, false);
	gid_domain_destroy(end->domain);
	pthread_mutex_destroy(&end->lock);
}

/* Bytes and ns in the frame's pts, so that all of its entry is on one line of memory. */
static uint64_t pts_of(uint32_t bytes, uint64_t told) {
	return (told < INT32_MAX ? told : INT32_MAX) << 32 | bytes;
}

static size_t bytes_of(const struct gid_frame *frame) {
	uint32_t bytes = (uint32_t)frame->pts;
	return bytes < BYTES_MAX ? bytes : BYTES_MAX;
}

/*
 * Sends `bytes` of the pattern, and tells the other side a time in ns. What came back is collected
 * by the sending itself: to ask the descriptor as well would be a system call more.
 */
static int send_message(struct pipe_end *end, uint32_t bytes, int pattern, uint64_t told) {
	pthread_mutex_lock(&end->lock);
	int slot = gid_slab_take(end->slab), sent = slot;
	if (slot >= 0) {
		memset(gid_slab_data(end->slab, (uint32_t)slot), pattern, bytes);
		struct gid_frame frame = GID_FRAME_INIT;
		frame.gid = gid_slab_gid(end->slab, (uint32_t)slot);
		frame.pts = pts_of(bytes, told);
		sent = gid_producer_send(end->producer, &frame);
		if (sent <= 0) {
			gid_slab_give(end->slab, (uint32_t)slot);
		}
	}
	pthread_mutex_unlock(&end->lock);
	return sent;
}

/* Reads the message where it lies. Returns whether all of its bytes have the value of the first. */
static bool read_message(struct pipe_end *end, const struct gid_frame *frame) {
	struct gid_slab *slab;
	if (gid_slab_import(end->domain, frame->gid, &slab) < 0) {
		return false;
	}
	const uint8_t *bytes = gid_slab_view(slab, gid_slot_of(frame->gid));
	size_t count = bytes_of(frame);
	bool is_whole = bytes != NULL && count > 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
	gid_slab_unref(slab);
	return is_whole;
}

/*
 * Waits for the next message, which is to be given back: 1 if it is whole, 0 if not, -ETIMEDOUT, or
 * what the stream says.
 */
static int receive_message(struct pipe_end *end, struct gid_frame *frame, uint64_t until) {
	for (;;) {
		pthread_mutex_lock(&end->lock);
		int ret = gid_consumer_receive(end->consumer, frame);
		if (ret == 1 && frame->gid != GID_NONE) {
			ret = read_message(end, frame);
			pthread_mutex_unlock(&end->lock);
			return ret;
		}
		pthread_mutex_unlock(&end->lock);
		if (ret < 0 && ret != -EAGAIN) {
			return ret;
		}
		if (probe_now() > until) {
			return -ETIMEDOUT;
		}
		if (ret == -EAGAIN) {
			gid_consumer_sleep(end->consumer);
		}
	}
}

static void give_back(struct pipe_end *end, const struct gid_frame *frame) {
	pthread_mutex_lock(&end->lock);
	gid_consumer_release(end->consumer, frame);
	pthread_mutex_unlock(&end->lock);
}

/* --- the two sides ---------------------------------------------------------------------------- */

static void ping_once(struct pipe_end *end, uint32_t bytes, int pattern, struct figure *round_trip,
		struct figure *one_way) {
	uint64_t patience = probe_now() + PATIENCE_MS * (uint64_t)1000000;
	uint64_t begin = probe_now();
	int sent;
	while ((sent = send_message(end, bytes, pattern, 0)) <= 0) {
		if (probe_now() > patience) {
			errx(1, "nobody in %s reads our messages: %s", end->peer,
					sent < 0 ? gid_strerror(sent) : "no subscriber");
		}
		poll(NULL, 0, 10);
		begin = probe_now();
	}
	struct gid_frame frame;
	int ret = receive_message(end, &frame, patience);
	if (ret != 1) {
		errx(1, "the answer from %s: %s", end->peer,
				ret < 0 ? gid_strerror(ret) : "not what was sent");
	}
	give_back(end, &frame);
	figure_add(round_trip, (double)(probe_now() - begin) / 1e3);
	figure_add(one_way, (double)(frame.pts >> 32) / 1e3);
}

static void ping(struct pipe_end *end, struct probe_bare *bare, uint32_t bytes) {
	struct figure ignored, round_trip, one_way, bare_trip;
	char name[64];
	figure_init(&ignored, "µs", 1);
	figure_init(&round_trip, "µs", MESSAGES);
	figure_init(&one_way, "µs", MESSAGES);
	figure_init(&bare_trip, "µs", MESSAGES);
	for (int i = 0; i < WARM_UP; i++) {
		ping_once(end, bytes, i, &ignored, &ignored);
		probe_bare_trip(bare, bytes, i);
	}
	for (int i = 0; i < MESSAGES; i++) {
		ping_once(end, bytes, i, &round_trip, &one_way);
		figure_add(&bare_trip, (double)probe_bare_trip(bare, bytes, i) / 1e3);
	}
	snprintf(name, sizeof(name), "%u bytes, there and back", bytes);
	probe_print(name, &round_trip);
	snprintf(name, sizeof(name), "%u bytes, one way", bytes);
	probe_print(name, &one_way);
	snprintf(name, sizeof(name), "%u bytes, by a bare futex", bytes);
	probe_print(name, &bare_trip);
	figure_finish(&bare_trip);
	figure_finish(&ignored);
	figure_finish(&round_trip);
	figure_finish(&one_way);
}

/* Answers each message with one of its size, until the other side goes. */
static int echo(struct pipe_end *end) {
	for (;;) {
		struct gid_frame frame;
		int ret = receive_message(
				end, &frame, probe_now() + PATIENCE_MS * (uint64_t)1000000);
		if (ret == -ETIMEDOUT) {
			return 0;
		}
		if (ret < 0) {
			errx(1, "messages from %s: %s", end->peer, gid_strerror(ret));
		}
		uint64_t way = probe_now() - frame.submit_time;
		if (ret == 1) {
			send_message(end, (uint32_t)bytes_of(&frame), (int)frame.sequence, way);
		}
		give_back(end, &frame); /* while the other side wakes up */
	}
}

int probe_message(int argc, char **argv) {
	struct pipe_end end;
	struct probe_bare bare;
	bool is_ping = argc > 2 && strcmp(argv[1], "ping") == 0;
	if (!is_ping && (argc != 3 || strcmp(argv[1], "echo") != 0)) {
		errx(2, "message: ping DOMAIN [BYTES…] or echo DOMAIN");
	}
	probe_pin(probe_core(is_ping ? 0 : 1));
	if (is_ping) {
		probe_bare_start(&bare, probe_core(1));
	}
	end_init(&end, argv[2], is_ping ? "ping" : "pong", is_ping ? "pong" : "ping");
	if (!is_ping) {
		int ret = echo(&end);
		end_finish(&end);
		return ret;
	}
	probe_begin();
	for (int i = 3; i < argc; i++) {
		unsigned long bytes = strtoul(argv[i], NULL, 10);
		if (bytes == 0 || bytes > BYTES_MAX) {
			errx(2, "message: 1 to %u bytes, not %s", BYTES_MAX, argv[i]);
		}
		ping(&end, &bare, (uint32_t)bytes);
	}
	probe_end();
	probe_bare_end(&bare);
	end_finish(&end);
	return 0;
}
