// SPDX-License-Identifier: MIT
/** Processors that read and write dma-bufs: they wait for no device without a bound. */
#include "dmabuf.h"

#include <errno.h>
#include <gid/domain.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 2000000
#define TRIES 4 /* of an ioctl */

/* --- calls that wait for a limited time ------------------------------------------------------- */

static int signal_number; /* 0: all are in use */

static void handle_signal(int number) {
	/* the call that it interrupts returns */
}

static void choose_signal(void) {
	const struct sigaction action = {.sa_handler = handle_signal};
	for (int number = SIGRTMAX; number > SIGRTMIN && signal_number == 0; number--) {
		struct sigaction old;
		if (sigaction(number, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
				old.sa_handler == SIG_DFL &&
				sigaction(number, &action, NULL) == 0) {
			signal_number = number;
		}
	}
}

/*
 * Interrupts this thread again and again until it is ended, whatever signals the thread takes
 * otherwise. Returns whether there is one.
 */
struct interrupter {
	timer_t timer;
	sigset_t mask; /* the thread's own */
};

static void interrupter_end(struct interrupter *interrupter) {
	timer_delete(interrupter->timer);
	pthread_sigmask(SIG_SETMASK, &interrupter->mask, NULL);
}

static bool interrupter_start(struct interrupter *interrupter) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, choose_signal);
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal_number};
	event._sigev_un._tid = gettid();
	const struct itimerspec times = {{0, WAIT_NS}, {0, WAIT_NS}};
	sigset_t ours;
	sigemptyset(&ours);
	if (signal_number == 0 || sigaddset(&ours, signal_number) != 0 ||
			timer_create(CLOCK_MONOTONIC, &event, &interrupter->timer) != 0) {
		return false;
	}
	pthread_sigmask(SIG_UNBLOCK, &ours, &interrupter->mask);
	if (timer_settime(interrupter->timer, 0, &times, NULL) != 0) {
		interrupter_end(interrupter);
		return false;
	}
	return true;
}

/* --- dma-bufs --------------------------------------------------------------------------------- */

bool gid_dmabuf_is_drawn(int fd) {
	struct pollfd fence = {.fd = fd, .events = POLLIN};
	return poll(&fence, 1, 0) != 0;
}

/*
 * Tells the kernel of an access. Returns 0 or -errno: -EINTR where the device was at work for too
 * long, and -EAGAIN where its driver asks to be called again and again. An end is told all the
 * same where a signal came: what was written may be in the processor's cache only.
 */
static int tell(int fd, uint64_t flags) {
	struct dma_buf_sync sync = {.flags = flags};
	bool is_end = flags & DMA_BUF_SYNC_END;
	struct interrupter interrupter;
	if (!interrupter_start(&interrupter)) {
		return -EAGAIN;
	}
	int ret = -EAGAIN;
	for (int tries = 0; tries < TRIES; tries++) {
		ret = ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync) == 0 ? 0 : -errno;
		if (ret != -EAGAIN && !(ret == -EINTR && is_end)) {
			break;
		}
	}
	interrupter_end(&interrupter);
	return ret;
}

bool gid_dmabuf_begin(int fd, uint64_t access) {
	if (!gid_dmabuf_is_drawn(fd)) {
		return false;
	}
	int ret = tell(fd, DMA_BUF_SYNC_START | access);
	return ret != -EINTR && ret != -EAGAIN; /* not every dma-buf has caches to be told of */
}

void gid_dmabuf_end(int fd, uint64_t access) {
	tell(fd, DMA_BUF_SYNC_END | access);
}

int gid_dmabuf_begin_read(int fd) {
	return gid_dmabuf_begin(fd, DMA_BUF_SYNC_READ) ? 0 : -EAGAIN;
}

void gid_dmabuf_end_read(int fd) {
	gid_dmabuf_end(fd, DMA_BUF_SYNC_READ);
}
