// SPDX-License-Identifier: MIT
/* Memory that exactly one process can ever write. */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

#define SIZE (size_t)(3 * 4096 + 17)
#define ROUNDED (size_t)(4 * 4096)

#define MOVED_AT_ONCE ((size_t)64 << 10) /* as memory.c has it */

/* --- calls of libgid's own code, as it is linked here ----------------------------------------- */

static const char *link_says; /* instead of what is there; NULL: that */

ssize_t __real_readlink(const char *path, char *text, size_t size);
ssize_t __wrap_readlink(const char *path, char *text, size_t size);

ssize_t __wrap_readlink(const char *path, char *text, size_t size) {
	if (link_says == NULL) {
		return __real_readlink(path, text, size);
	}
	const size_t length = strnlen(link_says, size);
	memcpy(text, link_says, length);
	return (ssize_t)length;
}

static unsigned failing; /* calls to come, a bit for each: the kernel refuses those of 1 */

void *__real_mremap(void *data, size_t size, size_t wanted, int flags, ...);
void *__wrap_mremap(void *data, size_t size, size_t wanted, int flags, ...);

void *__wrap_mremap(void *data, size_t size, size_t wanted, int flags, ...) {
	va_list args;
	va_start(args, flags);
	void *to = va_arg(args, void *);
	va_end(args);
	const bool fails = (failing & 1) != 0;
	failing >>= 1;
	if (fails) {
		if ((flags & MREMAP_FIXED) != 0) {
			munmap(to, wanted); /* room is made first of all */
		}
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mremap(data, size, wanted, flags, to);
}

/* ---------------------------------------------------------------------------------------------- */

static bool all_present(void *data, size_t size) {
	unsigned char present[ROUNDED / 4096];
	if (mincore(data, size, present) < 0) {
		return false;
	}
	for (size_t i = 0; i < size / 4096; i++) {
		if ((present[i] & 1) == 0) {
			return false;
		}
	}
	return true;
}

/* Page faults of this process since the last call. */
static long faults(void) {
	static char text[512]; /* ASan would give one of the stack another place with each call */
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	const char *at = strrchr(text, ')');
	for (int i = 0; at != NULL && i < 8; i++) {
		at = strchr(at + 1, ' ');
	}
	return at == NULL ? -1 : strtol(at, NULL, 10);
}

static void test_create(struct gid_memory_own *memory) {
	tap_ok(gid_memory_create(memory, "test", SIZE) == 0, "memory is made");
	tap_ok(memory->size == ROUNDED, "its size is whole pages");
	faults(); /* its own first ones */
	long before = faults();
	volatile char *bytes = memory->data;
	bool zero = true;
	for (size_t i = 0; i < ROUNDED; i += 4096) {
		zero = zero && bytes[i] == 0;
		bytes[i] = 1;
	}
	long count = faults() - before;
	tap_ok(zero, "it is zeroed");
	tap_ok(before >= 0 && count == 0, "writing each page faults %ld times: none", count);
	tap_ok(all_present(memory->data, ROUNDED), "all its pages are present");
	int seals = fcntl(memory->fd, F_GET_SEALS);
	int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
	tap_ok((seals & wanted) == wanted, "all seals are set (0x%x)", (unsigned)seals);
	tap_ok((fcntl(memory->fd, F_GETFD) & FD_CLOEXEC) != 0, "it is close-on-exec");
}

/* By the descriptor that readers get, and what a reader can make of it: root is one as well. */
static void test_sole_writer(const struct gid_memory_own *memory) {
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory->fd);
	int writable = open(path, O_RDWR | O_CLOEXEC);
	int fds[] = {memory->fd, writable};
	const char *names[] = {"the reader's descriptor", "a writable one made from it"};
	for (int i = 0; i < 2; i++) {
		if (fds[i] < 0) {
			tap_ok(true, "%s cannot be had", names[i]);
			continue;
		}
		void *data = mmap(NULL, ROUNDED, PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], 0);
		tap_ok(data == MAP_FAILED, "%s is not mapped writable", names[i]);
		tap_ok(write(fds[i], "x", 1) < 0, "%s is not written", names[i]);
		tap_ok(ftruncate(fds[i], 0) < 0 && ftruncate(fds[i], (off_t)ROUNDED * 2) < 0,
				"%s keeps its size", names[i]);
		tap_ok(fallocate(fds[i], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) < 0,
				"%s gets no hole", names[i]);
		data = mmap(NULL, ROUNDED, PROT_READ, MAP_SHARED, fds[i], 0);
		tap_ok(data != MAP_FAILED && mprotect(data, ROUNDED, PROT_READ | PROT_WRITE) < 0 &&
						errno == EACCES,
				"a read-only mapping of %s stays one", names[i]);
		munmap(data, ROUNDED);
	}
	if (writable >= 0) {
		close(writable);
	}
}

