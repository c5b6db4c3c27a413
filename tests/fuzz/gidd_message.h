// SPDX-License-Identifier: MIT
/** The messages that clients and links of the target `gidd` send: about the same few things. */
#ifndef FUZZ_GIDD_MESSAGE_H
#define FUZZ_GIDD_MESSAGE_H

#include "fuzz.h"
#include "wire.h"

/* Makes the descriptors to choose from. */
void gidd_message_init(void);

/*
 * A message and its descriptors, which stay ours: their number is returned. Mostly one that a peer
 * could send, with descriptors of the right kinds.
 */
uint32_t gidd_message_make(union gid_wire_message *message, int fds[2], struct input *input);

/* The descriptors that the message needs, of the right kinds, which stay ours. */
uint32_t gidd_message_fds(const union gid_wire_message *message, int fds[2]);

#endif
