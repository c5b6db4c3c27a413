// SPDX-License-Identifier: MIT
#include "memory_source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "closer.h"

/* Maps what gidd gave. Takes the descriptor if that succeeds. */
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

static void post_free(struct gid_domain *domain, uint64_t place, uint64_t size) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_FREE, 0);
	message.allocated.offset = place;
	message.allocated.size = size;
	gid_domain_post(domain, &message, NULL, 0);
}

void gid_memory_decline(
		struct gid_domain *domain, const struct gid_wire_allocated *range, int *fds) {
	gid_closer_close(fds[0]);
	fds[0] = -1;
	post_free(domain, range->offset, range->size);
}

static void decline_late(void *data, int error, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX]) {
	if (error == 0 && answer->header.type == GID_WIRE_ALLOCATED) {
		gid_memory_decline(data, &answer->allocated, fds);
	}
}

void gid_memory_unask(struct gid_domain *domain, const void *data) {
	gid_domain_request_hand_over(domain, data, decline_late);
}

static int allocate(struct gid_domain *domain, struct gid_memory_own *memory, size_t size,
		const struct gid_wire_allocated *range, int *fds) {
	int error = gid_domain_check_sealed(domain);
	if (error == 0 && range->size < size) {
		error = gid_domain_fail(domain, -EPROTO, "gidd gave less memory than asked for");
	}
	if (error == 0) {
		error = take_range(domain, memory, range, fds[0]);
	}
	if (error < 0) {
		/* Else gidd would count it until the connection ends. */
		gid_memory_decline(domain, range, fds);
	}
	fds[0] = -1;
	return error;
}

int gid_memory_take(struct gid_domain *domain, struct gid_memory_own *memory, const char *name,
		size_t size, int error, const union gid_wire_message *answer, int *fds) {
	*memory = (struct gid_memory_own){.fd = -1};
	if (error == 0) {
		return allocate(domain, memory, size, &answer->allocated, fds);
	}
	if (error != -ENOTSUP) {
		return error;
	}
	error = gid_domain_check_sealed(domain);
	if (error < 0) {
		return error;
	}
	error = gid_memory_create(memory, name, size);
	return error < 0 ? gid_domain_fail(domain, error, "%s", gid_strerror(error)) : 0;
}

/* What to ask gidd for. 0; -ENOTSUP: it has none to give; or another -errno. */
static int put_alloc(struct gid_domain *domain, const struct gid_memory_readers *readers,
		size_t size, union gid_wire_message *message) {
	int error = gid_domain_check_sealed(domain);
	if (error < 0) {
		return error;
	}
	gid_wire_begin(message, GID_WIRE_ALLOC, 0);
	message->alloc.size = size;
	message->alloc.readers = readers->kind;
	message->alloc.domain = readers->domain;
	snprintf(message->alloc.name, sizeof(message->alloc.name), "%s",
			readers->name == NULL ? "" : readers->name);
	return domain->window == 0 ? -ENOTSUP : 0;
}

int gid_memory_get(struct gid_domain *domain, struct gid_memory_own *memory,
		const struct gid_memory_readers *readers, const char *name, size_t size) {
	union gid_wire_message message, answer;
	int fds[GID_WIRE_FDS_MAX] = {-1, -1};
	int error = put_alloc(domain, readers, size, &message);
	if (error == 0) {
		error = gid_domain_request(domain, &message, NULL, 0, &answer, fds);
	}
	return gid_memory_take(domain, memory, name, size, error, &answer, fds);
}

int gid_memory_ask(struct gid_domain *domain, struct gid_memory_own *memory,
		const struct gid_memory_readers *readers, const char *name, size_t size,
		gid_answer_func answered, void *data) {
	union gid_wire_message message;
	int error = put_alloc(domain, readers, size, &message);
	if (error < 0) {
		return gid_memory_take(domain, memory, name, size, error, NULL, NULL);
	}
	error = gid_domain_request_async(domain, &message, NULL, 0, answered, data);
	return error < 0 ? error : -EINPROGRESS;
}

void gid_memory_put(struct gid_memory_own *memory) {
	struct gid_domain *domain = memory->source;
	const uint64_t place = gid_wire_window_place(memory->window, memory->window_offset);
	const uint64_t size = memory->size;
	gid_memory_finish(memory);
	if (domain != NULL && domain->state == GID_CONNECTION_UP) {
		post_free(domain, place, size);
	}
}

int gid_memory_attach(int fd, uint64_t window_offset, size_t size, const void **data) {
	int error = window_offset == 0 ? gid_memory_check(fd, size, true)
				       : gid_memory_check_range(fd, window_offset + size);
	return error < 0 ? error : gid_memory_map(fd, window_offset, size, data);
}

/* --- what others bring ------------------------------------------------------------------------ */

static bool is_dmabuf(int fd) {
	struct statfs status;
	return fstatfs(fd, &status) == 0 && status.f_type == DMA_BUF_MAGIC;
}

int gid_memory_bring(struct gid_domain *domain, int fd, enum gid_memory *memory) {
	int error, taken;
	if (is_dmabuf(fd)) {
		*memory = GID_MEMORY_DMABUF;
		taken = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		error = taken < 0 ? -errno : 0;
	} else {
		*memory = GID_MEMORY_MEMFD;
		error = gid_memory_check(fd, 0, true);
		error = error == -EACCES ? 0 : error; /* ours is a read-only one */
		taken = error < 0 ? error : gid_memory_share(fd);
		error = taken < 0 ? taken : 0;
	}
	if (error == -EPERM) {
		return gid_domain_fail(domain, error,
				"the memfd is not sealed: it needs F_SEAL_SHRINK, and "
				"F_SEAL_FUTURE_WRITE or F_SEAL_WRITE, before it is exported");
	}
	if (error < 0) {
		return gid_domain_fail(domain, error, "%s", gid_strerror(error));
	}
	return taken;
}
