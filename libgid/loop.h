// SPDX-License-Identifier: MIT
/** What a domain waits for, behind one epoll descriptor: descriptors and times. */
#ifndef GID_LOOP_H
#define GID_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* Embedded in its owner, who disarms it before it goes. */
struct gid_timer {
	struct gid_timer *prev, *next; /* NULL while not armed */
	uint64_t deadline;	       /* CLOCK_MONOTONIC ns */
	void (*expired)(void *data);
	void *data;
};

struct gid_watch;

struct gid_loop {
	int epoll_fd; /* -1 before gid_loop_init() */
	int timer_fd; /* set to the earliest deadline */
	struct gid_timer timers;
	struct gid_watch *watches;
	uint64_t turn_ends; /* of the dispatch that is under way; 0: none is */
};

int gid_loop_init(struct gid_loop *loop);
void gid_loop_finish(struct gid_loop *loop);

/*
 * Calls what is due: at most some hundred callbacks, for at most a millisecond. What is left keeps
 * the descriptor readable, so that other work of the caller has its turn. Callbacks may add and
 * remove anything.
 */
void gid_loop_dispatch(struct gid_loop *loop);

/* Whether the turn is over: a callback with more to do leaves it to the next dispatch. */
bool gid_loop_is_over(const struct gid_loop *loop);

/* `ready` runs as long as the descriptor is readable or hung up. */
int gid_loop_watch(struct gid_loop *loop, int fd, void (*ready)(void *data), void *data);
/* `ready` runs once each time that the descriptor, which is not read, becomes readable again. */
int gid_loop_watch_edges(struct gid_loop *loop, int fd, void (*ready)(void *data), void *data);
void gid_loop_unwatch(struct gid_loop *loop, int fd);

/* Arms the timer, anew where it was; a deadline in the past is due at the next dispatch. */
void gid_loop_arm(struct gid_loop *loop, struct gid_timer *timer, uint64_t deadline);
void gid_loop_disarm(struct gid_loop *loop, struct gid_timer *timer);

#endif
