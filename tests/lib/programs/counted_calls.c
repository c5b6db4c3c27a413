// SPDX-License-Identifier: MIT
/*
 * To be preloaded: counts each call that takes or gives back memory, opens a descriptor, maps
 * anything or begins a thread, by who makes it: lib/counted.py reads that while the program runs.
 *
 * The file $COUNTED_CALLS/PROGRAM.PID has a table for each kind of call, in the order of `enum
 * kind`: PLACES times the address behind the call, and how often it was made from there. What has
 * no place is counted in the last one. Nothing in here allocates, and malloc() and its like are
 * those of libc, so that what they do is as without us. What libc does within itself, such as to
 * enlarge the heap by brk(), is not seen: the kernel's filter sees that (gid-cluster --confine).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../map_call.h"

#define PLACES 1024u

/* As in lib/counted.py. */
enum kind { MALLOC, FREE, MAP, UNMAP, OPEN, ACCEPT, THREAD, KINDS };

struct place {
	_Atomic uintptr_t caller;
	_Atomic uint64_t calls;
};

static struct place (*tables)[PLACES];
static int (*begin_thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *data, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *data);

static void count(enum kind kind, const void *from) {
	uintptr_t caller = (uintptr_t)from;
	if (tables == NULL) {
		return;
	}
	struct place *table = tables[kind];
	for (uint32_t i = 0, at = (uint32_t)(caller >> 2) % (PLACES - 1); i < PLACES - 1; i++) {
		struct place *place = &table[(at + i) % (PLACES - 1)];
		uintptr_t free = 0;
		if (atomic_compare_exchange_strong(&place->caller, &free, caller) ||
				free == caller) {
			atomic_fetch_add(&place->calls, 1);
			return;
		}
	}
	atomic_fetch_add(&table[PLACES - 1].calls, 1);
}

#define COUNT(kind) count(kind, __builtin_return_address(0))

__attribute__((constructor)) static void begin(void) {
	const char *folder = getenv("COUNTED_CALLS");
	char path[512];
	size_t size = KINDS * sizeof(*tables);
	*(void **)&begin_thread = dlsym(RTLD_NEXT, "pthread_create");
	if (folder == NULL) {
		return;
	}
	snprintf(path, sizeof(path), "%s/%s.%d", folder, program_invocation_short_name, getpid());
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0) {
		return;
	}
	void *data = map_call(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	syscall(SYS_close, fd);
	tables = data == MAP_FAILED ? NULL : data;
}

/*
 * A function of libc that callers know by two names, as they were compiled: `its` is defined below
 * under a name of ours, for our own compiler has another name for one of the two.
 */
#define BOTH_NAMES(type, its, name, other, ...)                                                    \
	type its(__VA_ARGS__) __asm__(name);                                                       \
	type its##_other(__VA_ARGS__) __asm__(other) __attribute__((alias(name)))

/* --- memory ----------------------------------------------------------------------------------- */

void *malloc(size_t size) {
	COUNT(MALLOC);
	return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
	COUNT(MALLOC);
	return __libc_calloc(number, size);
}

void *realloc(void *data, size_t size) {
	COUNT(MALLOC);
	return __libc_realloc(data, size);
}

void *reallocarray(void *data, size_t number, size_t size) {
	size_t bytes;
	COUNT(MALLOC);
	if (__builtin_mul_overflow(number, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(data, bytes);
}

void *aligned_alloc(size_t alignment, size_t size) {
	COUNT(MALLOC);
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **data, size_t alignment, size_t size) {
	COUNT(MALLOC);
	*data = __libc_memalign(alignment, size);
	return *data == NULL ? ENOMEM : 0;
}

void free(void *data) {
	if (data != NULL) {
		COUNT(FREE);
	}
	__libc_free(data);
}

/* --- mappings --------------------------------------------------------------------------------- */

BOTH_NAMES(void *, map, "mmap", "mmap64", void *data, size_t size, int protection, int flags,
		int fd, off_t offset);

void *map(void *data, size_t size, int protection, int flags, int fd, off_t offset) {
	COUNT(MAP);
	return map_call(data, size, protection, flags, fd, offset);
}

void *mremap(void *data, size_t size, size_t wanted, int flags, ...) {
	va_list args;
	va_start(args, flags);
	void *to = (flags & MREMAP_FIXED) != 0 ? va_arg(args, void *) : NULL;
	va_end(args);
	COUNT(MAP);
	return (void *)syscall(SYS_mremap, data, size, wanted, flags, to);
}

int munmap(void *data, size_t size) {
	COUNT(UNMAP);
	return (int)syscall(SYS_munmap, data, size);
}

/* --- descriptors ------------------------------------------------------------------------------ */

static int open_file(int at, const char *path, int flags, va_list args) {
	mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
	return (int)syscall(SYS_openat, at, path, flags, mode);
}

BOTH_NAMES(int, open_path, "open", "open64", const char *path, int flags, ...);

int open_path(const char *path, int flags, ...) {
	va_list args;
	COUNT(OPEN);
	va_start(args, flags);
	int fd = open_file(AT_FDCWD, path, flags, args);
	va_end(args);
	return fd;
}

BOTH_NAMES(int, open_at, "openat", "openat64", int at, const char *path, int flags, ...);

int open_at(int at, const char *path, int flags, ...) {
	va_list args;
	COUNT(OPEN);
	va_start(args, flags);
	int fd = open_file(at, path, flags, args);
	va_end(args);
	return fd;
}

BOTH_NAMES(FILE *, open_stream, "fopen", "fopen64", const char *path, const char *mode);

FILE *open_stream(const char *path, const char *mode) {
	static FILE *(*real)(const char *, const char *);
	COUNT(OPEN);
	if (real == NULL) {
		*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	}
	return real(path, mode);
}

int socket(int domain, int type, int protocol) {
	COUNT(OPEN);
	return (int)syscall(SYS_socket, domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
	COUNT(OPEN);
	return (int)syscall(SYS_socketpair, domain, type, protocol, ends);
}

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags) {
	COUNT(ACCEPT);
	return (int)syscall(SYS_accept4, fd, address, size, flags);
}

int memfd_create(const char *name, unsigned flags) {
	COUNT(OPEN);
	return (int)syscall(SYS_memfd_create, name, flags);
}

int eventfd(unsigned value, int flags) {
	COUNT(OPEN);
	return (int)syscall(SYS_eventfd2, value, flags);
}

int timerfd_create(clockid_t clock, int flags) {
	COUNT(OPEN);
	return (int)syscall(SYS_timerfd_create, clock, flags);
}

int epoll_create1(int flags) {
	COUNT(OPEN);
	return (int)syscall(SYS_epoll_create1, flags);
}

int pipe2(int ends[2], int flags) {
	COUNT(OPEN);
	return (int)syscall(SYS_pipe2, ends, flags);
}

int dup(int fd) {
	COUNT(OPEN);
	return (int)syscall(SYS_dup, fd);
}

int dup3(int fd, int other, int flags) {
	COUNT(OPEN);
	return (int)syscall(SYS_dup3, fd, other, flags);
}

BOTH_NAMES(int, control, "fcntl", "fcntl64", int fd, int command, ...);

int control(int fd, int command, ...) {
	va_list args;
	va_start(args, command);
	void *argument = va_arg(args, void *);
	va_end(args);
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
		COUNT(OPEN);
	}
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

/* --- threads ---------------------------------------------------------------------------------- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		void *data) {
	COUNT(THREAD);
	return begin_thread(thread, attributes, run, data);
}
