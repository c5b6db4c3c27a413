// SPDX-License-Identifier: MIT
/**
 * What systemd is told by sd_notify's protocol: that the program runs, and, where it watches, that
 * it still does. Never waits for systemd: what finds no room is not told, and told again. Its
 * socket stays open, so that nothing is opened for a sign of life.
 */
#ifndef GID_NOTIFY_H
#define GID_NOTIFY_H

#include <stdint.h>

struct notify {
	int fd;		      /* -1: nobody wants to know */
	uint64_t interval_ns; /* how often a sign of life goes out; 0: none */
	uint64_t next;	      /* CLOCK_MONOTONIC ns */
};

/* As $NOTIFY_SOCKET and $WATCHDOG_USEC have it. */
void notify_init(struct notify *notify);
void notify_finish(struct notify *notify);

/* Clients can come now. */
void notify_ready(const struct notify *notify);

/* To be called more often than that. */
void notify_alive(struct notify *notify, uint64_t now);

#endif
