// SPDX-License-Identifier: MIT
/** The doorbell of a guest: its device, through VFIO. */
#ifndef GIDD_DOORBELL_VFIO_H
#define GIDD_DOORBELL_VFIO_H

#include "doorbell_device.h"

/* -ENODEV: there is none. `why`, of 192 bytes, says what is wrong with one that is there. */
int doorbell_vfio_open(
		struct gidd *gidd, doorbell_heard heard, struct doorbell **doorbell, char *why);

#endif
