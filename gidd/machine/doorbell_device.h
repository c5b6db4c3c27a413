// SPDX-License-Identifier: MIT
/**
 * Doorbells between machines by a device, QEMU's ivshmem-doorbell: a ring goes through the
 * hypervisors, past the hub. A domain knows who rang by the descriptor that became readable.
 *
 * Two kinds: ivshmem_server.c, the host, which serves the devices and needs none; doorbell_vfio.c,
 * a guest's device. Whoever opens the transport opens one of them.
 */
#ifndef GIDD_DOORBELL_DEVICE_H
#define GIDD_DOORBELL_DEVICE_H

#include "gidd.h"

struct doorbell;

/* A vector for one subscription alone, by which one other domain rings one client. */
struct doorbell_vector {
	uint32_t domain, index; /* who rings it, and what that one calls it */
	uint32_t number;	/* among all vectors of the device */
	int fd;			/* the eventfd that hears it: the device's */
};

/* What rings and hears for a domain. */
struct doorbell_kind {
	/* Never blocks. -errno where the domain cannot be rung that way. */
	int (*ring)(void *data, uint32_t domain);
	/* The vector is rung too often: ignore it for a while; or listen again. */
	void (*mute)(void *data, uint32_t vector, bool mute);
	void (*close)(void *data);
	/* As the functions below. */
	int (*take)(void *data, uint32_t domain, uid_t user, struct doorbell_vector *vector);
	void (*give_back)(void *data, const struct doorbell_vector *vector);
	int (*open_ringer)(void *data, uint32_t domain, uint32_t index, uid_t user, int *fd);
	void (*close_ringer)(void *data, uint32_t domain, uint32_t index, int fd);
};

/* Somebody rang, since this was last called. */
typedef void (*doorbell_heard)(struct gidd *gidd, uint32_t domain);

/* The domain's, if it has one. */
void doorbell_close(struct gidd *gidd);

/* Tells one set of devices from another: only domains of the same one can ring each other. 0: none.
 */
uint64_t doorbell_cookie(const struct gidd *gidd);

/* Rings the domain; false: it cannot be rung that way. */
bool doorbell_ring(struct gidd *gidd, uint32_t domain);

/*
 * Takes a vector of the pool that the domain rings, for a client of that user, who may be given its
 * descriptor. -ENOSPC: none is left; -ENOTSUP.
 */
int doorbell_take(struct gidd *gidd, uint32_t domain, uid_t user, struct doorbell_vector *vector);
/* Gives the vector back to the pool. */
void doorbell_give_back(struct gidd *gidd, const struct doorbell_vector *vector);
/* It is rung too often: gidd listens to it, as by doorbell_listen(), until it is given back. */
int doorbell_relay(struct gidd *gidd, const struct doorbell_vector *vector);

/*
 * An eventfd that rings the vector which the domain has taken and calls `index`, to be given to a
 * client of that user. It is the device's until closed here.
 */
int doorbell_open_ringer(struct gidd *gidd, uint32_t domain, uint32_t index, uid_t user, int *fd);
void doorbell_close_ringer(struct gidd *gidd, uint32_t domain, uint32_t index, int fd);

/*
 * For kinds. One set of devices with what hears of it: `data` is closed with it. Or NULL, and
 * `data` stays the caller's.
 */
struct doorbell *doorbell_create(struct gidd *gidd, doorbell_heard heard, uint64_t cookie,
		const struct doorbell_kind *kind, void *data);
void doorbell_destroy(struct doorbell *doorbell);
/* Hears from now on what makes that eventfd readable; it stays the caller's, and is never read. */
int doorbell_listen(struct doorbell *doorbell, uint32_t vector, uint32_t domain, int fd);

/* More rings than that in so short a time are heard as one, when the time is over. */
#define DOORBELL_BURST 64u
#define DOORBELL_BURST_US 10000u

#endif
