// SPDX-License-Identifier: MIT
/*
 * The kernel refuses a call, each one of them once, as where there are no descriptors left: whoever
 * made it says so, or does without, and leaves nothing behind. Or it says that it did what it did
 * not, as emulators do.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gid/gid.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "closer.h"
#include "doorbell.h"
#include "loop.h"
#include "memory.h"
#include "sleep.h"
#include "socket.h"
#include "tap.h"

#define SIZE 4096u
#define LARGE ((size_t)5 << 20) /* has large pages in it */

/* --- calls of libgid's own code, as it is linked here ----------------------------------------- */

static unsigned left; /* until one is refused; 0: none is */
static const char *refused;
static int answer = ENFILE;
static bool takes_no_advice; /* and says that it did */
static bool has_no_pages;    /* to allocate */
static int ignored;	     /* flags of mmap() */

static bool refuses(const char *call) {
	if (left == 0 || --left > 0) {
		return false;
	}
	refused = call;
	errno = answer;
	return true;
}

/* `mark`: that of the name for files whose sizes have 64 bits, wherever another one is. */
#define WRAP(mark, type, failed, name, parameters, arguments)                                      \
	type __real_##name##mark parameters;                                                       \
	type __wrap_##name##mark parameters;                                                       \
	type __wrap_##name##mark parameters {                                                      \
		return refuses(#name) ? (failed) : __real_##name##mark arguments;                  \
	}

WRAP(, int, -1, epoll_create1, (int flags), (flags))
WRAP(, int, -1, epoll_ctl, (int epoll, int what, int fd, struct epoll_event *event),
		(epoll, what, fd, event))
WRAP(, int, -1, eventfd, (unsigned value, int flags), (value, flags))
WRAP(, int, -1, madvise, (void *data, size_t size, int advice),
		(data, takes_no_advice ? 0 : size, advice))
WRAP(, int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP(, int, -1, socket, (int family, int type, int protocol), (family, type, protocol))
WRAP(, int, -1, socketpair, (int family, int type, int protocol, int fds[2]),
		(family, type, protocol, fds))
WRAP(, int, -1, timerfd_create, (int clock, int flags), (clock, flags))

#define WRAP_BOTH(type, failed, name, parameters, arguments)                                       \
	WRAP(, type, failed, name, parameters, arguments)                                          \
	WRAP(64, type, failed, name, parameters, arguments)

WRAP_BOTH(int, -1, ftruncate, (int fd, off_t size), (fd, size))
WRAP_BOTH(void *, MAP_FAILED, mmap,
		(void *data, size_t size, int protection, int flags, int fd, off_t offset),
		(data, size, protection, flags & ~ignored, fd, offset))
/* Its last argument is a number, a pointer or none: one register, whatever it is. */
WRAP_BOTH(int, -1, fcntl, (int fd, int what, long more), (fd, what, more))
#ifdef __USE_TIME64_REDIRECTS /* its name in glibc where times have 64 bits, and words 32 */
WRAP(_time64, int, -1, __fcntl, (int fd, int what, long more), (fd, what, more))
#endif

/* Not refused with the others: memory can do without it where the kernel takes advice. */
#define WRAP_FALLOCATE(mark)                                                                       \
	int __real_fallocate##mark(int fd, int mode, off_t offset, off_t size);                    \
	int __wrap_fallocate##mark(int fd, int mode, off_t offset, off_t size);                    \
	int __wrap_fallocate##mark(int fd, int mode, off_t offset, off_t size) {                   \
		return has_no_pages ? -1 : __real_fallocate##mark(fd, mode, offset, size);         \
	}

WRAP_FALLOCATE()
WRAP_FALLOCATE(64)

/* --- what makes them -------------------------------------------------------------------------- */

static int file = -1, news = -1; /* of two pages; a descriptor that can be waited for */

static void nothing(void *data) {
}

static int make_loop(void) {
	struct gid_loop loop;
	int error = gid_loop_init(&loop);
	if (error == 0) {
		gid_loop_finish(&loop);
	}
	return error;
}

static int watch(void) {
	struct gid_loop loop;
	int error = gid_loop_init(&loop);
	if (error == 0) {
		error = gid_loop_watch(&loop, news, nothing, NULL);
		gid_loop_finish(&loop);
	}
	return error;
}

static int make_sleep(void) {
	struct gid_sleep sleep;
	int error = gid_sleep_init(&sleep, true);
	if (error == 0) {
		gid_sleep_finish(&sleep);
	}
	return error;
}

static int make_doorbell(void) {
	struct gid_doorbell bell;
	int other, error = gid_doorbell_create(&bell, &other);
	if (error == 0) {
		close(other);
		gid_doorbell_finish(&bell);
	}
	return error;
}

static int connect_to_nobody(void) {
	int fd = gid_socket_connect("/nowhere/at/all", 0);
	return fd == -ENOENT ? 0 : fd;
}

static int make_memory_of(size_t size) {
	struct gid_memory_own memory;
	int error = gid_memory_create(&memory, "test", size);
	if (error == 0) {
		gid_memory_finish(&memory);
	}
	return error;
}

static int make_memory(void) {
	return make_memory_of(SIZE);
}

