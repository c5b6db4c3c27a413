// SPDX-License-Identifier: MIT
#include "confirm.h"

#include "log.h"
#include "registry.h"

/* As long as the clients of a gidd that came back may take to register again. */
#define CONFIRM_AFTER_US (5u * 1000 * 1000)

static bool is_of(const struct slab *slab, const struct link *link) {
	return slab->owner == NULL && gid_domain_of(slab_gid(slab)) == link->peer.domain;
}

void confirm_link_lost(struct link *link) {
	struct slab *slab;
	link->confirm = sd_event_source_disable_unref(link->confirm);
	TAILQ_FOREACH(slab, &link->peer.gidd->registry.slabs, entry) {
		if (is_of(slab, link)) {
			slab->doubtful = true;
		}
	}
}

/* Answers come in order: after the last one, nothing is in doubt. */
static void log_confirmed(const struct gidd *gidd, uint32_t domain) {
	const struct slab *slab;
	TAILQ_FOREACH(slab, &gidd->registry.slabs, entry) {
		if (slab->doubtful && gid_domain_of(slab_gid(slab)) == domain) {
			return;
		}
	}
	log_info("domain %u: slabs confirmed", domain);
}

static int ask(sd_event_source *source, uint64_t now, void *data) {
	struct link *link = data;
	struct slab *slab;
	link->confirm = sd_event_source_disable_unref(link->confirm);
	TAILQ_FOREACH(slab, &link->peer.gidd->registry.slabs, entry) {
		if (is_of(slab, link) && slab->doubtful) {
			link_confirm(link, slab_gid(slab));
		}
	}
	return 0;
}

void confirm_link_up(struct link *link) {
	sd_event_add_time_relative(link->peer.gidd->event, &link->confirm, CLOCK_MONOTONIC,
		CONFIRM_AFTER_US, 0, ask, link);
}

void confirm_answer(struct gidd *gidd, gid_id gid, uint64_t inode, uint64_t offset) {
	struct slab *slab, *next;
	for (slab = TAILQ_FIRST(&gidd->registry.slabs); slab != NULL; slab = next) {
		next = TAILQ_NEXT(slab, entry);
		if (slab->owner != NULL || gid_slab_key(slab_gid(slab)) != gid_slab_key(gid)) {
			continue;
		}
		if (inode != 0 && inode == slab->inode &&
			offset == slab->description.imported.offset) {
			slab->doubtful = false;
		} else {
			slab_destroy(gidd, slab);
		}
	}
	log_confirmed(gidd, gid_domain_of(gid));
}
