// SPDX-License-Identifier: MIT
/*
 * Doorbells to another machine: by the doorbell device where both ends hear the same one, else as
 * BELL messages. A ring of the device names no subscription, and is for all of them.
 */
#include "carrier.h"
#include "doorbell.h"
#include "link_ivshmem.h"
#include "log.h"
#include "subscription.h"

/* Both ends hear one and the same device. */
static bool has_device(const struct ivshmem *ivshmem) {
	return ivshmem->device != 0 && ivshmem->device == doorbell_cookie(ivshmem->link->peer.gidd);
}

void ivshmem_client_rang(void *data, uint32_t number, bool hung_up) {
	struct ivshmem *ivshmem = data;
	struct link *link = ivshmem->link;
	if (!hung_up && has_device(ivshmem) && doorbell_ring(link->peer.gidd, link->peer.domain)) {
		link->rings.by_device++;
		return;
	}
	link->rings.by_message += !hung_up;
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_BELL, 0);
	message.bell.subscription = number;
	message.bell.hung_up = hung_up;
	carrier_send(link, ivshmem->epoch, &message);
}

/* Rings the clients that sleep and have news: of that subscription, 0: of any. */
static void wake(struct ivshmem *ivshmem, uint32_t number) {
	struct link *link = ivshmem->link;
	struct subscription *subscription;
	TAILQ_FOREACH(subscription, &link->peer.gidd->registry.subscriptions, entry) {
		uint32_t of_link = subscription_bell_on(subscription, &link->peer);
		if (of_link != 0 && (number == 0 || number == of_link) &&
			subscription_should_wake(subscription)) {
			bells_ring(&ivshmem->bells, of_link);
		}
	}
}

void ivshmem_handle_bell(struct ivshmem *ivshmem, const struct gid_wire_bell *bell) {
	if (bell->hung_up == 1) {
		bells_hang_up(&ivshmem->bells, bell->subscription);
	} else {
		ivshmem->link->heard.by_message++;
		wake(ivshmem, bell->subscription);
	}
}

void ivshmem_rung(struct gidd *gidd, uint32_t domain) {
	struct ivshmem *ivshmem = ivshmem_find(gidd, domain);
	if (ivshmem != NULL && ivshmem->there) {
		ivshmem->link->heard.by_device++;
		wake(ivshmem, 0);
	}
}

void ivshmem_send_device(struct ivshmem *ivshmem) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_DEVICE, 0);
	message.device.cookie = doorbell_cookie(ivshmem->link->peer.gidd);
	if (message.device.cookie != 0) {
		carrier_send(ivshmem->link, ivshmem->epoch, &message);
	}
}

void ivshmem_handle_device(struct ivshmem *ivshmem, const struct gid_wire_device *device) {
	struct link *link = ivshmem->link;
	ivshmem->device = device->cookie;
	link->has_device = has_device(ivshmem);
	log_info("link to %s: doorbells go %s", link->remote->name,
		link->has_device ? "by the device"
				 : "over the link: the devices are not of one hub");
}
