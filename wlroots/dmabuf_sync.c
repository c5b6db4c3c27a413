// SPDX-License-Identifier: MIT
#include "dmabuf_sync.h"

#include <errno.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 2000000

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

/* Interrupts this thread again and again until it is deleted. Returns whether there is one. */
static bool start_timer(timer_t *timer) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, choose_signal);
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal_number};
	event._sigev_un._tid = gettid();
	const struct itimerspec times = {{0, WAIT_NS}, {0, WAIT_NS}};
	if (signal_number == 0 || timer_create(CLOCK_MONOTONIC, &event, timer) != 0) {
		return false;
	}
	if (timer_settime(*timer, 0, &times, NULL) != 0) {
		timer_delete(*timer);
		return false;
	}
	return true;
}

/* --- dma-bufs --------------------------------------------------------------------------------- */

bool dmabuf_is_drawn(int fd) {
	struct pollfd fence = {.fd = fd, .events = POLLIN};
	return poll(&fence, 1, 0) != 0;
}

bool dmabuf_begin_read(int fd) {
	struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ};
	timer_t timer;
	if (!dmabuf_is_drawn(fd) || !start_timer(&timer)) {
		return false;
	}
	int ret;
	do {
		ret = ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync);
	} while (ret < 0 && errno == EAGAIN);
	bool begun = ret == 0 || errno != EINTR; /* not every dma-buf has caches to be told of */
	timer_delete(timer);
	return begun;
}

void dmabuf_end_read(int fd) {
	struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ};
	while (ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync) < 0 && (errno == EINTR || errno == EAGAIN)) {
	}
}
