// SPDX-License-Identifier: MIT
/**
 * Finds where the messages of a Wayland client begin and end, by the lengths in their headers.
 *
 * libwayland has 4096 bytes for what has arrived of a message. Since 1.23 it neither disconnects a
 * client that sends a longer one, nor reads on: the event loop reports the rest again and again,
 * and the client takes a whole processor. The same happens with a message of 4096 bytes of which
 * 4095 arrive first.
 *
 * Pure functions: any bytes are valid.
 */
#ifndef GID_WESTON_MESSAGE_FRAMES_H
#define GID_WESTON_MESSAGE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_HEAD 8u
/* In bytes, with the header. */
#define MESSAGE_MAX 4095u

/* Of one connection; all zero: nothing has arrived. */
struct message_frames {
	uint32_t left;		    /* bytes to come of the message whose header is complete */
	uint8_t head[MESSAGE_HEAD]; /* of the next message, as far as it has arrived */
	uint32_t have;		    /* bytes in `head` */
};

/*
 * Takes what has arrived, in the machine's own byte order, as clients send it. Returns false once a
 * message is too long; then nothing more can be taken.
 */
bool message_frames_take(struct message_frames *frames, const void *data, size_t size);

#endif
