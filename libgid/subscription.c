// SPDX-License-Identifier: MIT
#include "subscription.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "doorbell.h"

static int subscription_map_page(struct gid_subscription *subscription, int fd) {
	int ret = gid_memory_check(fd, sizeof(struct gid_wire_page), 1);
	if (ret < 0) {
		return ret;
	}
	const void *page;
	ret = gid_memory_map(fd, 0, sizeof(struct gid_wire_page), &page);
	if (ret < 0) {
		return ret;
	}
	subscription->page = page;
	return 0;
}

int gid_subscription_create(const struct gid_wire_subscriber *request, uint32_t credit_max,
	int fds[static 2], struct gid_subscription **result) {
	struct gid_subscription *subscription = calloc(1, sizeof(*subscription));
	int ret = subscription == NULL ? -ENOMEM : gid_doorbell_check(fds[1]);
	if (ret < 0) {
		goto error_fds;
	}
	subscription->number = request->subscription;
	subscription->domain = request->domain;
	subscription->drop_old = request->flags & 1;
	subscription->doorbell = fds[1];
	subscription->memory.fd = -1;
	ret = subscription_map_page(subscription, fds[0]);
	if (ret < 0) {
		goto error_fds;
	}
	ret = gid_memory_create(&subscription->memory, "gid-ring", sizeof(struct gid_wire_ring));
	if (ret < 0) {
		goto error_page;
	}
	gid_ring_producer_init(&subscription->ring, subscription->memory.data, subscription->page,
		request->credit < credit_max ? request->credit : credit_max);
	close(fds[0]);
	fds[0] = fds[1] = -1;
	*result = subscription;
	return 0;

error_page:
	gid_memory_unmap(subscription->page, sizeof(*subscription->page));
error_fds:
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		fds[i] = -1;
	}
	free(subscription);
	return ret;
}

void gid_subscription_destroy(struct gid_subscription *subscription) {
	gid_memory_unmap(subscription->page, sizeof(*subscription->page));
	gid_memory_finish(&subscription->memory);
	close(subscription->doorbell);
	free(subscription);
}
