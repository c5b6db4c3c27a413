// SPDX-License-Identifier: MIT
/*
 * hostile-restless MODE STREAM WIDTH HEIGHT: a producer of which nothing stays as it was from one
 * frame to the next. Reaches into libgid where an honest program could not do it.
 *
 * `formats`: each frame in another format, size and transform. `narrow`: as wide, or as high, as a
 * picture can be, and one pixel in the other direction. `sizes`: each in the other of two sizes.
 * `slabs`: each in memory of its own, which
 * is taken back at once. `restarts`: each of a stream that ends with it. `dates`: of any time, and
 * with sequence numbers that go back. `swapped`: each is described anew, as another one or as none
 * that can be, while it is read. `many`: with as many more streams, STREAM/0 and so on, as gidd
 * takes, which all end with it. `leases`: taken back by force as soon as it is sent.
 * `metadata`: with as much beside it as can be, and a note, and damage that is everywhere.
 * `at-once`: in memory of its own, and all of that is taken back at one moment. `edges`: with as
 * many more streams as gidd takes, on all of which a few frames come in each refresh, each in
 * memory that was not seen for long. `unknown`: in
 * memory of which nobody has heard, so that each is a question to its gidd, which may never answer.
 * `hollow`: in memory whose pages lie behind its end: it says how many bytes readers had to make.
 * `hollow-bytes`: so are pictures of bytes, as those are that carry input.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <fcntl.h>
#include <gid/stream.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../../libgid/memory.h"
#include "../../../libgid/producer.h"
#include "../../../libgid/slab_object.h"
#include "ending.h"

#define SLABS 24u
#define STREAMS 4096u
#define POOL 400u /* far more than a reader keeps of what it does not use */
#define EDGE_FRAMES 3u
#define SENT_NS 20000000 /* how long it waits for who reads a frame */
#define PAUSE_NS 2000000

struct restless {
	struct gid_domain *domain;
	struct gid_producer *producer;
	const char *stream;
	uint32_t fourcc, width, height; /* of plain slabs */
	struct gid_slab *slabs[SLABS];
	struct gid_producer *more[STREAMS];
	uint32_t more_count;
	struct gid_slab *pool[POOL];
	uint64_t lease_ns; /* 0: as usual */
	uint64_t turn, sent, refused, streams;
	int hollow[SLABS];     /* files */
	uint64_t hollow_bytes; /* of each of them, as it was made */
	unsigned hollow_count;
};

static uint64_t dated; /* that the next frame is sent at; 0: now */

uint64_t __real_gid_clock_now(void);
uint64_t __wrap_gid_clock_now(void);

uint64_t __wrap_gid_clock_now(void) {
	return dated != 0 ? dated : __real_gid_clock_now();
}

static void pause_ns(long ns) {
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static void check(int error, const char *what) {
	if (error < 0) {
		errx(EXIT_FAILURE, "%s: %s", what, gid_strerror(error));
	}
}

static struct gid_slab *make_slab(
		struct restless *restless, uint32_t fourcc, uint32_t width, uint32_t height) {
	struct gid_layout layout;
	struct gid_slab *slab = NULL;
	check(gid_layout_init(&layout, fourcc, width, height, 64), "the layout");
	int error = gid_slab_create(restless->domain, &layout, 0, 1, NULL, &slab);
	if (error < 0) {
		restless->refused++; /* others hold what it may have */
		return NULL;
	}
	memset(gid_slab_data(slab, 0), 0x55, gid_layout_size(&layout));
	return slab;
}

static void send_frame(struct restless *restless, struct gid_frame *frame) {
	*(gid_producer_send(restless->producer, frame) > 0 ? &restless->sent
							   : &restless->refused) += 1;
}

static void send(struct restless *restless, struct gid_slab *slab, uint32_t transform) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(slab, 0);
	frame.transform = transform;
	frame.capture_time = dated;
	send_frame(restless, &frame);
}

