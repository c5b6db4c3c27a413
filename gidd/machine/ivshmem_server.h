// SPDX-License-Identifier: MIT
/** The doorbell of the hub, which serves the guests' doorbell devices. */
#ifndef GIDD_IVSHMEM_SERVER_H
#define GIDD_IVSHMEM_SERVER_H

#include "doorbell_device.h"

/* A socket for each guest at RUNTIME/bell/NAME.sock, to which its QEMU connects. 0 or -errno. */
int ivshmem_server_open(struct gidd *gidd, doorbell_heard heard, struct doorbell **doorbell);

#endif
