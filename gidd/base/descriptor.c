// SPDX-License-Identifier: MIT
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "closer.h"
#include "memory.h"
#include "memory_pages.h"

static int explain(int error, const char **why) {
	switch (error) {
	case 0:
		break;
	case -EBADF:
		*why = "the descriptor is not a memfd with ordinary pages";
		break;
	case -EPERM:
		*why = "the memfd is not sealed: it needs F_SEAL_SHRINK, and F_SEAL_FUTURE_WRITE "
		       "or F_SEAL_WRITE";
		break;
	case -EACCES:
		*why = "the memfd cannot be opened again read-only: its mode forbids that";
		break;
	case -EAGAIN:
		*why = "the memfd cannot be opened again read-only: somebody has a lease of it "
		       "(F_SETLEASE)";
		break;
	case -EMFILE:
		*why = "gidd has no descriptor left";
		break;
	case -ENODATA:
		*why = "the memfd has holes, or lets nobody see whether it has some: write all of it, "
		       "and leave its mode as it is";
		break;
	case -ENOSYS:
		*why = gid_strerror(error);
		break;
	case -ERANGE:
		*why = "the descriptor's memory is smaller than stated";
		break;
	default:
		*why = strerror(-error);
		break;
	}
	return error;
}

/*
 * A process with a read-only description of a memfd can open it again for writing: only seals
 * prevent that. A sender without /proc cannot make a read-only description, so gidd makes it here.
 * gid_memory_check() has shown first that the descriptor is a memfd.
 */
static int take_memory(int *fd, uint64_t size, const char **why) {
	int error = gid_memory_check(*fd, size, true);
	if (error == -EACCES) {
		int reader = gid_memory_reopen(*fd);
		error = reader < 0 ? reader : gid_memory_check(reader, size, true);
		if (reader >= 0) {
			gid_closer_close(*fd);
			*fd = reader;
		}
	}
	return explain(error, why);
}

/*
 * gidd maps the memory and may be the first to read it: missing pages would be allocated then, and
 * charged to gidd.
 */
int descriptor_take_shared(int *fd, uint64_t size, const char **why) {
	int error = take_memory(fd, size, why);
	if (error == 0) {
		error = explain(gid_memory_check_pages(*fd, 0, size, NULL), why);
	}
	return error;
}

bool descriptor_is_read_only(int fd) {
	int flags = fcntl(fd, F_GETFL);
	return flags >= 0 && (flags & O_ACCMODE) == O_RDONLY && (flags & O_PATH) == 0;
}

static int check_dmabuf(int fd, uint64_t size, const char **why) {
	int error = gid_memory_check_dmabuf(fd);
	if (error == -EBADF) {
		*why = "the descriptor is not a dma-buf";
		return error;
	}
	if (error == -ENOSYS) {
		*why = "gidd has no /proc, by which dma-bufs are known: mount it there, as by "
		       "`mount -t proc proc /proc`";
		return error;
	}
	return error < 0 ? explain(error, why) : explain(gid_memory_check_range(fd, size), why);
}

uint64_t descriptor_slab_end(const struct gid_wire_imported *slab) {
	/* gid_wire_check() has checked that none of this overflows. */
	return slab->generations == 0 ? slab->offset + slab->slot_size * slab->slot_count
				      : slab->generations + slab->slot_count * sizeof(uint32_t);
}

int descriptor_take_slab(
		int *fd, const struct gid_wire_imported *slab, uint64_t *bytes, const char **why) {
	uint64_t size = descriptor_slab_end(slab);
	int error;
	if (slab->memory == GID_MEMORY_DMABUF) {
		error = check_dmabuf(*fd, size, why);
	} else {
		error = take_memory(fd, size, why);
	}
	if (error < 0) {
		return error;
	}
	/* Not lseek(): it waits while the sender reads from the same file description. */
	return explain(gid_memory_size(*fd, bytes), why);
}

int descriptor_check_doorbell(int fd, const char **why) {
	int domain = 0, type = 0;
	socklen_t size = sizeof(domain);
	struct sockaddr_storage peer;
	socklen_t peer_size = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 || domain != AF_UNIX ||
			getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 ||
			type != SOCK_STREAM ||
			getpeername(fd, (struct sockaddr *)&peer, &peer_size) < 0) {
		*why = "the doorbell is not a connected SOCK_STREAM unix socket";
		return -EBADF;
	}
	return 0;
}

/*
 * Device and inode need no query: without requested fields, and with AT_STATX_DONT_SYNC, statx()
 * does not ask a file system that a program serves.
 */
bool descriptor_find_file(int fd, dev_t *device, ino_t *inode) {
	struct statx status;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &status) < 0) {
		return false;
	}
	*device = makedev(status.stx_dev_major, status.stx_dev_minor);
	*inode = status.stx_ino;
	return true;
}

uint64_t descriptor_inode(int fd) {
	dev_t device;
	ino_t inode;
	return descriptor_find_file(fd, &device, &inode) ? inode : 0;
}