static void test_read(const struct gid_memory_own *memory) {
	const void *view = NULL;
	tap_ok(gid_memory_map(memory->fd, 4096, 8192, &view) == 0, "a part is mapped");
	((char *)memory->data)[4096 + 5] = 42;
	tap_ok(view != NULL && ((const char *)view)[5] == 42, "it shows what the owner writes");
	tap_ok(all_present((void *)view, 8192), "its pages are present");
	gid_memory_unmap(view, 8192);
	tap_ok(gid_memory_map(memory->fd, 4096 + 3, 100, &view) == 0 &&
					((const char *)view)[2] == 42,
			"a part may begin inside a page");
	gid_memory_unmap(view, 100);
	tap_ok(gid_memory_map(memory->fd, 0, 0, &view) == -EINVAL, "nothing is not mapped");
	tap_ok(gid_memory_map(memory->fd, UINT64_MAX, 1, &view) == -EINVAL &&
					gid_memory_map(memory->fd, 0, SIZE_MAX, &view) < 0,
			"sizes and offsets that cannot be are refused");
	int other = gid_memory_reopen(memory->fd);
	tap_ok(other >= 0 && (fcntl(other, F_GETFL) & O_ACCMODE) == O_RDONLY,
			"it opens again, read-only");
	close(other);
}

/* A fault maps some pages behind it, too: so the last one is missing at some sizes only. */
static void test_touch(void) {
	struct gid_memory_own memory;
	long count = 0;
	if (!tap_ok(gid_memory_create(&memory, "test", 64 * 4096) == 0, "memory of many pages")) {
		return;
	}
	for (size_t size = 4096; size <= 40 * 4096; size += 4096) {
		const void *view = NULL;
		if (gid_memory_map_untouched(memory.fd, 100, size, &view) < 0) {
			count++;
			continue;
		}
		gid_memory_touch(view, size);
		const long before = faults();
		(void)((const volatile char *)view)[size - 1];
		count += faults() - before;
		gid_memory_unmap(view, size);
	}
	tap_ok(count == 0, "what was touched faults no more, wherever it begins: %ld times", count);
	gid_memory_finish(&memory);
}

static void test_check(const struct gid_memory_own *memory) {
	tap_ok(gid_memory_check(memory->fd, ROUNDED, 1) == 0, "our own memory is found good");
	tap_ok(gid_memory_check(memory->fd, ROUNDED + 1, 1) == -ERANGE, "but not for more bytes");
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	tap_ok(ftruncate(fd, 4096) == 0 && gid_memory_check(fd, 4096, 0) == -EPERM,
			"an unsealed memfd is refused");
	fcntl(fd, F_ADD_SEALS, F_SEAL_GROW);
	tap_ok(gid_memory_check(fd, 4096, 0) == -EPERM, "one that can only not grow, too");
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
	tap_ok(gid_memory_check(fd, 4096, 0) == 0, "one that cannot shrink is good to read");
	int reader = gid_memory_reopen(fd);
	tap_ok(gid_memory_check(fd, 4096, 1) == -EPERM &&
					gid_memory_check(reader, 4096, 1) == -EPERM,
			"but may have other writers");
	fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
	tap_ok(gid_memory_check(reader, 4096, 1) == 0, "until that is sealed as well");
	tap_ok(gid_memory_check(fd, 4097, 1) == -ERANGE && gid_memory_check(fd, 4096, 1) == -EACCES,
			"a writable description of it is told apart where all else is well");
	close(reader);
	close(fd);
	int ends[2];
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	tap_ok(gid_memory_check(fd, 0, 0) == -EBADF, "a file is not shared memory");
	close(fd);
	tap_ok(pipe2(ends, O_CLOEXEC) == 0 && gid_memory_check(ends[0], 0, 0) == -EBADF,
			"nor is a pipe");
	close(ends[0]);
	close(ends[1]);
	tap_ok(gid_memory_check(-1, 0, 0) == -EBADF, "nor is nothing");
}

static void test_present(const struct gid_memory_own *memory) {
	tap_ok(gid_memory_check_present(memory->fd) == 0, "all of our own memory is there");
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	tap_ok(gid_memory_check_present(fd) == 0, "no memory has no hole");
	tap_ok(ftruncate(fd, ROUNDED) == 0 && gid_memory_check_present(fd) == -ENODATA,
			"memory without pages has");
	char bytes[ROUNDED] = "x";
	tap_ok(pwrite(fd, bytes, ROUNDED - 4096, 0) == (ssize_t)ROUNDED - 4096 &&
					gid_memory_check_present(fd) == -ENODATA,
			"one page that is left at its end is a hole");
	tap_ok(pwrite(fd, bytes, ROUNDED, 0) == (ssize_t)ROUNDED &&
					gid_memory_check_present(fd) == 0,
			"until all are written");
	close(fd);
	fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	tap_ok(fallocate(fd, 0, 0, (off_t)ROUNDED) == 0 && gid_memory_check_present(fd) == 0,
			"or allocated");
	close(fd);
}

