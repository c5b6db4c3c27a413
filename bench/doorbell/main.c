// SPDX-License-Identifier: MIT
/*
 * A doorbell there and back, between two programs wherever they run:
 *
 *     gid-bench-doorbell ask STREAM COUNT [WIDTH HEIGHT]   sends a frame, sleeps until it is
 *         released, and again
 *     gid-bench-doorbell answer DOMAIN STREAM    sleeps until a frame comes, and releases it
 *     gid-bench-doorbell storm STREAM    rings whoever reads it, without frames and without end
 *
 * Each sleeps before the other one rings. `ask` prints the ns of each of them, a line each, and
 * `answer` those from a frame's sending until it was there. Every byte of a frame is written.
 */
#include <errno.h>
#include <gid/stream.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 120000000000ull
/* Both sides sleep by then: what is measured is the wake-up, and not whether there was one. */
#define PAUSE_NS 2000000
#define STORM_PAUSE_NS 1000000000
#define DESCRIPTORS_MAX 64
#define EVENTFDS_MAX 16

static _Noreturn void fail(const struct gid_domain *domain, const char *what, int error) {
	fprintf(stderr, "gid-bench-doorbell: %s: %s (%s)\n", what, gid_strerror(error),
			domain == NULL ? "" : gid_domain_error(domain));
	exit(EXIT_FAILURE);
}

static struct gid_domain *connect_domain(void) {
	struct gid_domain *domain;
	int error = gid_domain_connect(NULL, &domain);
	if (error < 0) {
		fail(NULL, "no domain", error);
	}
	return domain;
}

struct asking {
	struct gid_domain *domain;
	struct gid_slab *slab;
	struct gid_producer *producer;
	bool released;
};

static void hear_released(void *data, gid_id gid) {
	struct asking *asking = data;
	asking->released = true;
	gid_slab_give(asking->slab, gid_slot_of(gid));
}

static void listen_once(struct asking *asking) {
	struct pollfd fds[] = {
			{gid_domain_get_fd(asking->domain), POLLIN, 0},
			{gid_producer_get_fd(asking->producer), POLLIN, 0},
	};
	poll(fds, 2, 100);
	if (fds[0].revents != 0) {
		gid_domain_dispatch(asking->domain);
	}
	if (fds[1].revents != 0) {
		gid_producer_dispatch(asking->producer);
	}
}

static uint64_t once(struct asking *asking, int number) {
	struct timespec pause = {.tv_nsec = PAUSE_NS};
	nanosleep(&pause, NULL);
	int slot = gid_slab_take(asking->slab);
	struct gid_slab_info info;
	gid_slab_get_info(asking->slab, &info);
	memset(gid_slab_data(asking->slab, (uint32_t)slot), number, info.slot_size);
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(asking->slab, (uint32_t)slot);
	frame.capture_time = gid_clock_now();
	asking->released = false;
	gid_producer_want_release(asking->producer);
	uint64_t begin = gid_clock_now();
	int sent = gid_producer_send(asking->producer, &frame);
	if (slot < 0 || sent != 1) {
		fail(asking->domain, "nobody takes the frame", sent);
	}
	while (!asking->released) {
		listen_once(asking);
		if (gid_clock_now() - begin > PATIENCE_NS) {
			fail(asking->domain, "no answer came", -ETIMEDOUT);
		}
	}
	return gid_clock_now() - begin;
}

static void begin(struct asking *asking, const char *name, uint32_t width, uint32_t height) {
	const struct gid_layout layout = {
			.fourcc = 0x34325258, /* XR24 */
			.width = width,
			.height = height,
			.plane_count = 1,
			.planes = {{0, width * 4}},
	};
	asking->domain = connect_domain();
	struct gid_producer_options options = {
			.size = sizeof(options),
			.released = hear_released,
			.data = asking,
	};
	int error = gid_slab_create(asking->domain, &layout, 0, 2, NULL, &asking->slab);
	if (error == 0) {
		error = gid_producer_create(asking->domain, name, &options, &asking->producer);
	}
	if (error < 0) {
		fail(asking->domain, name, error);
	}
	uint64_t give_up = gid_clock_now() + PATIENCE_NS;
	while (gid_producer_consumers(asking->producer) == 0) {
		listen_once(asking);
		if (gid_clock_now() > give_up) {
			fail(asking->domain, "nobody answers", -ETIMEDOUT);
		}
	}
}

