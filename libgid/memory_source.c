// SPDX-License-Identifier: MIT
#include "memory_source.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "closer.h"

/* Maps what gidd gave, and takes its descriptor, whatever comes of it. */
static int take_range(struct gid_domain *domain, struct gid_memory_own *memory,
		const struct gid_wire_allocated *range, int fd) {
	uint64_t offset = gid_wire_window_offset(range->offset);
	int error = gid_memory_check_range(fd, offset + range->size);
	void *data = MAP_FAILED;
	if (error == 0) {
		data = mmap(NULL, (size_t)range->size, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_POPULATE, fd, (off_t)offset);
		error = data == MAP_FAILED ? -errno : 0;
	}
	if (error < 0) {
		gid_closer_close(fd);
		return gid_domain_fail(domain, error,
				"cannot map %llu bytes of the window of domain '%s': %s",
				(unsigned long long)range->size, domain->name, gid_strerror(error));
	}
	*memory = (struct gid_memory_own){
			.fd = fd,
			.data = data,
			.size = (size_t)range->size,
			.window_offset = offset,
			.window = gid_wire_window_number(range->offset),
			.source = domain,
	};
	return 0;
}

static int allocate(struct gid_domain *domain, struct gid_memory_own *memory,
		const struct gid_memory_readers *readers, size_t size) {
	union gid_wire_message message, answer;
	int fds[GID_WIRE_FDS_MAX];
	gid_wire_begin(&message, GID_WIRE_ALLOC, 0);
	message.alloc.size = size;
	message.alloc.readers = readers->kind;
	message.alloc.domain = readers->domain;
	snprintf(message.alloc.name, sizeof(message.alloc.name), "%s",
			readers->name == NULL ? "" : readers->name);
	int error = gid_domain_request(domain, &message, NULL, 0, &answer, fds);
	if (error < 0) {
		return error;
	}
	if (answer.allocated.size < size) {
		gid_closer_close(fds[0]);
		return gid_domain_fail(domain, -EPROTO, "gidd gave less memory than asked for");
	}
	return take_range(domain, memory, &answer.allocated, fds[0]);
}

int gid_memory_get(struct gid_domain *domain, struct gid_memory_own *memory,
		const struct gid_memory_readers *readers, const char *name, size_t size) {
	*memory = (struct gid_memory_own){.fd = -1};
	if (size == 0 || size > PTRDIFF_MAX) {
		return -EINVAL;
	}
	int error = gid_domain_check_sealed(domain);
	if (error < 0) {
		return error;
	}
	error = domain->window == 0 ? -ENOTSUP : allocate(domain, memory, readers, size);
	if (error != -ENOTSUP) {
		return error;
	}
	error = gid_memory_create(memory, name, size);
	return error < 0 ? gid_domain_fail(domain, error, "%s", gid_strerror(error)) : 0;
}

void gid_memory_put(struct gid_memory_own *memory) {
	struct gid_domain *domain = memory->source;
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_FREE, 0);
	message.allocated.offset = gid_wire_window_place(memory->window, memory->window_offset);
	message.allocated.size = memory->size;
	gid_memory_finish(memory);
	if (domain != NULL && domain->state == GID_CONNECTION_UP) {
		gid_domain_post(domain, &message, NULL, 0);
	}
}

int gid_memory_attach(int fd, uint64_t window_offset, size_t size, const void **data) {
	int error = window_offset == 0 ? gid_memory_check(fd, size, 1)
				       : gid_memory_check_range(fd, window_offset + size);
	return error < 0 ? error : gid_memory_map(fd, window_offset, size, data);
}
