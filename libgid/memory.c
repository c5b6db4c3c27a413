// SPDX-License-Identifier: MIT
/** Sealed memfds: made, checked, mapped. */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "closer.h"
#include "dmabuf.h"
#include "large_pages.h"

/*
 * So much is copied, and then put in its place, at a time: another thread writes little meanwhile.
 */
#define MOVED_AT_ONCE ((size_t)64 << 10)

static uint64_t page_size(void) {
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t gid_memory_round_up(uint64_t size) {
	uint64_t page = page_size();
	return size > UINT64_MAX - page + 1 ? 0 : (size + page - 1) & ~(page - 1);
}

/* The descriptor exists, so /proc is missing, as in a sandbox, or is that of another container. */
static int explain_proc(int error) {
	return error == -ENOENT || error == -ENOTDIR ? -ENOSYS : error;
}

/* Whoever has taken a lease of the file (F_SETLEASE) would be waited for, without O_NONBLOCK. */
static int reopen(int fd, int mode) {
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int reopened = open(path, mode | O_CLOEXEC | O_NONBLOCK);
	return reopened < 0 ? explain_proc(-errno) : reopened;
}

int gid_memory_reopen(int fd) {
	return reopen(fd, O_RDONLY);
}

int gid_memory_share(int fd) {
	int shared = gid_memory_reopen(fd);
	if (shared == -ENOSYS) {
		shared = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		shared = shared < 0 ? -errno : shared;
	}
	return shared;
}

/* Kernels before 6.3 do not know MFD_NOEXEC_SEAL, and later ones may insist on it. */
static int make_memfd(const char *name) {
	unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
#ifdef MFD_NOEXEC_SEAL
	int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);
	if (fd >= 0 || errno != EINVAL) {
		return fd;
	}
#endif
	return memfd_create(name, flags);
}

/*
 * A sandbox answers memfd_create() with errors that mean something else here: of shares, folders,
 * /proc.
 */
static int explain_memfd(int error) {
	return error == -ENOSYS || error == -EPERM || error == -EACCES ? -ENODEV : error;
}

/* A file that is larger than this process may make would end it by SIGXFSZ, and not be an error. */
static int set_size(int fd, uint64_t size) {
	struct rlimit limit;
	if (size > INT64_MAX) {
		return -EFBIG;
	}
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
			size > limit.rlim_cur) {
		return -EFBIG;
	}
	return ftruncate(fd, (off_t)size) < 0 ? -errno : 0;
}

int gid_memory_create(struct gid_memory_own *memory, const char *name, size_t size) {
	*memory = (struct gid_memory_own){.fd = -1};
	size_t rounded = gid_large_round(gid_memory_round_up(size));
	if (rounded == 0 || rounded > PTRDIFF_MAX) {
		return -EINVAL;
	}
	int fd = make_memfd(name);
	if (fd < 0) {
		return explain_memfd(-errno);
	}
	int error = set_size(fd, rounded);
	if (error == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0) {
		error = -errno;
	}
	if (error < 0) {
		goto error_fd;
	}
	void *data = gid_large_map(rounded, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED) {
		error = -errno;
		goto error_fd;
	}
	gid_large_make(data, rounded);
	/* Kernels that are emulated take the madvise() below, and do nothing. */
	(void)fallocate(fd, 0, 0, (off_t)rounded);
	/* Unlike MAP_POPULATE this says so when there are not enough pages. */
	if (madvise(data, rounded, MADV_POPULATE_WRITE) < 0) {
		error = errno == EFAULT ? -ENOMEM : -errno;
		goto error_map;
	}
	if (gid_memory_check_present(fd) < 0) {
		error = -ENOMEM; /* whoever writes there would be ended by SIGBUS */
		goto error_map;
	}
	/* From here on the mapping above is the only writable one that will ever exist. */
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0) {
		error = -errno;
		goto error_map;
	}
	int shared = gid_memory_share(fd);
	if (shared < 0) {
		error = shared;
		goto error_map;
	}
	close(fd);
	*memory = (struct gid_memory_own){.fd = shared, .data = data, .size = rounded};
	return 0;

error_map:
	munmap(data, rounded);
error_fd:
	close(fd);
	return error;
}

void gid_memory_finish(struct gid_memory_own *memory) {
	if (memory->data != NULL) {
		munmap(memory->data, memory->size);
		close(memory->fd);
	}
	*memory = (struct gid_memory_own){.fd = -1};
}

/*
 * A piece could not be put there, and what was in its place may have gone. Puts `memory` there
 * again, with what others have written meanwhile; `into` has no address any more.
 */