static const struct gid_format_info *format_at(uint64_t turn) {
	size_t count = 0;
	while (gid_format_at(count) != NULL) {
		count++;
	}
	return gid_format_at(turn % count);
}

/* One of its slabs, which is made at its first turn. */
static struct gid_slab **slab_at(struct restless *restless, unsigned slabs) {
	return &restless->slabs[restless->turn % slabs];
}

static struct gid_slab *plain_slab(struct restless *restless, unsigned slabs) {
	struct gid_slab **slab = slab_at(restless, slabs);
	if (*slab == NULL) {
		*slab = make_slab(restless, restless->fourcc, restless->width, restless->height);
	}
	return *slab;
}

static void do_formats(struct restless *restless) {
	struct gid_slab **slab = slab_at(restless, SLABS);
	uint32_t transform = (uint32_t)(restless->turn % 8), by = restless->turn % 3 == 2 ? 2 : 1;
	uint32_t width = restless->width / by, height = restless->height / by;
	if (*slab == NULL) {
		const struct gid_format_info *format = format_at(restless->turn * 7);
		*slab = make_slab(restless, format->fourcc, transform % 2 ? height : width,
				transform % 2 ? width : height);
	}
	if (*slab != NULL) {
		send(restless, *slab, transform);
	}
	pause_ns(PAUSE_NS);
}

static void do_narrow(struct restless *restless) {
	static const uint32_t kinds[] = {DRM_FORMAT_XRGB8888, DRM_FORMAT_P010};
	struct gid_slab **slab = slab_at(restless, 4);
	bool wide = restless->turn % 2;
	if (*slab == NULL) {
		*slab = make_slab(restless, kinds[restless->turn / 2 % 2], wide ? GID_SIZE_MAX : 1,
				wide ? 1 : GID_SIZE_MAX);
	}
	if (*slab != NULL) {
		send(restless, *slab, (uint32_t)(restless->turn / 4 % 8));
	}
	pause_ns(PAUSE_NS);
}

static void do_sizes(struct restless *restless) {
	struct gid_slab **slab = slab_at(restless, 2);
	uint32_t by = restless->turn % 2 == 0 ? 1 : 2;
	if (*slab == NULL) {
		*slab = make_slab(restless, DRM_FORMAT_XRGB8888, restless->width / by,
				restless->height / by);
	}
	if (*slab != NULL) {
		send(restless, *slab, 0);
	}
	pause_ns(PAUSE_NS);
}

static void do_slabs(struct restless *restless) {
	struct gid_slab *slab =
			make_slab(restless, DRM_FORMAT_XRGB8888, restless->width, restless->height);
	if (slab == NULL) {
		pause_ns(SENT_NS);
		return;
	}
	send(restless, slab, 0);
	pause_ns((long)(restless->turn % 8) * PAUSE_NS); /* as it is read, or later, or before */
	gid_slab_destroy(slab, restless->turn % 2);
}

static void publish(struct restless *restless) {
	check(gid_producer_create(restless->domain, restless->stream,
			      &(struct gid_producer_options){
					      .size = sizeof(struct gid_producer_options),
					      .lease_ns = restless->lease_ns,
					      .metadata_max = GID_METADATA_MAX},
			      &restless->producer),
			restless->stream);
}

static void do_restarts(struct restless *restless) {
	struct gid_slab *slab = plain_slab(restless, 1);
	if (slab != NULL) {
		send(restless, slab, 0);
	}
	pause_ns((long)(restless->turn % 4) * PAUSE_NS);
	gid_producer_destroy(restless->producer);
	publish(restless);
}

static void do_dates(struct restless *restless) {
	static const uint64_t dates[] = {
			1, UINT64_MAX, UINT64_MAX / 2, INT64_MAX, (uint64_t)1 << 63, 1000000000};
	struct gid_slab *slab = plain_slab(restless, 4);
	restless->producer->sequence -= restless->turn % 5 == 0 ? restless->turn % 64 : 0;
	dated = dates[restless->turn % (sizeof(dates) / sizeof(dates[0]))];
	if (slab != NULL) {
		send(restless, slab, 0);
	}
	dated = 0;
	pause_ns(PAUSE_NS);
}

