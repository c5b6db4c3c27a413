// SPDX-License-Identifier: MIT
/**
 * gid-safety-v1: how the clients that weston.ini names ask for the roles that it has for them. And
 * which seats those see that it names for windows.
 */
#ifndef GID_WESTON_SAFETY_PROTOCOL_H
#define GID_WESTON_SAFETY_PROTOCOL_H

#include "safety_parts.h"

/* Where some role or window names clients. Returns 0 or -ENOMEM. */
int safety_protocol_create_global(struct safety *safety);
void safety_protocol_destroy_global(struct safety *safety);

#endif