static void come_back(const struct gid_memory_own *memory, void *kept, struct gid_memory_own *into,
		size_t moved) {
	char *to = memory->data, *from = into->data;
	const size_t size = memory->size;
	if (kept == MAP_FAILED) { /* a window, which can be mapped anew */
		(void)mmap(to, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->fd,
				(off_t)memory->window_offset);
	} else {
		memcpy(kept, to, moved);
		if (mremap(kept, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
			munmap(kept, size);
		}
	}
	munmap(from + moved, size - moved);
	into->data = NULL;
}

int gid_memory_move(struct gid_memory_own *memory, struct gid_memory_own *into) {
	char *to = memory->data, *from = into->data;
	size_t size = memory->size;
	if (into->size != size) {
		return -EINVAL;
	}
	/* Fails for a window's device, which others empty. */
	void *kept = mremap(to, size, size, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
	for (size_t at = 0; at < size; at += MOVED_AT_ONCE) {
		size_t piece = size - at < MOVED_AT_ONCE ? size - at : MOVED_AT_ONCE;
		memcpy(from + at, to + at, piece);
		if (mremap(from + at, piece, piece, MREMAP_MAYMOVE | MREMAP_FIXED, to + at) ==
				MAP_FAILED) {
			int error = -errno;
			come_back(memory, kept, into, at);
			return error;
		}
	}
	into->data = to;
	memory->data = kept == MAP_FAILED ? NULL : kept;
	return 0;
}

int gid_memory_check(int fd, uint64_t size, bool sole_writer) {
	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0) {
		return -EBADF;
	}
	struct statfs system;
	if (fstatfs(fd, &system) < 0 || system.f_type != TMPFS_MAGIC) {
		return -EBADF;
	}
	if ((seals & F_SEAL_SHRINK) == 0) {
		return -EPERM;
	}
	if (sole_writer && (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) == 0) {
		return -EPERM;
	}
	int error = gid_memory_check_range(fd, size);
	if (error == 0 && sole_writer) {
		int flags = fcntl(fd, F_GETFL);
		error = flags < 0 || (flags & O_ACCMODE) != O_RDONLY ? -EACCES : 0;
	}
	return error;
}

int gid_memory_check_present(int fd) {
	struct stat status;
	if (fstat(fd, &status) < 0) {
		return -errno;
	}
	/*
	 * Pages beyond its end count, too: who reads it asks for each page, see
	 * gid_memory_check_pages().
	 */
	return (uint64_t)status.st_blocks * 512 < (uint64_t)status.st_size ? -ENODATA : 0;
}

int gid_memory_make_present(int fd, const void **data, size_t *size) {
	off_t end = lseek(fd, 0, SEEK_END);
	if (end <= 0) {
		return end < 0 ? -errno : -EINVAL;
	}
	void *all = mmap(NULL, (size_t)end, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (all == MAP_FAILED) {
		return -errno;
	}
	/*
	 * MAP_POPULATE does not say that it stopped before the end; this does. But kernels that are
	 * emulated take it, and do nothing: so neither is believed.
	 */
	int error = madvise(all, (size_t)end, MADV_POPULATE_READ) < 0
			? -errno
			: gid_memory_check_present(fd);
	if (error < 0) {
		munmap(all, (size_t)end);
		return error == -EFAULT ? -ENOMEM : error;
	}
	*data = all;
	*size = (size_t)end;
	return 0;
}

int gid_memory_check_dmabuf(int fd) {
	static const char name[] = "/dmabuf:"; /* others can have it, too */
	char path[64], line[128];
	if (fd < 0) {
		return -EBADF;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ssize_t length = readlink(path, line, sizeof(line));
	if (length < 0) {
		return explain_proc(-errno);
	}
	if (length < (ssize_t)sizeof(name) - 1 || memcmp(line, name, sizeof(name) - 1) != 0) {
		/* fdinfo of an epoll instance would wait for whoever has locked it. */
		return -EBADF;
	}
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	FILE *info = fopen(path, "re");
	bool found = false;
	if (info == NULL) {
		return explain_proc(-errno);
	}
	while (!found && fgets(line, sizeof(line), info) != NULL) {
		found = strncmp(line, "exp_name:", 9) == 0; /* who made it: of dma-bufs alone */
	}
	fclose(info);
	return found ? 0 : -EBADF;
}

bool gid_memory_is_dax(int fd) {
	struct stat status;
	return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode);
}

int gid_memory_size(int fd, uint64_t *size) {
	struct stat status;
	if (fstat(fd, &status) < 0) {
		return -errno;
	}
	*size = (uint64_t)status.st_size;
	if (!S_ISCHR(status.st_mode)) {
		return 0;
	}
	char path[64];
	unsigned long long bytes;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/size", major(status.st_rdev),
			minor(status.st_rdev));
	FILE *file = fopen(path, "re");
	*size = 0;
	if (file == NULL) {
		return errno == ENOENT ? -EBADF : -errno; /* it is another device */
	}
	bool read = fscanf(file, "%llu", &bytes) == 1;
	fclose(file);
	*size = read ? bytes : 0;
	return read ? 0 : -EBADF;
}

int gid_memory_check_range(int fd, uint64_t end) {
	uint64_t size;
	int error = gid_memory_size(fd, &size);
	return error < 0 ? error : size < end ? -ERANGE : 0;
}

static int map(int fd, uint64_t offset, uint64_t size, int flags, const void **data) {
	uint64_t lead = offset % page_size();
	if (size == 0 || offset > INT64_MAX || size > SIZE_MAX - lead) {
		return -EINVAL;
	}
	void *mapped = gid_large_map(
			(size_t)(size + lead), PROT_READ, MAP_SHARED | flags, fd, offset - lead);
	if (mapped == MAP_FAILED) {
		return -errno;
	}
	*data = (const char *)mapped + lead;
	return 0;
}

int gid_memory_map(int fd, uint64_t offset, uint64_t size, const void **data) {
	return map(fd, offset, size, MAP_POPULATE, data);
}

int gid_memory_map_untouched(int fd, uint64_t offset, uint64_t size, const void **data) {
	return map(fd, offset, size, 0, data);
}

/*
 * The pages are there: a fault maps 16 of them. MADV_POPULATE_READ goes over each by itself, and
 * takes nearly three times as long.
 */
void gid_memory_touch(const void *data, size_t size) {
	const volatile char *bytes = data;
	for (size_t at = 0; at < size; at += page_size()) {
		(void)bytes[at];
	}
	if (size > 0) {
		(void)bytes[size - 1]; /* of one page more, where it begins inside of its first */
	}
}

int gid_memory_make_blank(uint64_t size) {
	int fd = make_memfd("gid-revoked");
	if (fd < 0) {
		return explain_memfd(-errno);
	}
	if (set_size(fd, size) < 0) {
		close(fd);
		return -ENOMEM;
	}
	return fd;
}

int gid_memory_fill(int fd, uint64_t offset, const void *data, size_t size) {
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(
				fd, (const char *)data + done, size - done, (off_t)(offset + done));
		if (n <= 0) {
			return n < 0 ? -errno : -EIO;
		}
		done += (size_t)n;
	}
	return 0;
}

