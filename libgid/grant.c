// SPDX-License-Identifier: MIT
/**
 * Who may read a slab: grants of our own slabs, and loans of other clients' of our domain, whose
 * pictures we send as frames of ours. To gidd the two are one request.
 */
#include <errno.h>
#include <stdlib.h>

#include "import.h"
#include "slab_object.h"

static void put_grant(
	const struct gid_slab *slab, uint32_t reader, bool allow, union gid_wire_message *message) {
	gid_wire_begin(message, GID_WIRE_GRANT, 0);
	message->grant.slab = gid_slab_of(slab->info.gid);
	message->grant.domain = reader;
	message->grant.allow = allow;
}

static void set_domain(uint8_t set[256 / 8], uint32_t domain, bool present) {
	uint8_t bit = (uint8_t)(1u << domain % 8);
	if (present) {
		set[domain / 8] |= bit;
	} else {
		set[domain / 8] &= (uint8_t)~bit;
	}
}

static bool has_domain(const uint8_t set[256 / 8], uint32_t domain) {
	return domain <= GID_DOMAIN_MAX && (set[domain / 8] >> domain % 8 & 1) != 0;
}

static void set_granted(struct gid_slab *slab, uint32_t reader, bool granted) {
	set_domain(slab->granted, reader, granted);
	if (granted) {
		set_domain(slab->withheld, reader, false);
	}
}

bool gid_slab_is_granted(const struct gid_slab *slab, uint32_t reader) {
	return has_domain(slab->granted, reader);
}

static int ask_grant(struct gid_slab *slab, uint32_t reader, bool allow) {
	struct gid_domain *domain = slab->domain;
	if (!gid_slab_can_be_granted(slab)) {
		return -ENOENT;
	}
	if (reader < 1 || reader > GID_DOMAIN_MAX) {
		return gid_domain_fail(domain, -EINVAL, "domains are numbered 1 to %u, not %u",
			GID_DOMAIN_MAX, reader);
	}
	if (!allow) {
		/* Whatever comes of this: a gidd that comes back is not told of the grant. */
		set_granted(slab, reader, false);
		set_domain(slab->withheld, reader, !slab->info.imported);
	}
	union gid_wire_message message, answer;
	put_grant(slab, reader, allow, &message);
	int error = gid_domain_request(domain, &message, NULL, 0, &answer, NULL);
	if (error == 0 && allow) {
		set_granted(slab, reader, true);
	}
	return error;
}

int gid_slab_grant(struct gid_slab *slab, uint32_t reader) {
	return ask_grant(slab, reader, true);
}

int gid_slab_revoke(struct gid_slab *slab, uint32_t reader) {
	return ask_grant(slab, reader, false);
}

int gid_slab_grant_post(struct gid_slab *slab, uint32_t reader) {
	union gid_wire_message message;
	put_grant(slab, reader, true, &message);
	int error = gid_domain_post(slab->domain, &message, NULL, 0);
	if (error == 0) {
		set_granted(slab, reader, true);
	}
	return error;
}

int gid_slab_grant_async(
	struct gid_slab *slab, uint32_t reader, gid_answer_func answered, void *data) {
	union gid_wire_message message;
	put_grant(slab, reader, true, &message);
	return gid_domain_request_async(slab->domain, &message, NULL, 0, answered, data);
}

void gid_slab_granted(struct gid_slab *slab, uint32_t reader) {
	set_granted(slab, reader, true);
}

static void post_revoke(struct gid_slab *slab, uint32_t reader) {
	union gid_wire_message message;
	put_grant(slab, reader, false, &message);
	gid_domain_post(slab->domain, &message, NULL, 0);
}

void gid_slab_grant_again(struct gid_slab *slab) {
	for (uint32_t reader = 1; reader <= GID_DOMAIN_MAX; reader++) {
		if (gid_slab_is_granted(slab, reader)) {
			gid_slab_grant_post(slab, reader);
		} else if (has_domain(slab->withheld, reader)) {
			post_revoke(slab, reader);
		}
	}
}

void gid_slab_end_loans(struct gid_slab *slab) {
	for (uint32_t reader = 1; reader <= GID_DOMAIN_MAX; reader++) {
		if (gid_slab_is_granted(slab, reader)) {
			set_granted(slab, reader, false);
			post_revoke(slab, reader);
		}
	}
}

/* --- finding ---------------------------------------------------------------------------------- */

struct gid_slab *gid_slab_find(struct gid_domain *domain, gid_id gid) {
	struct gid_slab *slab = gid_domain_of(gid) == domain->number
		? gid_table_find(&domain->own_slabs, gid_slab_of(gid))
		: NULL;
	return slab != NULL && gid_slot_of(gid) < slab->info.slot_count ? slab : NULL;
}

struct gid_slab *gid_slab_find_of_domain(struct gid_domain *domain, uint32_t key) {
	gid_id gid = (gid_id)key << 32;
	struct gid_slab *slab = gid_slab_find(domain, gid);
	if (slab == NULL && gid_domain_of(gid) == domain->number) {
		slab = gid_table_find(&domain->imports->known, key);
	}
	return slab;
}

int gid_slab_find_sendable(struct gid_domain *domain, gid_id gid, struct gid_slab **result) {
	struct gid_slab *slab = gid_slab_find_of_domain(domain, gid_slab_key(gid));
	if (slab == NULL || !gid_slab_is_current(slab, gid)) {
		return -EINVAL;
	}
	if (slab->slots == NULL) {
		slab->slots = calloc(slab->info.slot_count, sizeof(*slab->slots));
	}
	*result = slab;
	return slab->slots == NULL ? -ENOMEM : 0;
}

struct gid_slab *gid_slab_find_held(struct gid_domain *domain, gid_id gid) {
	struct gid_slab *slab = gid_slab_find(domain, gid);
	if (slab != NULL || gid_domain_of(gid) != domain->number) {
		return slab;
	}
	for (slab = domain->slabs; slab != NULL; slab = slab->next) {
		if (slab->held > 0 && gid_slab_key(slab->info.gid) == gid_slab_key(gid) &&
			gid_slab_holders(slab, gid_slot_of(gid)) > 0) {
			return slab;
		}
	}
	return NULL;
}