/* What the newest entry of the first who reads says of its frame: any word, also while it is read.
 */
static void describe_anew(struct restless *restless, gid_id other) {
	struct gid_ring_producer *end = &restless->producer->subscriptions->ring;
	uint64_t at = (end->published - 1) % end->entries;
	volatile uint64_t *first = &end->ring->frames_ring[at].index;
	volatile uint64_t *second = end->ring->more_ring[at].words;
	struct gid_wire_entry sent = end->ring->frames_ring[at];
	const uint64_t *words = &sent.index;
	uint64_t until = gid_clock_now() + PAUSE_NS;
	for (uint64_t i = 0; gid_clock_now() < until; i++) {
		first[1] = i % 2 ? other : sent.gid;
		first[2 + i % 6] = i * UINT64_C(0x9e3779b97f4a7c15);
		second[i % 8] = i * UINT64_C(0x9e3779b97f4a7c15);
		memset(gid_slab_data(restless->slabs[i % 2], 0), (int)i, 4096);
		for (unsigned word = 1; word < 8; word++) {
			first[word] = words[word];
		}
	}
}

/* Two kinds of memory, of which the frames of the one are said to be of the other. */
static void do_swapped(struct restless *restless) {
	struct gid_slab **slabs = restless->slabs;
	if (slabs[0] == NULL || slabs[1] == NULL) {
		slabs[0] = make_slab(
				restless, DRM_FORMAT_XRGB8888, restless->width, restless->height);
		slabs[1] = make_slab(restless, DRM_FORMAT_P010, restless->width / 4 * 2,
				restless->height * 4);
	}
	if (slabs[0] == NULL || slabs[1] == NULL) {
		return;
	}
	send(restless, slabs[restless->turn % 2], 0);
	if (restless->producer->subscriptions != NULL) {
		describe_anew(restless, gid_slab_gid(slabs[(restless->turn + 1) % 2], 0));
	}
}

static void do_many(struct restless *restless) {
	char name[GID_NAME_MAX + 1];
	struct gid_slab *slab = plain_slab(restless, 1);
	uint32_t count = 0;
	while (count < STREAMS) {
		snprintf(name, sizeof(name), "%s/%" PRIu32, restless->stream, count);
		if (gid_producer_create(restless->domain, name, NULL, &restless->more[count]) < 0) {
			break;
		}
		count++;
		gid_domain_dispatch(restless->domain);
	}
	if (slab != NULL) {
		send(restless, slab, 0);
	}
	restless->streams += count;
	while (count > 0) {
		gid_producer_destroy(restless->more[--count]);
	}
}

static void do_leases(struct restless *restless) {
	struct gid_slab *slab = plain_slab(restless, 8);
	if (slab != NULL) {
		send(restless, slab, 0);
	}
	pause_ns((long)(restless->turn % 4) * PAUSE_NS / 4); /* as it is read, or before */
}

static void do_metadata(struct restless *restless) {
	static uint8_t bytes[GID_METADATA_MAX];
	struct gid_slab *slab = plain_slab(restless, 4);
	struct gid_frame frame = GID_FRAME_INIT;
	if (slab == NULL) {
		return;
	}
	frame.gid = gid_slab_gid(slab, 0);
	frame.damage = (struct gid_box){0, 0, GID_SIZE_MAX, GID_SIZE_MAX};
	frame.note = bytes;
	frame.note_size = GID_NOTE_MAX;
	memset(bytes, (int)restless->turn, 4096);
	int error = gid_producer_put_metadata(restless->producer, &frame, bytes, sizeof(bytes));
	restless->refused += error < 0;
	send_frame(restless, &frame);
	pause_ns(PAUSE_NS);
}

