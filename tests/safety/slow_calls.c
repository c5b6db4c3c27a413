// SPDX-License-Identifier: MIT
/*
 * To be preloaded to a program that has a display: each call that may wait for another program, or
 * for a disk, takes SLOW_CALLS_MS longer when the display's own thread, the first, makes it from
 * one of our own objects; and is written down in the file SLOW_CALLS. From the first turn of the
 * event loop on, for until then nobody is kept waiting.
 *
 * Which calls these are is said once, here. What can be told to return at once, and is, is none of
 * them: a descriptor with O_NONBLOCK, MSG_DONTWAIT, WNOHANG, a time limit of 0. Nor is what
 * concerns this kernel alone: memory, timers, events, /proc and /sys.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/dma-buf.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "descriptors.h"
#include "map_call.h"
#include "pages.h"

/* More pages than that, in one turn of the event loop, take a part of a refresh to be unmapped. */
#define UNMAPPED_MAX 2048u
/* And as much memory to be freed, which the last close of its file does. */
#define FREED_MAX (UNMAPPED_MAX * (off_t)4096)

/* The function that ours stands before. */
#define REAL(name) ((__typeof__(&(name)))(uintptr_t)find(#name))

static atomic_bool armed;
static size_t unmapped; /* pages, by the display's thread, in this turn */
static int report = -1;
static long slow_ms;

static void *find(const char *name) {
	void *found = dlsym(RTLD_NEXT, name);
	if (found == NULL) {
		abort();
	}
	return found;
}

