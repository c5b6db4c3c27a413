// SPDX-License-Identifier: MIT
/*
 * A reader in C, for bench/readers.py: looks at each picture of a stream just as its readers in
 * Python do, and prints the same lines. Counting begins when a line comes from standard input.
 *
 * Usage: gid-bench-reader DOMAIN OWNER STREAM FRAMES SECONDS
 */
#include <errno.h>
#include <gid/stream.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP 30	/* as there */
#define ROWS_BETWEEN 64 /* of which one is looked at */

struct stamp {
	uint64_t sequence, sent;
};

struct figures {
	uint64_t wanted, seen; /* frames; `seen` with those of before */
	uint64_t longest, end; /* ns; no more are wanted then */
	bool counts, is_done;
	uint64_t first, last, missed; /* sequence numbers */
	uint64_t cpu;		      /* ns */
	uint64_t *late;		      /* ns, for each frame that counts */
	uint64_t late_count;
	uint64_t sum; /* what was seen, so that it is looked at */
};

static uint64_t now_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t cpu_ns(void) {
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
			(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static uint64_t look(const uint8_t *pixels, const struct gid_layout *layout) {
	uint64_t sum = 0;
	for (uint32_t row = 0; row < layout->height; row += ROWS_BETWEEN) {
		const uint8_t *at = pixels + (size_t)row * layout->planes[0].stride;
		for (uint32_t x = 0; x < layout->width; x++) {
			sum += at[(size_t)x * 4];
		}
	}
	return sum;
}

/* Returns whether the picture was still there when we had looked at it. */
static bool read_picture(struct gid_domain *domain, const struct gid_frame *frame,
		struct stamp *stamp, uint64_t *had, uint64_t *sum) {
	struct gid_slab *slab;
	struct gid_slab_info info;
	if (gid_slab_import(domain, frame->gid, &slab) < 0) {
		return false;
	}
	gid_slab_get_info(slab, &info);
	const uint8_t *slot = gid_slab_view(slab, gid_slot_of(frame->gid));
	const struct gid_layout *layout = &info.layout;
	bool there = slot != NULL && layout->planes[0].stride >= (uint64_t)layout->width * 4;
	if (there) {
		const uint8_t *pixels = slot + layout->planes[0].offset;
		memcpy(stamp, pixels, sizeof(*stamp));
		*had = now_ns();
		*sum += look(pixels, layout);
		there = gid_slab_is_current(slab, frame->gid);
	}
	gid_slab_unref(slab);
	return there;
}

static bool was_told_to_begin(void) {
	struct pollfd told = {.fd = STDIN_FILENO, .events = POLLIN};
	return poll(&told, 1, 0) > 0;
}

static void count(struct figures *figures, const struct stamp *stamp, uint64_t had) {
	figures->seen++;
	if (figures->counts) {
		figures->late[figures->late_count++] = had - stamp->sent;
		figures->missed += stamp->sequence - figures->last - 1;
		figures->last = stamp->sequence;
		figures->is_done = figures->late_count == figures->wanted || had > figures->end;
		return;
	}
	if (figures->seen == WARM_UP) {
		printf("warm\n");
		fflush(stdout);
	}
	if (figures->seen >= WARM_UP && was_told_to_begin()) {
		figures->counts = true;
		figures->cpu = cpu_ns();
		figures->first = figures->last = stamp->sequence;
		figures->end = had + figures->longest;
	}
}

static int compare(const void *a, const void *b) {
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
	return one < other ? -1 : one > other;
}

static void print(const struct figures *figures) {
	uint64_t count = figures->late_count, *late = figures->late;
	double cpu = (double)(cpu_ns() - figures->cpu);
	qsort(late, count, sizeof(*late), compare);
	printf("{\"frames\": %" PRIu64 ", \"cpu_us\": %.3f, \"latency_us\": %.3f, "
	       "\"latency_p99_us\": %.3f, \"missed\": %" PRIu64 ", \"first\": %" PRIu64
	       ", \"last\": %" PRIu64 "}\n",
			count, cpu / (double)count / 1000,
			(double)(late[(count - 1) / 2] + late[count / 2]) / 2000,
			(double)late[count * 99 / 100] / 1000, figures->missed, figures->first,
			figures->last);
}

/* -errno, or 0. */
static int read_stream(struct gid_domain *domain, const char *owner, const char *stream,
		struct figures *figures) {
	struct gid_consumer_options options = {.size = sizeof(options), .reconnect = true};
	struct gid_consumer *consumer;
	int error = gid_consumer_create(domain, owner, stream, &options, &consumer);
	while (error >= 0 && !figures->is_done) {
		error = gid_consumer_wait(consumer, -1);
		struct gid_frame frame;
		while (error >= 0 && !figures->is_done &&
				(error = gid_consumer_receive(consumer, &frame)) == 1) {
			struct stamp stamp;
			uint64_t had;
			if (frame.gid != GID_NONE &&
					read_picture(domain, &frame, &stamp, &had, &figures->sum)) {
				count(figures, &stamp, had);
			}
			gid_consumer_release(consumer, &frame);
		}
		error = error == -EAGAIN ? 0 : error;
	}
	return error;
}

int main(int argc, char **argv) {
	struct figures figures = {0};
	if (argc == 6) {
		figures.wanted = strtoull(argv[4], NULL, 10);
		figures.longest = strtoull(argv[5], NULL, 10) * 1000000000;
	}
	if (figures.wanted == 0) {
		fprintf(stderr, "Usage: gid-bench-reader DOMAIN OWNER STREAM FRAMES SECONDS\n");
		return 2;
	}
	figures.late = calloc(figures.wanted, sizeof(*figures.late));
	struct gid_domain *domain = NULL;
	int error = figures.late == NULL ? -ENOMEM : gid_domain_connect(argv[1], &domain);
	if (error >= 0) {
		error = read_stream(domain, argv[2], argv[3], &figures);
	}
	if (error < 0) {
		fprintf(stderr, "gid-bench-reader: %s\n", gid_strerror(error));
	} else {
		print(&figures);
	}
	gid_domain_destroy(domain);
	free(figures.late);
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
