// SPDX-License-Identifier: MIT
/*
 * Descriptors from strangers: of any kind, size, access, with any seals and holes, as gidd and
 * libgid judge them. What passes is memory that stays and that nobody writes but its maker: it is
 * mapped and read to its end, and who has the description cannot get a way to write it.
 */
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "memory.h"

#define SIZE_MAX_HERE (1u << 20) /* of what is really mapped */

/* Two, of which some kinds need the other. */
struct stranger {
	int fd, other;
	bool whole; /* a memfd all of which was written */
};

static const uint8_t zeroes[SIZE_MAX_HERE];

static uint64_t take_size(struct input *input) {
	static const uint64_t sizes[] = {0, 1, 4095, 4096, 4097, 8192, 65536, SIZE_MAX_HERE,
			UINT64_C(1) << 32, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
	return sizes[take(input, sizeof(sizes) / sizeof(sizes[0]))];
}

static int take_access(struct input *input) {
	static const int modes[] = {O_RDONLY, O_RDONLY, O_RDONLY, O_RDWR, O_WRONLY, O_PATH};
	return modes[take(input, 6)];
}

static int reopen(int fd, int mode) {
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, mode | O_CLOEXEC);
}

/* A mapping that a stranger keeps may still write it: which FUTURE_WRITE allows, and WRITE does
 * not. */
static struct stranger make_memfd(struct input *input) {
	static const int seals[] = {
			F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE, F_SEAL_FUTURE_WRITE, F_SEAL_SEAL};
	struct stranger made = {
			.fd = -1, .other = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
	demand(made.other >= 0);
	uint64_t size = take_size(input);
	size = ftruncate(made.other, (off_t)size) == 0 ? size : 0;
	made.whole = size == 0;
	if (size > 0 && size <= SIZE_MAX_HERE && take(input, 4) != 0) {
		demand(pwrite(made.other, zeroes, size, 0) == (ssize_t)size);
		made.whole = true;
	}
	if (take(input, 4) == 0 &&
			fallocate(made.other, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096,
					4096) == 0) {
		made.whole = made.whole && size <= 4096;
	}
	uint32_t chosen = take(input, 4) == 0 ? take(input, 32) : 0x09;
	for (uint32_t i = 0; i < sizeof(seals) / sizeof(seals[0]); i++) {
		if (chosen & 1u << i) {
			(void)!fcntl(made.other, F_ADD_SEALS, seals[i]);
		}
	}
	made.fd = reopen(made.other, take_access(input));
	return made;
}

static struct stranger make_file(struct input *input) {
	static const char *const paths[] = {"/dev/null", "/dev/zero", "/proc/self/status", "/",
			"/proc/self/exe", "/dev/full"};
	return (struct stranger){.fd = open(paths[take(input, 6)], O_CLOEXEC), .other = -1};
}

static struct stranger make_sockets(struct input *input) {
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	int pair[2], type = types[take(input, 3)];
	switch (take(input, 3)) {
	case 0:
		return (struct stranger){
				.fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0), .other = -1};
	case 1:
		return (struct stranger){
				.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .other = -1};
	default:
		demand(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) == 0);
		return (struct stranger){.fd = pair[0], .other = pair[1]};
	}
}

static struct stranger make(struct input *input) {
	int pair[2];
	switch (take(input, 16)) {
	case 0:
	case 1:
		return make_file(input);
	case 2:
	case 3:
		return make_sockets(input);
	case 4:
		demand(pipe2(pair, O_CLOEXEC) == 0);
		return (struct stranger){.fd = pair[1], .other = pair[0]};
	case 5:
		return (struct stranger){.fd = eventfd(0, EFD_CLOEXEC), .other = -1};
	case 6:
		return (struct stranger){.fd = epoll_create1(EPOLL_CLOEXEC), .other = -1};
	case 7:
		return (struct stranger){
				.fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB), .other = -1};
	case 8:
		return (struct stranger){.fd = -1, .other = -1};
	default:
		return make_memfd(input);
	}
}

/* Whoever has the description gets no way to change what it shows, and reads all of it. */
static void demand_lasting(int fd, uint64_t size) {
	demand(descriptor_is_read_only(fd) && descriptor_inode(fd) != 0);
	void *written = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	demand(written == MAP_FAILED);
	int again = reopen(fd, O_RDWR);
	if (again >= 0) {
		demand(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0) ==
				MAP_FAILED);
		demand(pwrite(again, "", 1, 0) < 0);
		demand(ftruncate(again, 0) < 0 || size == 0);
		close(again);
	}
	const void *data;
	if (size > 0 && size <= SIZE_MAX_HERE && gid_memory_map(fd, 0, size, &data) == 0) {
		demand(((const volatile uint8_t *)data)[size - 1] == 0);
		gid_memory_unmap(data, size);
	}
}

static void judge_slab(int *fd, struct input *input) {
	struct gid_wire_imported slab = {
			.memory = take(input, 4) == 0 ? GID_MEMORY_DMABUF : GID_MEMORY_MEMFD,
			.slot_count = 1 + take(input, 4),
			.slot_size = 4096 * (1 + take(input, 3)),
	};
	uint64_t bytes = 0, end = slab.slot_size * slab.slot_count;
	slab.generations = take(input, 2) ? end : 0;
	demand(descriptor_slab_end(&slab) >= end);
	const char *why = NULL;
	int error = descriptor_take_slab(fd, &slab, &bytes, &why);
	demand(error <= 0 && (error == 0 || (why != NULL && why[0] != '\0')));
	if (error == 0) {
		demand(slab.memory == GID_MEMORY_MEMFD && bytes >= descriptor_slab_end(&slab));
		demand_lasting(*fd, end);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct input input = {data, size};
	struct stranger stranger = make(&input);
	const char *why = NULL;
	uint64_t needed = take_size(&input);
	int error = descriptor_take_shared(&stranger.fd, needed, &why);
	demand(error <= 0 && (error == 0 || why != NULL));
	if (error == 0) {
		demand(gid_memory_check_present(stranger.fd) == (stranger.whole ? 0 : -ENODATA));
		demand_lasting(stranger.fd, needed);
	} else if (error == -ENODATA) {
		demand(!stranger.whole);
	}
	judge_slab(&stranger.fd, &input);
	demand(gid_memory_check(stranger.fd, needed, true) == (error == -ENODATA ? 0 : error));
	error = descriptor_check_doorbell(stranger.fd, &why);
	demand(error == 0 || (error == -EBADF && why != NULL));
	if (error == 0) { /* ringing it ends nobody */
		demand(send(stranger.fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) <= 1);
	}
	demand(gid_memory_check_dmabuf(stranger.fd) == -EBADF);
	close(stranger.fd);
	if (stranger.other >= 0 && stranger.other != stranger.fd) {
		close(stranger.other);
	}
	return 0;
}
