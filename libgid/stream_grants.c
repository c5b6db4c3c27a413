// SPDX-License-Identifier: MIT
/** Which slabs the frames of a producer lie in, and the grants that its consumers need of them. */
#include <errno.h>
#include <stdlib.h>

#include "producer.h"

static struct gid_slab *find_sent(struct gid_producer *producer, uint32_t key) {
	return gid_slab_find_of_domain(producer->domain, key);
}

/* Forgets slabs that are gone: a stream may use a new slab for each frame. */
static void forget_gone(struct gid_producer *producer) {
	uint32_t kept = 0;
	producer->slab_last = 0;
	for (uint32_t i = 0; i < producer->slab_count; i++) {
		if (find_sent(producer, producer->slabs[i]) != NULL) {
			producer->slabs[kept++] = producer->slabs[i];
		}
	}
	producer->slab_count = kept;
}

static int make_space(struct gid_producer *producer) {
	forget_gone(producer);
	if (producer->slab_count * 2 < producer->slab_space) {
		return 0;
	}
	uint32_t space = producer->slab_space == 0 ? 8 : producer->slab_space * 2;
	uint32_t *slabs = realloc(producer->slabs, space * sizeof(*slabs));
	if (slabs == NULL) {
		return -ENOMEM;
	}
	producer->slabs = slabs;
	producer->slab_space = space;
	return 0;
}

int gid_producer_add_slab(struct gid_producer *producer, gid_id gid) {
	uint32_t key = gid_slab_key(gid);
	for (uint32_t i = 0; i < producer->slab_count; i++) {
		if (producer->slabs[i] == key) {
			producer->slab_last = key;
			return 0;
		}
	}
	if (producer->slab_count == producer->slab_space) {
		int error = make_space(producer);
		if (error < 0) {
			return error;
		}
	}
	producer->slabs[producer->slab_count++] = producer->slab_last = key;
	return 0;
}

/* --- without waiting -------------------------------------------------------------------------- */

/* A grant that gidd was asked for. */
struct gid_stream_grant {
	struct gid_stream_grant *next;
	struct gid_producer *producer;
	gid_id gid; /* of the frame that it is for, or of the slab */
	uint32_t reader;
	bool is_assumed; /* frames do not wait for the answer */
};

static void remove_grant(struct gid_stream_grant *grant) {
	struct gid_stream_grant **at = &grant->producer->grants;
	while (*at != grant) {
		at = &(*at)->next;
	}
	*at = grant->next;
	free(grant);
}

/* A domain that may not read what is sent cannot be a consumer; the others still are. */
static void end_domain(struct gid_producer *producer, uint32_t reader, int reason) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && sub->domain == reader) {
			gid_subscription_end(sub, GID_END_BROKEN, reason);
		}
	}
}

static void grant_answered(void *data, int error, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_stream_grant grant = *(struct gid_stream_grant *)data;
	struct gid_producer *producer = grant.producer;
	struct gid_slab *slab = find_sent(producer, gid_slab_key(grant.gid));
	/* Under the number that it has got meanwhile a slab that moved is granted to nobody yet. */
	if (error == 0 && slab != NULL && gid_slab_key(slab->info.gid) == gid_slab_key(grant.gid)) {
		gid_slab_set_granted(slab, grant.reader, true);
	}
	remove_grant(data);
	gid_producer_enter(producer);
	if (error < 0 && error != -ENOTCONN && error != -ETIMEDOUT) {
		end_domain(producer, grant.reader, error);
	}
	if (!producer->destroyed) { /* by a callback of what just ended */
		producer->options.granted(producer->options.data, grant.gid, error);
	}
	gid_producer_leave(producer);
}

static bool is_requested(const struct gid_producer *producer, gid_id gid, uint32_t reader) {
	const struct gid_stream_grant *grant = producer->grants;
	while (grant != NULL &&
			(grant->is_assumed || grant->reader != reader ||
					gid_slab_key(grant->gid) != gid_slab_key(gid))) {
		grant = grant->next;
	}
	return grant != NULL;
}

static int request_grant(struct gid_producer *producer, struct gid_slab *slab,
		const struct gid_stream_grant *request, gid_answer_func answered) {
	struct gid_stream_grant *grant = malloc(sizeof(*grant));
	if (grant == NULL) {
		return -ENOMEM;
	}
	*grant = *request;
	grant->next = producer->grants;
	grant->producer = producer;
	int error = gid_slab_grant_async(slab, grant->reader, answered, grant);
	if (error < 0) {
		free(grant);
		return error;
	}
	producer->grants = grant;
	return 0;
}

int gid_producer_request_grants(struct gid_producer *producer, struct gid_slab *slab, gid_id gid) {
	int result = 0;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (sub->dead || !gid_subscription_can_see(sub, slab) ||
				!gid_subscription_needs_grant(sub, slab)) {
			continue;
		}
		const struct gid_stream_grant request = {.gid = gid, .reader = sub->domain};
		int error = is_requested(producer, gid, sub->domain)
				? 0
				: request_grant(producer, slab, &request, grant_answered);
		if (error < 0) {
			return error;
		}
		result = -EINPROGRESS;
	}
	return result;
}

void gid_producer_expect_slab(struct gid_producer *producer, struct gid_slab *slab) {
	gid_id gid = gid_slab_gid(slab, 0);
	if (gid_producer_add_slab(producer, gid) == 0) {
		gid_producer_request_grants(producer, slab, gid);
	}
}

/* --- for a new consumer ----------------------------------------------------------------------- */

/* The owner may have forbidden the loan: then the next frame asks again, and hears why. */
static void loan_answered(void *data, int error, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX]) {
	const struct gid_stream_grant grant = *(struct gid_stream_grant *)data;
	struct gid_slab *slab = find_sent(grant.producer, gid_slab_key(grant.gid));
	remove_grant(data);
	if (error < 0 && error != -ENOTCONN && error != -ETIMEDOUT && slab != NULL) {
		gid_slab_set_granted(slab, grant.reader, false);
	}
}

static int assume_loan(struct gid_producer *producer, struct gid_slab *slab, uint32_t reader) {
	const struct gid_stream_grant request = {
			.gid = gid_slab_gid(slab, 0), .reader = reader, .is_assumed = true};
	int error = request_grant(producer, slab, &request, loan_answered);
	if (error == 0) {
		gid_slab_set_granted(slab, reader, true);
	}
	return error;
}

int gid_producer_grant_slabs(struct gid_producer *producer, const struct gid_subscription *sub) {
	for (uint32_t i = 0; i < producer->slab_count; i++) {
		struct gid_slab *slab = find_sent(producer, producer->slabs[i]);
		if (slab == NULL || !gid_subscription_can_see(sub, slab) ||
				!gid_subscription_needs_grant(sub, slab)) {
			continue;
		}
		/* What is our own gidd does not refuse to a domain that it lets subscribe. */
		int error = slab->info.imported ? assume_loan(producer, slab, sub->domain)
						: gid_slab_grant_post(slab, sub->domain);
		if (error < 0) {
			return error;
		}
	}
	return 0;
}

void gid_producer_cancel_grants(struct gid_producer *producer) {
	while (producer->grants != NULL) {
		gid_domain_request_cancel(producer->domain, producer->grants);
		remove_grant(producer->grants);
	}
}
