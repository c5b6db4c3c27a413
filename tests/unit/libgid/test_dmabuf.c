// SPDX-License-Identifier: MIT
/*
 * Processors wait for no device without a bound. ioctl() and an eventfd stand for a dma-buf: the
 * eventfd cannot be read before it is "drawn", and the ioctl may wait as the kernel does, until a
 * signal comes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <gid/domain.h>
#include <linux/dma-buf.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "tap.h"

#define SIZE 4096

static bool waits;	  /* the device begins anew */
static unsigned asks;	  /* how often its driver wants to be called again */
static unsigned signals;  /* how many come to the process meanwhile */
static bool has_no_timer; /* the kernel */
static bool starts_no_timer;
static unsigned begun, ended; /* as the kernel was told */
static uint64_t access_told;

int ioctl(int fd, unsigned long request, ...) {
	va_list arguments;
	va_start(arguments, request);
	const struct dma_buf_sync *sync = va_arg(arguments, void *);
	va_end(arguments);
	if (request != DMA_BUF_IOCTL_SYNC) {
		errno = ENOTTY;
		return -1;
	}
	access_told = sync->flags & DMA_BUF_SYNC_RW;
	begun += !(sync->flags & DMA_BUF_SYNC_END);
	ended += (sync->flags & DMA_BUF_SYNC_END) != 0;
	if (asks > 0 || signals > 0) {
		unsigned *left = asks > 0 ? &asks : &signals;
		errno = asks > 0 ? EAGAIN : EINTR;
		(*left)--;
		return -1;
	}
	const struct timespec minute = {60, 0};
	return waits ? nanosleep(&minute, NULL) : 0;
}

int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
	int (*real)(clockid_t, struct sigevent *, timer_t *) = dlsym(RTLD_NEXT, "timer_create");
	errno = EAGAIN;
	return has_no_timer ? -1 : real(clock, event, timer);
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *new, struct itimerspec *old) {
	int (*real)(timer_t, int, const struct itimerspec *, struct itimerspec *) =
			dlsym(RTLD_NEXT, "timer_settime");
	errno = EINVAL;
	return starts_no_timer ? -1 : real(timer, flags, new, old);
}

/* Whether what it is told of takes no longer than a device may be waited for, and much more. */
static bool is_bounded(uint64_t begin) {
	return gid_clock_now() - begin < 2000000000;
}

static void test_reading(int fence) {
	begun = ended = 0;
	tap_ok(!gid_dmabuf_is_drawn(fence) && gid_dmabuf_begin_read(fence) == -EAGAIN && begun == 0,
			"a picture that is being drawn is not read, and its device not asked");
	eventfd_write(fence, 1);
	tap_ok(gid_dmabuf_is_drawn(fence) && gid_dmabuf_begin_read(fence) == 0,
			"one that is drawn is");
	gid_dmabuf_end_read(fence);
	tap_ok(begun == 1 && ended == 1 && access_told == DMA_BUF_SYNC_READ,
			"and the kernel is told before and after");
}

static void test_waiting(int fence, const char *who) {
	begun = ended = 0;
	waits = true;
	uint64_t begin = gid_clock_now();
	int ret = gid_dmabuf_begin_read(fence);
	tap_ok(ret == -EAGAIN && begun == 1 && is_bounded(begin),
			"a device that begins anew is not waited for, %s", who);
	waits = false;
	tap_ok(ended == 0, "nor told of an end");
}

/* The kernel says EAGAIN for what may be asked again at once, as drivers do for a lock. */
static void test_asking(int fence) {
	const unsigned ever = 1000000, bound = 10;
	begun = ended = 0;
	asks = 2;
	tap_ok(gid_dmabuf_begin_read(fence) == 0 && begun == 3, "who asks again is called again");
	asks = 2;
	gid_dmabuf_end_read(fence);
	tap_ok(ended == 3, "at the end, too");
	begun = ended = 0;
	asks = ever;
	tap_ok(gid_dmabuf_begin_read(fence) == -EAGAIN && begun <= bound,
			"who asks for ever is not: the picture is not to be read now");
	asks = ever;
	gid_dmabuf_end_read(fence);
	tap_ok(ended <= bound, "nor is it told of an end for ever");
	asks = 0;
}

static void test_signals(int fence) {
	const unsigned ever = 1000000, bound = 10;
	begun = ended = 0;
	signals = 1;
	tap_ok(gid_dmabuf_begin_read(fence) == -EAGAIN && begun == 1,
			"a signal is taken for a device that is at work");
	signals = 1;
	gid_dmabuf_end_read(fence);
	tap_ok(ended == 2, "the end is told all the same");
	ended = 0;
	signals = ever;
	gid_dmabuf_end_read(fence);
	tap_ok(ended <= bound, "but not for ever");
	signals = 0;
	ended = 0;
	waits = true;
	uint64_t begin = gid_clock_now();
	gid_dmabuf_end_read(fence);
	tap_ok(ended <= bound && is_bounded(begin), "nor is a device waited for at the end");
	waits = false;
}

/* Without a timer nothing would interrupt the call. */
static void test_no_timer(int fence) {
	bool *const failures[] = {&has_no_timer, &starts_no_timer};
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		begun = 0;
		*failures[i] = true;
		tap_ok(gid_dmabuf_begin_read(fence) == -EAGAIN && begun == 0,
				"without a timer nothing is read: %s",
				i == 0 ? "none" : "not started");
		*failures[i] = false;
	}
}

static bool masks_are_equal(const sigset_t *one, const sigset_t *other) {
	for (int number = 1; number < SIGRTMAX; number++) {
		if (sigismember(one, number) != sigismember(other, number)) {
			return false;
		}
	}
	return true;
}

/* As in a program that has one thread for all signals. */
static void *run_without_signals(void *fence) {
	sigset_t all, before, after;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	test_waiting(*(int *)fence, "by a thread that takes no signals");
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	tap_ok(masks_are_equal(&before, &after), "which takes none afterwards, either");
	return NULL;
}

/* Revoked memory is overwritten at once. */
static void test_wiping(void) {
	int fd = memfd_create("picture", MFD_CLOEXEC);
	char *data = ftruncate(fd, SIZE) == 0
			? mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
			: MAP_FAILED;
	if (!tap_ok(data != MAP_FAILED, "there is memory")) {
		return;
	}
	begun = ended = 0;
	data[0] = 1;
	tap_ok(gid_memory_wipe(fd, 0, SIZE) == 0 && data[0] == 0 && begun == 1 && ended == 1 &&
					access_told == DMA_BUF_SYNC_WRITE,
			"memory is overwritten, and the kernel told");
	data[0] = 1;
	waits = true;
	uint64_t begin = gid_clock_now();
	tap_ok(gid_memory_wipe(fd, 0, SIZE) == 0 && data[0] == 0 && is_bounded(begin),
			"also if its device is at work for ever");
	waits = false;
	munmap(data, SIZE);
	close(fd);
}

int main(void) {
	int fence = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_t thread;
	test_reading(fence);
	test_asking(fence);
	test_signals(fence);
	test_no_timer(fence);
	test_waiting(fence, "by the main thread");
	if (tap_ok(pthread_create(&thread, NULL, run_without_signals, &fence) == 0,
			    "another thread")) {
		pthread_join(thread, NULL);
	}
	test_wiping();
	close(fence);
	return tap_finish();
}
