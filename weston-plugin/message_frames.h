// SPDX-License-Identifier: MIT
/**
 * Where the messages of a Wayland client begin and end, by what their heads say.
 *
 * libwayland keeps what has come of a message in 4096 bytes. Since 1.23 it neither ends who sends a
 * longer one nor reads on: it is told of the rest that waits, again and again, and a client has the
 * whole of a processor. The same with one of 4096 bytes of which 4095 came first.
 *
 * Pure: any bytes are fine.
 */
#ifndef GID_WESTON_MESSAGE_FRAMES_H
#define GID_WESTON_MESSAGE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_HEAD 8u
/* In bytes, its head among them. */
#define MESSAGE_MAX 4095u

/* Of one connection; zeroes: nothing came yet. */
struct message_frames {
	uint32_t left;		    /* bytes to come of the message whose head is complete */
	uint8_t head[MESSAGE_HEAD]; /* of the next one, as far as it has come */
	uint32_t have;		    /* bytes of it */
};

/*
 * Takes what came next, in the machine's own order of bytes, as clients send it. Returns false once
 * a message is too long, after which nothing more can be taken.
 */
bool message_frames_take(struct message_frames *frames, const void *data, size_t size);

#endif