static void do_at_once(struct restless *restless) {
	struct gid_slab *slab = plain_slab(restless, SLABS);
	if (slab != NULL) {
		send(restless, slab, 0);
	}
	pause_ns(SENT_NS); /* each is read */
	for (unsigned i = 0; restless->turn % SLABS == SLABS - 1 && i < SLABS; i++) {
		gid_slab_destroy(restless->slabs[i], false);
		restless->slabs[i] = NULL;
	}
}

static void begin_edges(struct restless *restless) {
	char name[GID_NAME_MAX + 1];
	uint32_t count = 0;
	for (uint32_t i = 0; i < POOL; i++) {
		restless->pool[i] = make_slab(
				restless, DRM_FORMAT_XRGB8888, restless->width, restless->height);
		gid_domain_dispatch(restless->domain);
	}
	do {
		snprintf(name, sizeof(name), "%s/%" PRIu32, restless->stream, count);
	} while (gid_producer_create(restless->domain, name, NULL, &restless->more[count]) == 0 &&
			++count < STREAMS);
	restless->more_count = count;
}

static void do_edges(struct restless *restless) {
	if (restless->more_count == 0) {
		begin_edges(restless);
	}
	for (uint32_t i = 0; i < restless->more_count * EDGE_FRAMES; i++) {
		struct gid_producer *producer = restless->more[i % restless->more_count];
		struct gid_slab *slab = restless->pool[restless->streams++ % POOL];
		struct gid_frame frame = GID_FRAME_INIT;
		if (slab != NULL) {
			frame.gid = gid_slab_gid(slab, 0);
			restless->sent += gid_producer_send(producer, &frame) > 0;
		}
		gid_producer_dispatch(producer);
	}
	if (restless->pool[0] != NULL) {
		send(restless, restless->pool[0], 0);
	}
	pause_ns(PAUSE_NS);
}

/* Frames name the slab by the next number; the others do not hear of it, and it is granted to all.
 */
static void do_unknown(struct restless *restless) {
	struct gid_slab *slab = plain_slab(restless, 1);
	struct gid_domain *domain = restless->domain;
	if (slab == NULL) {
		return;
	}
	gid_id gid = gid_make(domain->number, (uint32_t)restless->turn % GID_SLAB_MAX + 1, 0, 0);
	check(gid_table_add(&domain->own_slabs, gid_slab_of(gid), slab), "another number");
	slab->info.gid = gid;
	memset(slab->granted, 0xff, sizeof(slab->granted));
	send(restless, slab, 0);
	pause_ns(SENT_NS);
}

static uint64_t bytes_of(int fd) {
	struct stat status;
	check(fstat(fd, &status), "a file");
	return (uint64_t)status.st_blocks * 512;
}

/* As many pages as are missing are where nobody looks. Only the table is there. */
static int make_hollow_file(uint64_t table, uint32_t generation) {
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE;
	const uint64_t end = table + (uint64_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("hollow", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, (off_t)end) < 0 ||
			fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)end, (off_t)table) < 0 ||
			pwrite(fd, &generation, sizeof(generation), (off_t)table) < 0 ||
			fcntl(fd, F_ADD_SEALS, seals) < 0) {
		err(EXIT_FAILURE, "hollow memory");
	}
	int shared = gid_memory_share(fd);
	close(fd);
	return shared;
}

static uint32_t export_file(struct gid_domain *domain, int fd, const struct gid_slab_info *info,
		uint64_t table) {
	union gid_wire_message message, answer;
	gid_wire_begin(&message, GID_WIRE_EXPORT, 0);
	message.export.memory = GID_MEMORY_MEMFD;
	message.export.slot_size = info->slot_size;
	message.export.slot_count = 1;
	message.export.generations = table;
	gid_wire_put_layout(&message.export.layout, &info->layout);
	check(gid_domain_request(domain, &message, &fd, 1, &answer, NULL), "hollow memory");
	return answer.result.value;
}

static void grant(struct gid_domain *domain, uint32_t slab, uint32_t reader) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_GRANT, 0);
	message.grant.slab = slab;
	message.grant.domain = reader;
	message.grant.allow = 1;
	check(gid_domain_post(domain, &message, NULL, 0), "a grant");
}

