// SPDX-License-Identifier: MIT
/*
 * Processors wait for no device without a bound. ioctl() and an eventfd stand for a dma-buf: the
 * eventfd cannot be read before it is "drawn", and the ioctl may wait as the kernel does, until a
 * signal comes.
 */
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

static bool waits;	      /* the device begins anew */
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
	const struct timespec minute = {60, 0};
	return waits ? nanosleep(&minute, NULL) : 0;
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
	test_waiting(fence, "by the main thread");
	if (tap_ok(pthread_create(&thread, NULL, run_without_signals, &fence) == 0,
			    "another thread")) {
		pthread_join(thread, NULL);
	}
	test_wiping();
	close(fence);
	return tap_finish();
}
