// SPDX-License-Identifier: MIT
/**
 * Hears from the QEMU of a guest that it restores the machine, while that stands still: QEMU waits
 * for the answer. It asks by D-Bus, as it asks all programs outside that have a part of a machine's
 * state (its object dbus-vmstate): there the hub is a bus, and the only program on it.
 */
#ifndef GIDD_HUB_RESTORE_H
#define GIDD_HUB_RESTORE_H

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "listener.h"
#include "log.h"

/* The machine is set back to what it was before. 0; or -errno: QEMU is to leave that. */
typedef int (*hub_restored)(void *data);

struct hub_restore {
	struct listener listener;
	sd_bus *bus; /* of the QEMU that came last; NULL: it is not there */
	sd_event_source *io;
	int feed;	   /* by which the bus gets what came from there; while there is `io` */
	size_t unheard;	   /* bytes that it got since the last one that was whole */
	bool loaded;	   /* once, since it was heard last: others have their turn, too */
	log_source source; /* of what that QEMU brings about */
	hub_restored restored;
	void *data;
};

/* Listens at `path`. 0 or -errno. */
int hub_restore_open(struct hub_restore *restore, sd_event *event, const char *path,
		const struct listener_access *access, log_source source, hub_restored restored,
		void *data);
/* Also of one that was never opened, all zeroes but listener.fd = -1. */
void hub_restore_close(struct hub_restore *restore);

#endif
