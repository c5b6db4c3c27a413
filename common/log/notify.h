// SPDX-License-Identifier: MIT
/**
 * Tells systemd by the protocol of sd_notify(3) that the program is ready, and feeds its watchdog.
 * Never waits for systemd: a message for which there is no room is sent again later. The socket
 * stays open, so that a sign of life opens nothing.
 */
#ifndef GID_NOTIFY_H
#define GID_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

struct notify {
	int fd;		      /* -1: there is no $NOTIFY_SOCKET */
	bool owes_ready;      /* there was no room for READY=1 */
	uint64_t interval_ns; /* how often a sign of life goes out; 0: none */
	uint64_t next;	      /* CLOCK_MONOTONIC ns */
};

/* By $NOTIFY_SOCKET and $WATCHDOG_USEC. */
void notify_init(struct notify *notify);
void notify_finish(struct notify *notify);

/* The program is ready: clients can connect. If there is no room, notify_alive() says it again. */
void notify_ready(struct notify *notify);

/*
 * Sends what notify_ready() could not, and a sign of life if one is due. To be called more often
 * than every `interval_ns`.
 */
void notify_alive(struct notify *notify, uint64_t now);

#endif