/* Has the name of memory that has none of its pages. */
static void make_hollow(struct restless *restless, struct gid_slab *slab) {
	struct gid_domain *domain = restless->domain;
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	const uint64_t table = gid_memory_round_up(info.slot_size);
	int fd = make_hollow_file(table, gid_generation_of(gid_slab_gid(slab, 0)));
	uint32_t number = export_file(domain, fd, &info, table);
	grant(domain, number, restless->producer->subscriptions->domain);
	check(gid_table_add(&domain->own_slabs, number, slab), "another number");
	slab->info.gid = gid_make(domain->number, number, 0, 0);
	memset(slab->granted, 0xff, sizeof(slab->granted));
	restless->hollow_bytes = bytes_of(fd);
	restless->hollow[restless->hollow_count++] = fd;
}

static void do_hollow(struct restless *restless) {
	struct gid_slab *slab = plain_slab(restless, SLABS);
	if (slab != NULL && restless->turn < SLABS) {
		make_hollow(restless, slab);
	}
	if (slab != NULL) {
		send(restless, slab, 0);
	}
	pause_ns(SENT_NS);
}

/* That were made by those who read it. */
static uint64_t count_filled(const struct restless *restless) {
	uint64_t filled = 0;
	for (unsigned i = 0; i < restless->hollow_count; i++) {
		filled += bytes_of(restless->hollow[i]) - restless->hollow_bytes;
	}
	return filled;
}

static void do_hollow_bytes(struct restless *restless) {
	restless->fourcc = DRM_FORMAT_R8;
	do_hollow(restless);
}

static const struct {
	const char *name;
	void (*act)(struct restless *restless);
} modes[] = {{"formats", do_formats}, {"narrow", do_narrow}, {"sizes", do_sizes},
		{"slabs", do_slabs}, {"restarts", do_restarts}, {"dates", do_dates},
		{"swapped", do_swapped}, {"many", do_many}, {"leases", do_leases},
		{"metadata", do_metadata}, {"at-once", do_at_once}, {"edges", do_edges},
		{"unknown", do_unknown}, {"hollow", do_hollow}, {"hollow-bytes", do_hollow_bytes}};
#define MODES (sizeof(modes) / sizeof(modes[0]))

int main(int argc, char **argv) {
	static struct restless restless;
	unsigned mode = 0;
	while (argc == 5 && mode < MODES && strcmp(argv[1], modes[mode].name) != 0) {
		mode++;
	}
	if (argc != 5 || mode == MODES) {
		errx(EXIT_FAILURE,
				"usage: hostile-restless formats|narrow|sizes|slabs|restarts|dates|"
				"swapped|many|leases|metadata|at-once|edges|unknown|hollow|"
				"hollow-bytes STREAM WIDTH HEIGHT");
	}
	restless.lease_ns = modes[mode].act == do_leases ? 1 : 0;
	restless.stream = argv[2];
	restless.fourcc = DRM_FORMAT_XRGB8888;
	restless.width = (uint32_t)atoi(argv[3]);
	restless.height = (uint32_t)atoi(argv[4]);
	if (gid_domain_connect(NULL, &restless.domain) < 0) {
		errx(EXIT_FAILURE, "%s", gid_domain_connect_error());
	}
	publish(&restless);
	ending_init();
	while (!ending) {
		gid_domain_dispatch(restless.domain);
		gid_producer_dispatch(restless.producer);
		if (restless.producer->subscriptions != NULL) {
			modes[mode].act(&restless);
			restless.turn++;
		} else {
			pause_ns(PAUSE_NS / 8);
		}
	}
	printf("{\"sent\": %" PRIu64 ", \"refused\": %" PRIu64 ", \"streams\": %" PRIu64
	       ", \"filled\": %" PRIu64 "}\n",
			restless.sent, restless.refused, restless.streams, count_filled(&restless));
	return EXIT_SUCCESS;
}
