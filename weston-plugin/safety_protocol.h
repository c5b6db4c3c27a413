// SPDX-License-Identifier: MIT
/**
 * gid-safety-v1: lets the clients that weston.ini names request their roles. Also filters the seats
 * of clients that own configured windows.
 */
#ifndef GID_WESTON_SAFETY_PROTOCOL_H
#define GID_WESTON_SAFETY_PROTOCOL_H

#include "safety_parts.h"

/* Does nothing unless some role or window names clients. Returns 0 or -ENOMEM. */
int safety_protocol_create_global(struct safety *safety);
void safety_protocol_destroy_global(struct safety *safety);

#endif
