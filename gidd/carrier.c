// SPDX-License-Identifier: MIT
#include "carrier.h"

#include "doorbell.h"

int carrier_open(struct gidd *gidd) {
	if (!config_has_window(gidd->config, gidd->self)) {
		return 0;
	}
	int error = gidd->self->kind == KIND_HOST ? hub_open(gidd) : member_open(gidd);
	return error < 0 ? error : doorbell_open(gidd, ivshmem_rung);
}

void carrier_close(struct gidd *gidd) {
	doorbell_close(gidd);
	if (gidd->hub != NULL) {
		hub_close(gidd->hub);
		gidd->hub = NULL;
	}
	if (gidd->member != NULL) {
		member_close(gidd->member);
		gidd->member = NULL;
	}
}

void carrier_send(struct link *link, uint32_t epoch, const union gid_wire_message *message) {
	struct gidd *gidd = link->peer.gidd;
	if (gidd->hub != NULL) {
		hub_send(gidd->hub, link->peer.domain, epoch, message);
	} else if (gidd->member != NULL) {
		member_send(gidd->member, link->peer.domain, epoch, message);
	}
}

void carrier_part(struct link *link, uint32_t epoch, bool fault, const char *why) {
	struct gidd *gidd = link->peer.gidd;
	if (gidd->hub != NULL) {
		hub_part(gidd->hub, link->peer.domain, epoch, fault, why);
	} else if (gidd->member != NULL) {
		member_part(gidd->member, link->peer.domain, epoch, fault, why);
	}
}