int gid_memory_seal(int fd) {
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
	return fcntl(fd, F_ADD_SEALS, seals) < 0 ? -errno : 0;
}

/*
 * Moves what is mapped there elsewhere, with what its pages took to find; who reads at the old
 * address finds pages of the file anew. NULL: that cannot be.
 */
static void *move(char *data, size_t size) {
	/* At such distances page tables are moved as a whole. */
	const size_t table = gid_large_page_size();
	char *room = mmap(NULL, size + table, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED) {
		return NULL;
	}
	size_t lead = ((uintptr_t)data - (uintptr_t)room) % table;
	void *moved = mremap(data, size, size, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			room + lead);
	if (moved == MAP_FAILED) {
		munmap(room, size + table);
		return NULL;
	}
	if (lead > 0) {
		munmap(room, lead);
	}
	munmap(room + lead + size, table - lead);
	return moved;
}

int gid_memory_replace(const void *data, size_t size, uint32_t owner, int fd, uint64_t offset) {
	uint64_t lead = (uintptr_t)data % page_size();
	char *pages = (char *)data - lead;
	size_t length = (size_t)gid_memory_round_up(size + lead);
	void *moved = length > GID_CLOSER_QUICK ? move(pages, length) : NULL;
	int flags = MAP_FIXED | MAP_NORESERVE;
	flags |= fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	void *others = mmap(
			pages, length, PROT_READ, flags, fd, fd >= 0 ? (off_t)(offset - lead) : 0);
	if (moved != NULL) {
		gid_closer_unmap(moved, length, owner);
	}
	return others == MAP_FAILED ? -ENOMEM : 0;
}

void gid_memory_unmap(const void *data, size_t size) {
	if (data != NULL) {
		uint64_t lead = (uintptr_t)data % page_size();
		munmap((char *)data - lead, size + lead);
	}
}

void gid_memory_let_go(const void *data, size_t size, uint32_t owner) {
	uint64_t lead = (uintptr_t)data % page_size();
	if (data == NULL || size + lead <= GID_CLOSER_QUICK) {
		gid_memory_unmap(data, size);
	} else {
		gid_closer_unmap((char *)data - lead, (size_t)gid_memory_round_up(size + lead),
				owner);
	}
}

int gid_memory_wipe(int fd, uint64_t offset, size_t size) {
	/* A dma-buf cannot be reopened, but its own description may be writable. */
	int writable = reopen(fd, O_RDWR);
	int used = writable < 0 ? fd : writable;
	uint64_t lead = offset % page_size();
	void *data = mmap(NULL, size + lead, PROT_READ | PROT_WRITE, MAP_SHARED, used,
			(off_t)(offset - lead));
	int error = data == MAP_FAILED ? -errno : 0;
	if (error == 0) {
		/*
		 * Maintains caches that the CPU does not share with the device. Does not wait for
		 * the device.
		 */
		bool begun = gid_dmabuf_begin(used, DMA_BUF_SYNC_WRITE);
		explicit_bzero((char *)data + lead, size);
		if (begun) {
			gid_dmabuf_end(used, DMA_BUF_SYNC_WRITE);
		}
		munmap(data, size + lead);
	}
	if (writable >= 0) {
		close(writable);
	}
	return error;
}
