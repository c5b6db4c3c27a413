// SPDX-License-Identifier: MIT
/*
 * hostile-scribble STREAM [PID…]: writes random bytes over all shared memory that it can write,
 * again and again: its slab, and the rings of the stream that it publishes and whose consumers it
 * waits for. With PIDs, whose user it must be, also over what each of those has mapped writable
 * and shared: together that is all memory that a domain can write and another one read.
 *
 * And tries to get what it may only read writable. Where it gets anything it says so and ends with
 * status 2.
 */
#include <drm_fourcc.h>
#include <fcntl.h>
#include <gid/stream.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ending.h"
#include "random.h"

#define SLOTS 4
#define PART 4096u

struct scribble {
	struct random random;
	struct gid_domain *domain;
	struct gid_slab *slab;
	struct gid_producer *producer;
	uint64_t rounds, bytes, mappings, attempts, broken;
};

struct mapping {
	uintptr_t begin, end;
	bool readable, writable, shared, window;
	unsigned long inode;
};

/* Shared memory with a name of ours, "memfd:gid…", or a guest's window: a resource of its device.
 */
static bool mapping_parse(const char *line, struct mapping *mapping) {
	char rights[5], name[256] = "";
	if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*s %lu %255[^\n]", &mapping->begin,
			    &mapping->end, rights, &mapping->inode, name) < 4) {
		return false;
	}
	mapping->readable = rights[0] == 'r';
	mapping->writable = rights[1] == 'w';
	mapping->shared = rights[3] == 's';
	mapping->window = strstr(name, "/resource2") != NULL;
	return mapping->shared && (mapping->window || strstr(name, "memfd:gid") != NULL);
}

/* --- what may be written ---------------------------------------------------------------------- */

/* Through /proc/PID/mem, which respects how the memory is mapped there: our own as well. */
static void scribble_over(struct scribble *scribble, int memory, const struct mapping *mapping) {
	uint8_t part[PART];
	for (uintptr_t at = mapping->begin; at < mapping->end && !ending; at += PART) {
		random_fill(&scribble->random, part, PART);
		ssize_t written = pwrite(memory, part, PART, (off_t)at);
		scribble->bytes += written > 0 ? (uint64_t)written : 0;
	}
	scribble->mappings++;
}

static FILE *open_maps(const char *pid) {
	char path[64];
	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	return fopen(path, "re");
}

static void scribble_process(struct scribble *scribble, const char *pid) {
	char path[64], line[512];
	struct mapping mapping;
	snprintf(path, sizeof(path), "/proc/%s/mem", pid);
	FILE *maps = open_maps(pid);
	int memory = open(path, O_RDWR | O_CLOEXEC);
	while (maps != NULL && memory >= 0 && fgets(line, sizeof(line), maps) != NULL) {
		if (mapping_parse(line, &mapping) && mapping.writable) {
			scribble_over(scribble, memory, &mapping);
		}
	}
	if (maps != NULL) {
		fclose(maps);
	}
	if (memory >= 0) {
		close(memory);
	}
}

/* --- what may not ----------------------------------------------------------------------------- */

static void broken(struct scribble *scribble, const char *how) {
	fprintf(stderr, "hostile-scribble: foreign memory became writable: %s\n", how);
	scribble->broken++;
}

/*
 * A read-only mapping made writable, and its file mapped or written by any descriptor of ours. A
 * guest may map all of its devices as it likes: there the machine protects what is read-only.
 */
static void attack_mapping(struct scribble *scribble, const struct mapping *mapping) {
	size_t size = mapping->end - mapping->begin;
	char path[96];
	scribble->attempts++;
	if (mprotect((void *)mapping->begin, size, PROT_READ | PROT_WRITE) == 0) {
		broken(scribble, "mprotect");
	}
	snprintf(path, sizeof(path), "/proc/self/map_files/%" PRIxPTR "-%" PRIxPTR, mapping->begin,
			mapping->end);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		return;
	}
	if (mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED) {
		broken(scribble, "mmap of its file");
	}
	if (pwrite(fd, "x", 1, 0) > 0) {
		broken(scribble, "pwrite to its file");
	}
	if (ftruncate(fd, 0) == 0) {
		broken(scribble, "ftruncate of its file");
	}
	close(fd);
}

static void attack_what_is_read_only(struct scribble *scribble) {
	char line[512];
	struct mapping mapping;
	FILE *maps = open_maps("self");
	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		if (mapping_parse(line, &mapping) && !mapping.writable && !mapping.window) {
			attack_mapping(scribble, &mapping);
		}
	}
	if (maps != NULL) {
		fclose(maps);
	}
}

/* --- the program ------------------------------------------------------------------------------ */

static void scribble_send(struct scribble *scribble) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(scribble->slab, (uint32_t)(scribble->rounds % SLOTS));
	gid_producer_send(scribble->producer, &frame);
}

static int scribble_init(struct scribble *scribble, const char *stream) {
	struct gid_layout layout;
	struct gid_producer_options options = {.size = sizeof(options)};
	if (gid_domain_connect(NULL, &scribble->domain) < 0) {
		fprintf(stderr, "hostile-scribble: %s\n", gid_domain_connect_error());
		return -1;
	}
	int ret = gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 320, 80, 64);
	if (ret == 0) {
		ret = gid_slab_create(scribble->domain, &layout, 0, SLOTS, NULL, &scribble->slab);
	}
	if (ret == 0) {
		ret = gid_producer_create(scribble->domain, stream, &options, &scribble->producer);
	}
	if (ret < 0) {
		fprintf(stderr, "hostile-scribble: %s\n", gid_domain_error(scribble->domain));
	}
	return ret;
}

int main(int argc, char **argv) {
	static struct scribble scribble = {.random.state = 0x9e3779b97f4a7c15u};
	if (argc < 2) {
		fprintf(stderr, "usage: hostile-scribble STREAM [PID…]\n");
		return EXIT_FAILURE;
	}
	if (scribble_init(&scribble, argv[1]) < 0) {
		return EXIT_FAILURE;
	}
	ending_init();
	for (; !ending; scribble.rounds++) {
		gid_domain_dispatch(scribble.domain);
		gid_producer_dispatch(scribble.producer);
		scribble_send(&scribble);
		attack_what_is_read_only(&scribble);
		scribble_process(&scribble, "self");
		for (int i = 2; i < argc; i++) {
			scribble_process(&scribble, argv[i]);
		}
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	printf("{\"rounds\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"mappings\": %" PRIu64
	       ", \"attempts\": %" PRIu64 ", \"broken\": %" PRIu64 "}\n",
			scribble.rounds, scribble.bytes, scribble.mappings, scribble.attempts,
			scribble.broken);
	return scribble.broken > 0 ? 2 : EXIT_SUCCESS;
}