__attribute__((constructor)) static void begin(void) {
	const char *path = getenv("SLOW_CALLS"), *ms = getenv("SLOW_CALLS_MS");
	if (path != NULL && ms != NULL) {
		report = (int)syscall(SYS_openat, AT_FDCWD, path,
				O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		slow_ms = atol(ms);
	}
}

static bool is_display(void) {
	return atomic_load(&armed) && syscall(SYS_gettid) == getpid();
}

/* Whether our own code calls: SLOW_CALLS_OF has a part of its objects' names, or several. */
static const char *our_object(const void *caller) {
	const char *names = getenv("SLOW_CALLS_OF");
	char name[64];
	Dl_info info;
	if (names == NULL || dladdr(caller, &info) == 0 || info.dli_fname == NULL) {
		return NULL;
	}
	const char *base = strrchr(info.dli_fname, '/');
	base = base != NULL ? base + 1 : info.dli_fname;
	while (sscanf(names, "%63[^,]", name) == 1) {
		if (strncmp(base, name, strlen(name)) == 0) {
			return base;
		}
		names += strlen(name);
		names += *names == ',';
	}
	return NULL;
}

/* One such call is made. */
static void slow(const char *call, const char *about, const void *caller) {
	int saved = errno;
	const char *object = report >= 0 && is_display() ? our_object(caller) : NULL;
	if (object != NULL) {
		Dl_info info;
		char line[512];
		dladdr(caller, &info);
		int length = snprintf(line, sizeof(line), "%s(%s) by %s+0x%zx\n", call, about,
				object, (size_t)((const char *)caller - (char *)info.dli_fbase));
		(void)!syscall(SYS_write, report, line, (size_t)length);
		struct timespec pause = {slow_ms / 1000, slow_ms % 1000 * 1000000};
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	errno = saved;
}

#define SLOW(call, about) slow(call, about, __builtin_return_address(0))

/* --- descriptors ------------------------------------------------------------------------------ */

static const char *describe(int fd, char text[static 160]) {
	char path[32], target[128];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	snprintf(text, 160, "%d: %s", fd, target);
	return text;
}

/* Of this kernel alone: memory, epoll, eventfd, timerfd, signalfd, pidfd, inotify, /proc. */
static bool is_kernels(int fd) {
	char text[160];
	const char *target = strchr(describe(fd, text), ' ') + 1;
	return strncmp(target, "/memfd:", 7) == 0 || strncmp(target, "anon_inode:", 11) == 0 ||
			strncmp(target, "/proc/", 6) == 0 || strncmp(target, "/sys/", 5) == 0;
}

/* A socket of ours that never got a connection: there is nothing in it. */
static bool is_unconnected(int fd) {
	struct sockaddr_storage peer;
	socklen_t size = sizeof(peer);
	return getpeername(fd, (struct sockaddr *)&peer, &size) < 0 && errno == ENOTCONN;
}

static bool waits(int fd, int flags) {
	int mode = fcntl(fd, F_GETFL);
	return (flags & MSG_DONTWAIT) == 0 && mode >= 0 && (mode & O_NONBLOCK) == 0 &&
			!is_kernels(fd);
}

#define SLOW_IF(condition, call, fd)                                                               \
	do {                                                                                       \
		char text[160];                                                                    \
		if (is_display() && (condition)) {                                                 \
			SLOW(call, describe(fd, text));                                            \
		}                                                                                  \
	} while (0)

/* Whether it may be the last descriptor, of anybody, of a file of much memory. */
static bool frees_much(int fd) {
	struct stat status;
	return fcntl(fd, F_GET_SEALS) >= 0 && fstat(fd, &status) == 0 &&
			status.st_blocks * 512 > FREED_MAX && count_descriptors(&status) == 1;
}

static bool may_last(int fd) {
	return is_kernels(fd) ? frees_much(fd) : !is_unconnected(fd);
}

/* Whatever it is: its last close may wait, and a file's each. */
int close(int fd) {
	SLOW_IF(may_last(fd), "close", fd);
	return REAL(close)(fd);
}

int dup2(int fd, int other) {
	SLOW_IF(fcntl(other, F_GETFD) >= 0 && may_last(other), "dup2", other);
	return REAL(dup2)(fd, other);
}

int dup3(int fd, int other, int flags) {
	SLOW_IF(fcntl(other, F_GETFD) >= 0 && may_last(other), "dup3", other);
	return REAL(dup3)(fd, other, flags);
}

ssize_t read(int fd, void *data, size_t size) {
	SLOW_IF(waits(fd, 0), "read", fd);
	return REAL(read)(fd, data, size);
}

ssize_t write(int fd, const void *data, size_t size) {
	SLOW_IF(waits(fd, 0), "write", fd);
	return REAL(write)(fd, data, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
	SLOW_IF(waits(fd, 0), "writev", fd);
	return REAL(writev)(fd, parts, count);
}

ssize_t recv(int fd, void *data, size_t size, int flags) {
	SLOW_IF(waits(fd, flags), "recv", fd);
	return REAL(recv)(fd, data, size, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
	SLOW_IF(waits(fd, flags), "recvmsg", fd);
	return REAL(recvmsg)(fd, message, flags);
}

ssize_t send(int fd, const void *data, size_t size, int flags) {
	SLOW_IF(waits(fd, flags), "send", fd);
	return REAL(send)(fd, data, size, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
	SLOW_IF(waits(fd, flags), "sendmsg", fd);
	return REAL(sendmsg)(fd, message, flags);
}

int connect(int fd, const struct sockaddr *address, socklen_t size) {
	SLOW_IF(waits(fd, 0), "connect", fd);
	return REAL(connect)(fd, address, size);
}

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags) {
	SLOW_IF(waits(fd, 0), "accept4", fd);
	return REAL(accept4)(fd, address, size, flags);
}

int fsync(int fd) {
	SLOW_IF(true, "fsync", fd);
	return REAL(fsync)(fd);
}

int fdatasync(int fd) {
	SLOW_IF(true, "fdatasync", fd);
	return REAL(fdatasync)(fd);
}

int ftruncate(int fd, off_t size) {
	SLOW_IF(!is_kernels(fd), "ftruncate", fd);
	return REAL(ftruncate)(fd, size);
}

int flock(int fd, int operation) {
	SLOW_IF((operation & LOCK_NB) == 0, "flock", fd);
	return REAL(flock)(fd, operation);
}

/* Asks the file system, whoever's it is. */
int fstatfs(int fd, struct statfs *found) {
	SLOW_IF(!is_kernels(fd), "fstatfs", fd);
	return REAL(fstatfs)(fd, found);
}

/* Waits for the fences of a device. */
int ioctl(int fd, unsigned long request, ...) {
	va_list args;
	va_start(args, request);
	void *argument = va_arg(args, void *);
	va_end(args);
	SLOW_IF(request == DMA_BUF_IOCTL_SYNC, "ioctl", fd);
	return REAL(ioctl)(fd, request, argument);
}

/* --- paths ------------------------------------------------------------------------------------ */

static bool is_foreign(const char *path) {
	return strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0 &&
			strncmp(path, "/dev/null", 9) != 0;
}

#define SLOW_PATH(call, path)                                                                      \
	do {                                                                                       \
		if (is_foreign(path)) {                                                            \
			SLOW(call, path);                                                          \
		}                                                                                  \
	} while (0)

int open(const char *path, int flags, ...) {
	va_list args;
	va_start(args, flags);
	mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
	va_end(args);
	SLOW_PATH("open", path);
	return REAL(open)(path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
	va_list args;
	va_start(args, flags);
	mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
	va_end(args);
	SLOW_PATH("openat", path);
	return REAL(openat)(at, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode) {
	SLOW_PATH("fopen", path);
	return REAL(fopen)(path, mode);
}

DIR *opendir(const char *path) {
	SLOW_PATH("opendir", path);
	return REAL(opendir)(path);
}

/* /proc/PID/exe is a file of whoever runs it. */
int stat(const char *path, struct stat *found) {
	if (is_foreign(path) || strstr(path, "/exe") != NULL) {
		SLOW("stat", path);
	}
	return REAL(stat)(path, found);
}

int lstat(const char *path, struct stat *found) {
	SLOW_PATH("lstat", path);
	return REAL(lstat)(path, found);
}

int statx(int at, const char *path, int flags, unsigned mask, struct statx *found) {
	if ((flags & AT_STATX_DONT_SYNC) == 0 &&
			(is_foreign(path) || strstr(path, "/exe") != NULL)) {
		SLOW("statx", path);
	}
	return REAL(statx)(at, path, flags, mask, found);
}

int access(const char *path, int mode) {
	SLOW_PATH("access", path);
	return REAL(access)(path, mode);
}

int unlink(const char *path) {
	SLOW_PATH("unlink", path);
	return REAL(unlink)(path);
}

int rename(const char *from, const char *to) {
	SLOW_PATH("rename", from);
	return REAL(rename)(from, to);
}

int mkdir(const char *path, mode_t mode) {
	SLOW_PATH("mkdir", path);
	return REAL(mkdir)(path, mode);
}

/* --- names, which a server may be asked for --------------------------------------------------- */

struct passwd *getpwnam(const char *name) {
	SLOW("getpwnam", name);
	return REAL(getpwnam)(name);
}

struct passwd *getpwuid(uid_t user) {
	SLOW("getpwuid", "");
	return REAL(getpwuid)(user);
}

struct group *getgrnam(const char *name) {
	SLOW("getgrnam", name);
	return REAL(getgrnam)(name);
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **found) {
	SLOW("getaddrinfo", node != NULL ? node : "");
	return REAL(getaddrinfo)(node, service, hints, found);
}

/* --- waits ------------------------------------------------------------------------------------ */

int poll(struct pollfd *fds, nfds_t count, int timeout) {
	if (timeout != 0) {
		SLOW("poll", "with a time limit");
	}
	return REAL(poll)(fds, count, timeout);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
	if (timeout == NULL || timeout->tv_sec != 0 || timeout->tv_nsec != 0) {
		SLOW("ppoll", "with a time limit");
	}
	return REAL(ppoll)(fds, count, timeout, mask);
}

/* The display's own waiting, for all that may happen, is the event loop's: libwayland's. */
int epoll_wait(int fd, struct epoll_event *events, int count, int timeout) {
	if (timeout != 0) {
		SLOW("epoll_wait", "with a time limit");
		if (syscall(SYS_gettid) == getpid()) {
			atomic_store(&armed, true);
			unmapped = 0;
		}
	}
	return REAL(epoll_wait)(fd, events, count, timeout);
}

int nanosleep(const struct timespec *time, struct timespec *left) {
	SLOW("nanosleep", "");
	return REAL(nanosleep)(time, left);
}

int clock_nanosleep(
		clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
	SLOW("clock_nanosleep", "");
	return REAL(clock_nanosleep)(clock, flags, time, left);
}

int usleep(useconds_t time) {
	SLOW("usleep", "");
	return REAL(usleep)(time);
}

unsigned sleep(unsigned seconds) {
	SLOW("sleep", "");
	return REAL(sleep)(seconds);
}

pid_t waitpid(pid_t pid, int *status, int flags) {
	if ((flags & WNOHANG) == 0) {
		SLOW("waitpid", "");
	}
	return REAL(waitpid)(pid, status, flags);
}

/* A thread that has ended is none to wait for. */
int pthread_join(pthread_t thread, void **result) {
	if (is_display()) {
		struct timespec soon;
		clock_gettime(CLOCK_REALTIME, &soon);
		soon.tv_sec += 1; /* it may be about to end: that is its own last call */
		int error = pthread_timedjoin_np(thread, result, &soon);
		if (error != ETIMEDOUT) {
			return error;
		}
		SLOW("pthread_join", "");
	}
	return REAL(pthread_join)(thread, result);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
	SLOW("pthread_cond_wait", "");
	return REAL(pthread_cond_wait)(condition, mutex);
}

int pthread_cond_timedwait(
		pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
	SLOW("pthread_cond_timedwait", "");
	return REAL(pthread_cond_timedwait)(condition, mutex, until);
}

int sem_wait(sem_t *semaphore) {
	SLOW("sem_wait", "");
	return REAL(sem_wait)(semaphore);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Also in place of what was there; together with all of this turn. */
static bool is_much(const void *data, size_t size) {
	if (!is_display()) {
		return false;
	}
	int pagemap = (int)syscall(
			SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
	unmapped += count_pages(pagemap, data, size);
	syscall(SYS_close, pagemap);
	bool much = unmapped > UNMAPPED_MAX;
	unmapped = much ? 0 : unmapped;
	return much;
}

int munmap(void *data, size_t size) {
	if (is_much(data, size)) {
		SLOW("munmap", "of much");
	}
	return REAL(munmap)(data, size);
}

void *mmap(void *data, size_t size, int protection, int flags, int fd, off_t offset) {
	if ((flags & MAP_FIXED) != 0 && is_much(data, size)) {
		SLOW("mmap", "in place of much");
	}
	return map_call(data, size, protection, flags, fd, offset);
}
