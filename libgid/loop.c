// SPDX-License-Identifier: MIT
#include "loop.h"

#include <errno.h>
#include <gid/gid.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "socket.h"

#define DISPATCH_MAX 256
#define TURN_NS 1000000ull
#define NS_PER_S 1000000000ull

struct gid_watch {
	struct gid_watch *next;
	int fd;
	void (*ready)(void *data);
	void *data;
};

static struct gid_timer *first_timer(struct gid_loop *loop) {
	struct gid_timer *first = NULL;
	for (struct gid_timer *t = loop->timers.next; t != &loop->timers; t = t->next) {
		if (first == NULL || t->deadline < first->deadline) {
			first = t;
		}
	}
	return first;
}

static void set_timer_fd(struct gid_loop *loop) {
	struct itimerspec spec = {0};
	struct gid_timer *first = first_timer(loop);
	if (first != NULL) {
		/* A time of zero would disarm. */
		uint64_t deadline = first->deadline == 0 ? 1 : first->deadline;
		spec.it_value.tv_sec = (time_t)(deadline / NS_PER_S);
		spec.it_value.tv_nsec = (long)(deadline % NS_PER_S);
	}
	timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void unlink_timer(struct gid_timer *timer) {
	if (timer->next != NULL) {
		timer->prev->next = timer->next;
		timer->next->prev = timer->prev;
		timer->prev = timer->next = NULL;
	}
}

void gid_loop_arm(struct gid_loop *loop, struct gid_timer *timer, uint64_t deadline) {
	unlink_timer(timer);
	timer->deadline = deadline;
	timer->prev = loop->timers.prev;
	timer->next = &loop->timers;
	timer->prev->next = timer;
	loop->timers.prev = timer;
	set_timer_fd(loop);
}

void gid_loop_disarm(struct gid_loop *loop, struct gid_timer *timer) {
	if (timer->next != NULL) {
		unlink_timer(timer);
		set_timer_fd(loop);
	}
}

bool gid_loop_is_over(const struct gid_loop *loop) {
	return loop->turn_ends != 0 && gid_clock_now() >= loop->turn_ends;
}

/*
 * Runs the timers that are due, earliest first, including those that callbacks arm; at least one,
 * then until the turn is over. Other domains choose how many come at one moment, as by ending all
 * of their streams.
 */
static void run_timers(struct gid_loop *loop) {
	uint64_t now = gid_clock_now();
	struct gid_timer *first;
	while ((first = first_timer(loop)) != NULL && first->deadline <= now) {
		unlink_timer(first);
		first->expired(first->data);
		if (gid_loop_is_over(loop)) {
			break;
		}
	}
	set_timer_fd(loop);
}

static int watch_for(struct gid_loop *loop, uint32_t events, int fd, void (*ready)(void *data),
		void *data) {
	struct gid_watch *watch = malloc(sizeof(*watch));
	if (watch == NULL) {
		return -ENOMEM;
	}
	*watch = (struct gid_watch){loop->watches, fd, ready, data};
	struct epoll_event event = {.events = events, .data.ptr = watch};
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		int error = -errno;
		free(watch);
		return error;
	}
	loop->watches = watch;
	return 0;
}

int gid_loop_watch(struct gid_loop *loop, int fd, void (*ready)(void *data), void *data) {
	return watch_for(loop, EPOLLIN, fd, ready, data);
}

int gid_loop_watch_edges(struct gid_loop *loop, int fd, void (*ready)(void *data), void *data) {
	return watch_for(loop, EPOLLIN | EPOLLET, fd, ready, data);
}

void gid_loop_unwatch(struct gid_loop *loop, int fd) {
	for (struct gid_watch **at = &loop->watches; *at != NULL; at = &(*at)->next) {
		struct gid_watch *watch = *at;
		if (watch->fd == fd) {
			*at = watch->next;
			epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
			free(watch);
			return;
		}
	}
}

void gid_loop_dispatch(struct gid_loop *loop) {
	const uint64_t outer = loop->turn_ends;
	loop->turn_ends = gid_clock_now() + TURN_NS;
	for (int i = 0; i < DISPATCH_MAX; i++) {
		/* One at a time: a callback may remove the watch that would have been next. */
		struct epoll_event event;
		if (epoll_wait(loop->epoll_fd, &event, 1, 0) <= 0) {
			break;
		}
		struct gid_watch *watch = event.data.ptr;
		if (watch == NULL) {
			run_timers(loop);
		} else {
			watch->ready(watch->data);
		}
		if (gid_loop_is_over(loop)) {
			break;
		}
	}
	loop->turn_ends = outer;
}

static void close_own(int *fd) {
	if (*fd >= 0) {
		close(*fd);
	}
	*fd = -1;
}

int gid_loop_init(struct gid_loop *loop) {
	*loop = (struct gid_loop){.epoll_fd = -1, .timer_fd = -1};
	loop->timers.prev = loop->timers.next = &loop->timers;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN};
	if (loop->epoll_fd < 0 || loop->timer_fd < 0 ||
			epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->timer_fd, &event) < 0) {
		int error = -errno;
		gid_loop_finish(loop);
		return error;
	}
	return 0;
}

void gid_loop_finish(struct gid_loop *loop) {
	while (loop->watches != NULL) {
		gid_loop_unwatch(loop, loop->watches->fd);
	}
	close_own(&loop->timer_fd);
	close_own(&loop->epoll_fd);
}
