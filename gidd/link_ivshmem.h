// SPDX-License-Identifier: MIT
/**
 * The inside of a link to another machine. link_ivshmem.c: messages, memory, the clock, and whether
 * anybody is there; link_ivshmem_bell.c: doorbells.
 */
#ifndef GIDD_LINK_IVSHMEM_H
#define GIDD_LINK_IVSHMEM_H

#include "bell.h"
#include "clock.h"
#include "link.h"

struct ivshmem {
	struct link *link;
	bool there;    /* the hub has joined us */
	bool greeting; /* link_connected() was called */
	bool parting, parting_for_fault;
	uint32_t epoch, pongs;
	char why[192];
	sd_event_source *part, *ping;
	/*
	 * Who says nothing for so long is gone. Counted by our own rounds of asking, not by the
	 * clock: while this gidd gets no time to run it cannot hear anybody.
	 */
	uint64_t silence_us, silent_us, round_us;
	struct bells bells;
	uint64_t device; /* the cookie of the device that the other end hears; 0: none */
	struct clock clock;
	/* HELLO, where it came while we were still asking for the time. */
	bool has_early;
	union gid_wire_message early;
};

/* The link to the domain, or NULL: there is none, or it is of another kind. */
struct ivshmem *ivshmem_find(struct gidd *gidd, uint32_t domain);

/* --- link_ivshmem_bell.c --- */

/* A client of ours rang, or hung up: the handler of `bells`. */
void ivshmem_client_rang(void *data, uint32_t number, bool hung_up);
/* BELL from the other end. */
void ivshmem_handle_bell(struct ivshmem *ivshmem, const struct gid_wire_bell *bell);

/* Tells the other end which doorbell device is ours, and hears which one is its. */
void ivshmem_send_device(struct ivshmem *ivshmem);
void ivshmem_handle_device(struct ivshmem *ivshmem, const struct gid_wire_device *device);

#endif