static void test_wipe(void) {
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char bytes[8192], back[8192];
	memset(bytes, 'x', sizeof(bytes));
	tap_ok(write(fd, bytes, sizeof(bytes)) == sizeof(bytes) &&
					fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0,
			"a memfd that others brought");
	int reader = gid_memory_reopen(fd);
	tap_ok(gid_memory_wipe(reader, 5000, 100) == 0, "is wiped by its reader's descriptor");
	memset(bytes + 5000, 0, 100);
	tap_ok(pread(fd, back, sizeof(back), 0) == sizeof(back) &&
					memcmp(bytes, back, sizeof(back)) == 0,
			"there and nowhere else");
	fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
	tap_ok(gid_memory_wipe(reader, 0, 100) < 0, "unless it is sealed");
	close(reader);
	close(fd);
}

/* Device-dax are character devices; of others nobody knows how large they are. */
static void test_size(const struct gid_memory_own *memory) {
	uint64_t size = 0;
	tap_ok(gid_memory_size(memory->fd, &size) == 0 && size == memory->size, "a memfd's size");
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	tap_ok(zero >= 0 && gid_memory_size(zero, &size) == -EBADF &&
					gid_memory_check_range(zero, 1) == -EBADF,
			"another device is no memory");
	tap_ok(gid_memory_is_dax(zero) && !gid_memory_is_dax(memory->fd) && !gid_memory_is_dax(-1),
			"but a device it is, and neither memory nor nothing is one");
	close(zero);
	tap_ok(gid_memory_size(-1, &size) == -EBADF, "nor is nothing");
}

/* What cannot be is refused, and what it was asked of stays as it is. */
static void test_impossible(const struct gid_memory_own *memory) {
	struct gid_memory_own larger, taken = *memory;
	const void *data;
	size_t size;
	if (!tap_ok(gid_memory_create(&larger, "test", 2 * ROUNDED) == 0, "more memory")) {
		return;
	}
	tap_ok(gid_memory_move(&taken, &larger) == -EINVAL && taken.data == memory->data,
			"memory does not move into another size");
	gid_memory_finish(&larger);
	tap_ok(gid_memory_map(memory->fd, 1, UINT64_MAX, &data) == -EINVAL,
			"more than there are addresses is not mapped");
	tap_ok(gid_memory_make_blank(UINT64_MAX) == -ENOMEM, "nor are there blanks of that size");
	int empty = memfd_create("test", MFD_CLOEXEC);
	tap_ok(gid_memory_make_present(empty, &data, &size) == -EINVAL, "nothing has no pages");
	tap_ok(gid_memory_check_present(-1) == -EBADF &&
					gid_memory_make_present(-1, &data, &size) == -EBADF,
			"nor has what is no memory");
	close(empty);
}

/* In a process that has no descriptor left. */
static void with_none_left(void (*look)(void *data), void *data) {
	struct rlimit before, none;
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	look(data);
	setrlimit(RLIMIT_NOFILE, &before);
}

struct looks {
	int zero, dmabuf;
	int size_error, dmabuf_error;
};

static void look(void *data) {
	struct looks *looks = data;
	uint64_t size;
	looks->size_error = gid_memory_size(looks->zero, &size);
	looks->dmabuf_error = gid_memory_check_dmabuf(looks->dmabuf);
}

/* Whether something is memory at all cannot be seen without: that is not to say that it is none. */
static void test_looks_without_descriptors(const struct gid_memory_own *memory) {
	struct looks looks = {
			.zero = open("/dev/zero", O_RDONLY | O_CLOEXEC), .dmabuf = memory->fd};
	link_says = "/dmabuf:camera";
	tap_ok(gid_memory_check_dmabuf(memory->fd) == -EBADF,
			"what has only the name of a dma-buf is none");
	link_says = "/dma";
	tap_ok(gid_memory_check_dmabuf(memory->fd) == -EBADF, "nor is what has a part of it");
	link_says = "/dmabuf:camera";
	with_none_left(look, &looks);
	link_says = NULL;
	tap_ok(looks.size_error == -EMFILE, "without descriptors nobody knows a device's size: %d",
			looks.size_error);
	tap_ok(looks.dmabuf_error == -EMFILE, "nor what a dma-buf is: %d", looks.dmabuf_error);
	close(looks.zero);
	tap_ok(gid_memory_check_dmabuf(looks.zero) == -ENOSYS,
			"where nothing tells what a descriptor is, that is said");
}