static int make_large_memory(void) {
	return make_memory_of(LARGE);
}

static int make_blank(void) {
	int fd = gid_memory_make_blank(SIZE);
	if (fd >= 0) {
		close(fd);
	}
	return fd < 0 ? fd : 0;
}

static int map(void) {
	const void *data;
	int error = gid_memory_map(file, 0, SIZE, &data);
	if (error == 0) {
		gid_memory_unmap(data, SIZE);
	}
	return error;
}

static int make_present(void) {
	const void *data;
	size_t size;
	int error = gid_memory_make_present(file, &data, &size);
	if (error == 0) {
		munmap((void *)data, size);
	}
	return error;
}

/* --- what is left behind ---------------------------------------------------------------------- */

static unsigned count_descriptors(void) {
	unsigned count = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (readdir(folder) != NULL) {
		count++;
	}
	closedir(folder);
	return count;
}

/* Room that is kept for a mapping has no name; only files are looked for. */
static unsigned count_mapped_files(void) {
	char line[512];
	unsigned count = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (fgets(line, sizeof(line), maps) != NULL) {
		count += strstr(line, "memfd:") != NULL;
	}
	fclose(maps);
	return count;
}

/* What a doorbell closes a helper closes. */
static void settle(void) {
	while (gid_closer_pending() > 0) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

/* `needed`: how many of its calls it cannot do without. */
static void test_refused(const char *what, int (*make)(void), unsigned needed) {
	tap_ok(make() == 0, "%s: as long as nothing is refused", what);
	settle();
	unsigned fds = count_descriptors(), files = count_mapped_files(), failed = 0, bad = 0;
	for (unsigned number = 1; bad == 0; number++) {
		refused = NULL;
		left = number;
		int error = make();
		left = 0;
		settle();
		if (refused == NULL) {
			break;
		}
		failed += error < 0;
		bad += error != 0 && error != -ENFILE && error != -ENOMEM;
		bad += count_descriptors() != fds || count_mapped_files() != files;
	}
	tap_ok(bad == 0, "%s: without %s it says so, and leaves nothing behind", what,
			refused != NULL ? refused : "any of its calls");
	tap_ok(failed == needed, "%s: it cannot do without %u of them: %u", what, needed, failed);
	tap_ok(make() == 0, "%s: it can be made afterwards", what);
	settle();
}

/* A sandbox that knows no memfd_create() is not taken for a missing share, folder or /proc. */
static void test_sandbox(const char *what, int (*make)(void)) {
	const int answers[] = {ENOSYS, EPERM, EACCES};
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		answer = answers[i];
		left = 1;
		int error = make();
		tap_ok(error == -ENODEV, "%s, for which a sandbox answers \"%s\": %s", what,
				strerrorname_np(answer), gid_strerror(error));
	}
	left = 0;
	answer = ENFILE;
}

/* Of two pages, of which there is none. */
static int make_sparse_present(void) {
	const void *data = NULL;
	size_t size = 0;
	int sparse = memfd_create("sparse", MFD_CLOEXEC);
	int error = ftruncate(sparse, 2 * SIZE) < 0 ? -errno
						    : gid_memory_make_present(sparse, &data, &size);
	if (error == 0) {
		error = gid_memory_check_present(sparse);
		munmap((void *)data, size);
	}
	close(sparse);
	return error;
}

/* Pages are there or not, whatever is said of them. */
static void test_no_advice(void) {
	takes_no_advice = true;
	tap_ok(make_memory() == 0 && make_large_memory() == 0,
			"memory is made where the kernel takes no advice");
	int error = make_sparse_present();
	tap_ok(error == 0, "and so are missing pages: %d", error);
	unsigned fds = count_descriptors(), files = count_mapped_files();
	ignored = MAP_POPULATE;
	error = make_sparse_present();
	ignored = 0;
	tap_ok(error == -ENODATA, "pages that nobody makes are not there: %d", error);
	has_no_pages = true;
	error = make_memory();
	has_no_pages = false;
	tap_ok(error == -ENOMEM, "nor is memory made of such: %d", error);
	takes_no_advice = false;
	tap_ok(count_descriptors() == fds && count_mapped_files() == files,
			"and nothing is left behind");
}

int main(void) {
	file = memfd_create("test", MFD_CLOEXEC);
	news = eventfd(0, EFD_CLOEXEC);
	if (!tap_ok(file >= 0 && news >= 0 && ftruncate(file, 2 * SIZE) == 0, "descriptors")) {
		return tap_finish();
	}
	test_refused("a loop", make_loop, 3);
	test_refused("a watch", watch, 4);
	test_refused("a sleep", make_sleep, 3);
	test_refused("a doorbell", make_doorbell, 1);
	test_refused("a connection", connect_to_nobody, 1);
	test_refused("memory", make_memory, 6);
	test_refused("much memory", make_large_memory, 6);
	test_refused("a blank", make_blank, 2);
	test_sandbox("memory", make_memory);
	test_sandbox("a blank", make_blank);
	test_refused("a mapping", map, 1);
	test_refused("pages", make_present, 2);
	test_no_advice();
	close(news);
	close(file);
	return tap_finish();
}
