// SPDX-License-Identifier: MIT
#include "quota.h"

#include <errno.h>

#include "client.h"
#include "gidd.h"

/* Cannot overflow, whatever the limit. */
static bool fits(uint64_t used, uint64_t amount, uint64_t limit) {
	return used <= limit && amount <= limit - used;
}

int quota_take(struct client *client, enum quota quota, uint64_t amount, char why[static 192]) {
	struct gidd *gidd = client->peer.gidd;
	const struct config_domain *self = gidd->self;
	const char *name = quota_name(quota);
	if (!fits(client->used[quota], amount, self->client_quota[quota])) {
		snprintf(why, 192,
				"over the limit client-%s=%llu of domain %s (this client has %llu)",
				name, (unsigned long long)self->client_quota[quota], self->name,
				(unsigned long long)client->used[quota]);
		return -EDQUOT;
	}
	int error = client_check_user_quota(client, quota, amount, why);
	if (error < 0) {
		return error;
	}
	if (!fits(gidd->used[quota], amount, self->quota[quota])) {
		snprintf(why, 192, "over the limit %s=%llu of domain %s (its clients have %llu)",
				name, (unsigned long long)self->quota[quota], self->name,
				(unsigned long long)gidd->used[quota]);
		return -EDQUOT;
	}
	client->used[quota] += amount;
	gidd->used[quota] += amount;
	return 0;
}

void quota_give(struct client *client, enum quota quota, uint64_t amount) {
	client->used[quota] -= amount;
	client->peer.gidd->used[quota] -= amount;
}
