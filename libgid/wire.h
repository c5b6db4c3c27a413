// SPDX-License-Identifier: MIT
/**
 * The wire: every byte that crosses between processes, little-endian, each struct pinned.
 * docs/wire.md is its published form. wire.c and wire_*.c decode it: pure, total, fuzzed.
 *
 * Messages go over SOCK_SEQPACKET sockets, one a packet (or over a byte stream, framed by `size`),
 * descriptors beside them in the order that each message names. wire_message.h and wire_remote.h
 * have what is in them, wire_ring.h what goes through shared memory.
 */
#ifndef GID_WIRE_H
#define GID_WIRE_H

#include "wire_message.h"
#include "wire_remote.h"

/* Any message, big enough for the largest. */
union gid_wire_message {
	struct gid_wire_header header;
	struct gid_wire_hello hello;
	struct gid_wire_welcome welcome;
	struct gid_wire_result result;
	struct gid_wire_export export;
	struct gid_wire_unexport unexport;
	struct gid_wire_grant grant;
	struct gid_wire_import import;
	struct gid_wire_imported imported;
	struct gid_wire_revoked revoked;
	struct gid_wire_publish publish;
	struct gid_wire_unpublish unpublish;
	struct gid_wire_subscribe subscribe;
	struct gid_wire_subscriber subscriber;
	struct gid_wire_subscribed subscribed;
	struct gid_wire_subscription_end subscription_end;
	struct gid_wire_status status;
	struct gid_wire_report report;
	struct gid_wire_alloc alloc;
	struct gid_wire_allocated allocated;
	struct gid_wire_clock clock;
	struct gid_wire_bell bell;
	struct gid_wire_ping ping;
	struct gid_wire_pong pong;
	struct gid_wire_device device;
	struct gid_wire_join join;
	struct gid_wire_peer peer;
	uint8_t bytes[GID_WIRE_MESSAGE_MAX];
};

/* The exact size and number of descriptors of a message type; false for an unknown one. */
bool gid_wire_shape(uint32_t type, uint32_t *size, uint32_t *fd_count);

/* Whether a text is UTF-8 without control characters: programs' names, descriptions. */
bool gid_wire_text_is_valid(const char *text, size_t length);

/* Begins a message: zeroes it, sets type and size. */
void gid_wire_begin(union gid_wire_message *message, uint32_t type, uint32_t serial);

/*
 * Checks a received message completely: exact size, descriptor count, known type, zero reserved
 * fields, terminated and valid names and texts with zeroes behind them, numbers in range, layouts
 * that fit their slots, slots and generation tables that fit in a file. A gid in IMPORT may be
 * anything: it is as unknown as another.
 * After 0 every field may be used as its comment says. -EPROTO with a constant sentence otherwise.
 */
int gid_wire_check(
	const union gid_wire_message *message, size_t size, uint32_t fd_count, const char **why);

/*
 * The same for a message that came in an envelope, between domains or between a gidd and the hub:
 * without descriptors, so that all memory in it must be a range of its sender's window.
 */
int gid_wire_check_remote(
	const union gid_wire_message *message, size_t size, bool hub, const char **why);

void gid_wire_put_layout(struct gid_wire_layout *wire, const struct gid_layout *layout);
void gid_wire_get_layout(struct gid_layout *layout, const struct gid_wire_layout *wire);

#endif