/* Two ranges of a window, which is not sealed: gidd deals it out. */
static bool make_ranges(struct gid_memory_own ranges[2], size_t size) {
	bool made = true;
	int window = memfd_create("window", MFD_CLOEXEC);
	made = ftruncate(window, (off_t)(2 * size)) == 0;
	for (size_t i = 0; made && i < 2; i++) {
		ranges[i] = (struct gid_memory_own){.fd = fcntl(window, F_DUPFD_CLOEXEC, 0),
				.data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, window,
						(off_t)(i * size)),
				.size = size,
				.window_offset = i * size};
		made = ranges[i].fd >= 0 && ranges[i].data != MAP_FAILED;
	}
	close(window);
	return made;
}

/* Others write at its address: nothing may be missing there, nor be the other memory's. */
static void test_move_fails(bool in_window) {
	struct gid_memory_own both[2], *memory = &both[0];
	const size_t size = 4 * MOVED_AT_ONCE;
	const bool made = in_window ? make_ranges(both, size)
				    : gid_memory_create(&both[0], "test", size) == 0 &&
					gid_memory_create(&both[1], "test", size) == 0;
	if (!tap_ok(made, "memory, and what it is to move to")) {
		return;
	}
	char *bytes = memory->data, back[2] = "";
	memset(bytes, 'a', size);
	/* After two pieces. What a window's device had cannot be kept, which is asked first. */
	failing = 1u << 3 | in_window;
	int error = gid_memory_move(memory, &both[1]);
	tap_ok(error == -ENOMEM && memory->data == bytes && both[1].data == NULL && failing == 0,
			"a move that the kernel ends in its midst ends: %d", error);
	size_t same = 0;
	while (same < size && bytes[same] == 'a') {
		same++;
	}
	tap_ok(same == size, "its content is where it was: %zu of %zu", same, size);
	bytes[0] = bytes[size - 1] = 'b';
	tap_ok(pread(memory->fd, &back[0], 1, 0) == 1 &&
					pread(memory->fd, &back[1], 1, (off_t)size - 1) == 1 &&
					back[0] == 'b' && back[1] == 'b',
			"and so is what is written from then on");
	close(both[1].fd);
	gid_memory_finish(memory);
}

/* Of the two descriptors that memory takes at once the second one is one too many. */
static void test_no_descriptors(void) {
	struct gid_memory_own memory;
	struct rlimit before, limit;
	getrlimit(RLIMIT_NOFILE, &before);
	int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(next);
	limit = before;
	limit.rlim_cur = (rlim_t)next + 1;
	setrlimit(RLIMIT_NOFILE, &limit);
	int error = gid_memory_create(&memory, "test", SIZE);
	setrlimit(RLIMIT_NOFILE, &before);
	tap_ok(error == -EMFILE && memory.fd < 0, "no memory without descriptors: %d", error);
	int again = open("/dev/null", O_RDONLY | O_CLOEXEC);
	tap_ok(again == next, "which leaves none behind");
	close(again);
}

/* The kernel ends a program that goes beyond it, which nobody asked for by making a slab. */
static void test_small_files(void) {
	struct gid_memory_own memory;
	struct rlimit limit;
	getrlimit(RLIMIT_FSIZE, &limit);
	struct rlimit before = limit;
	limit.rlim_cur = ROUNDED - 1;
	setrlimit(RLIMIT_FSIZE, &limit);
	int error = gid_memory_create(&memory, "test", SIZE);
	int blank = gid_memory_make_blank(ROUNDED);
	limit.rlim_cur = ROUNDED;
	setrlimit(RLIMIT_FSIZE, &limit);
	int fits = gid_memory_create(&memory, "test", SIZE);
	setrlimit(RLIMIT_FSIZE, &before);
	tap_ok(error == -EFBIG, "memory is no larger than files may be: %d", error);
	tap_ok(blank == -ENOMEM, "nor is what stands for it: %d", blank);
	tap_ok(fits == 0, "what fits is made: %d", fits);
	gid_memory_finish(&memory);
}

int main(void) {
	struct gid_memory_own memory;
	test_create(&memory);
	test_sole_writer(&memory);
	test_read(&memory);
	test_touch();
	test_check(&memory);
	test_present(&memory);
	test_wipe();
	test_size(&memory);
	test_impossible(&memory);
	test_no_descriptors();
	test_looks_without_descriptors(&memory);
	test_move_fails(false);
	test_move_fails(true);
	test_small_files();
	gid_memory_finish(&memory);
	tap_ok(memory.fd == -1 && memory.data == NULL, "it is given back");
	gid_memory_finish(&memory);
	tap_ok(gid_memory_create(&memory, "test", 0) == -EINVAL, "no size is no memory");
	tap_ok(gid_memory_create(&memory, "test", SIZE_MAX) == -EINVAL, "nor is too much");
	return tap_finish();
}
