// SPDX-License-Identifier: MIT
/**
 * What carries messages between domains of different machines: the hub, which the host's gidd is,
 * and members of it, which all others are. hub.c and member.c are the two ends; link_ivshmem.c is
 * what they carry for.
 */
#ifndef GIDD_CARRIER_H
#define GIDD_CARRIER_H

#include "link.h"

struct hub;
struct member;

/* The gidd of a domain that is joined to another by the hub takes its part in it. 0 or -errno. */
int carrier_open(struct gidd *gidd);
void carrier_close(struct gidd *gidd);

/* Sends to the link's other end, as long as the two are joined in that epoch. */
void carrier_send(struct link *link, uint32_t epoch, const union gid_wire_message *message);

/*
 * Parts the link's two ends, which are joined again later. Ends in ivshmem_down(). The hub counts
 * what is a fault of the other end.
 */
void carrier_part(struct link *link, uint32_t epoch, bool fault, const char *why);

/* --- hub.c --- */

int hub_open(struct gidd *gidd);
void hub_close(struct hub *hub);
void hub_send(
	struct hub *hub, uint32_t domain, uint32_t epoch, const union gid_wire_message *message);
void hub_part(struct hub *hub, uint32_t domain, uint32_t epoch, bool fault, const char *why);

/* --- member.c --- */

int member_open(struct gidd *gidd);
void member_close(struct member *member);
void member_send(struct member *member, uint32_t domain, uint32_t epoch,
	const union gid_wire_message *message);
void member_part(
	struct member *member, uint32_t domain, uint32_t epoch, bool fault, const char *why);

/* --- link_ivshmem.c: what is carried ends there ----------------------------------------------- */

/* The other end is there. */
void ivshmem_up(struct gidd *gidd, uint32_t domain, uint32_t epoch);
void ivshmem_down(struct gidd *gidd, uint32_t domain, const char *why);
void ivshmem_receive(
	struct gidd *gidd, uint32_t domain, uint32_t epoch, const union gid_wire_message *message);
/* The other end rang, by the device. */
void ivshmem_rung(struct gidd *gidd, uint32_t domain);

#endif