static void ask(const char *name, long count, uint32_t width, uint32_t height) {
	struct asking asking = {0};
	begin(&asking, name, width, height);
	for (long i = 0; i < count; i++) {
		printf("%" PRIu64 "\n", once(&asking, (int)i));
	}
	gid_producer_destroy(asking.producer);
	gid_slab_destroy(asking.slab, false);
	gid_domain_destroy(asking.domain);
}

/* What a program can that keeps to nothing: it has the eventfds, and so it can write them. */
static size_t find_eventfds(int fds[static EVENTFDS_MAX]) {
	size_t count = 0;
	for (int fd = 0; fd < DESCRIPTORS_MAX && count < EVENTFDS_MAX; fd++) {
		char path[32], target[64];
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t length = readlink(path, target, sizeof(target) - 1);
		target[length < 0 ? 0 : length] = '\0';
		if (strstr(target, "[eventfd]") != NULL) {
			fds[count++] = fd;
		}
	}
	return count;
}

static _Noreturn void storm(const char *name) {
	struct asking asking = {0};
	int fds[EVENTFDS_MAX];
	begin(&asking, name, 16, 16);
	/* The ways past gidd come a moment after the consumer. */
	uint64_t calm_until = gid_clock_now() + STORM_PAUSE_NS;
	while (gid_clock_now() < calm_until) {
		listen_once(&asking);
	}
	size_t count = find_eventfds(fds);
	if (count == 0) {
		fail(asking.domain, "there is nothing to ring", -ENOENT);
	}
	printf("rings by %zu\n", count);
	fflush(stdout);
	while (true) {
		for (size_t i = 0; i < count; i++) {
			eventfd_write(fds[i], 1);
		}
	}
}

static void answer(const char *owner, const char *name) {
	struct gid_domain *domain = connect_domain();
	struct gid_consumer_options options = {.size = sizeof(options)};
	struct gid_consumer *consumer;
	struct timespec pause = {.tv_nsec = PAUSE_NS};
	uint64_t give_up = gid_clock_now() + PATIENCE_NS;
	int error;
	/* Who asks may still be about to begin. */
	while ((error = gid_consumer_create(domain, owner, name, &options, &consumer)) == -ENOENT &&
			gid_clock_now() < give_up) {
		nanosleep(&pause, NULL);
	}
	if (error < 0) {
		fail(domain, name, error);
	}
	struct gid_frame frame;
	do {
		while ((error = gid_consumer_receive(consumer, &frame)) == 1) {
			uint64_t now = gid_clock_now();
			gid_consumer_release(consumer, &frame);
			printf("%" PRIu64 "\n",
					now > frame.submit_time ? now - frame.submit_time : 0);
		}
	} while (error == -EAGAIN && gid_consumer_wait(consumer, -1) >= 0);
	gid_consumer_destroy(consumer);
	gid_domain_destroy(domain);
}

int main(int argc, char **argv) {
	if ((argc == 4 || argc == 6) && strcmp(argv[1], "ask") == 0) {
		uint32_t width = argc == 6 ? (uint32_t)strtoul(argv[4], NULL, 10) : 16;
		uint32_t height = argc == 6 ? (uint32_t)strtoul(argv[5], NULL, 10) : 16;
		ask(argv[2], strtol(argv[3], NULL, 10), width, height);
	} else if (argc == 4 && strcmp(argv[1], "answer") == 0) {
		answer(argv[2], argv[3]);
	} else if (argc == 3 && strcmp(argv[1], "storm") == 0) {
		storm(argv[2]);
	} else {
		fprintf(stderr,
				"usage: gid-bench-doorbell ask STREAM COUNT [WIDTH HEIGHT]\n"
				"       gid-bench-doorbell answer DOMAIN STREAM\n"
				"       gid-bench-doorbell storm STREAM\n");
		return 2;
	}
	return EXIT_SUCCESS;
}
