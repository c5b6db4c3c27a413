// SPDX-License-Identifier: MIT
#include "hub.h"
#include "link.h"
#include "status_part.h"

static sd_json_variant *doorbells(const struct link *link, int *error) {
	sd_json_variant *all = NULL;
	int built = sd_json_buildo(&all,
		SD_JSON_BUILD_PAIR_STRING("way", link->has_device ? "device" : "link"),
		SD_JSON_BUILD_PAIR_UNSIGNED("rung_by_device", link->rings.by_device),
		SD_JSON_BUILD_PAIR_UNSIGNED("rung_by_link", link->rings.by_message),
		SD_JSON_BUILD_PAIR_UNSIGNED("heard_by_device", link->heard.by_device),
		SD_JSON_BUILD_PAIR_UNSIGNED("heard_by_link", link->heard.by_message));
	if (built < 0 && *error == 0) {
		*error = built;
	}
	return all;
}

sd_json_variant *status_links(struct gidd *gidd, int *error) {
	static const char *const states[] = {
		[LINK_DOWN] = "down",
		[LINK_HELLO] = "greeting",
		[LINK_UP] = "up",
	};
	sd_json_variant *all = NULL;
	struct link *link;
	TAILQ_FOREACH(link, &gidd->links, entry) {
		sd_json_variant *one = NULL, *bells = doorbells(link, error);
		bool up = link->state == LINK_UP;
		int built = sd_json_buildo(&one,
			SD_JSON_BUILD_PAIR_STRING("domain", link->remote->name),
			SD_JSON_BUILD_PAIR_UNSIGNED("number", link->remote->number),
			SD_JSON_BUILD_PAIR_STRING("kind", link->kind->name),
			SD_JSON_BUILD_PAIR_STRING("state", states[link->state]),
			SD_JSON_BUILD_PAIR_STRING("why", up ? "" : link->why),
			SD_JSON_BUILD_PAIR_UNSIGNED("ups", link->ups),
			SD_JSON_BUILD_PAIR_UNSIGNED("faults", link->faults),
			SD_JSON_BUILD_PAIR_STRING("last_fault", link->fault),
			SD_JSON_BUILD_PAIR_CONDITION(up && link->clock_known, "clock_offset_ns",
				SD_JSON_BUILD_INTEGER(link->clock_offset)),
			SD_JSON_BUILD_PAIR_CONDITION(up && link->clock_known, "clock_error_ns",
				SD_JSON_BUILD_UNSIGNED(link->clock_error)),
			SD_JSON_BUILD_PAIR_CONDITION(link->kind->windows_only, "doorbells",
				SD_JSON_BUILD_VARIANT(bells)));
		sd_json_variant_unref(bells);
		status_append(&all, one, built, error);
	}
	return all;
}

/* --- the hub's pairs -------------------------------------------------------------------------- */

static sd_json_variant *ends(const struct hub_pair *pair, int *error) {
	sd_json_variant *all = NULL;
	for (int i = 0; i < 2; i++) {
		const struct hub_faults *faults = &pair->faults[i];
		sd_json_variant *one = NULL;
		int built = sd_json_buildo(&one,
			SD_JSON_BUILD_PAIR_STRING("domain", pair->ends[i]->domain->name),
			SD_JSON_BUILD_PAIR_UNSIGNED("faults", faults->count),
			SD_JSON_BUILD_PAIR_STRING("last_fault", faults->last));
		status_append(&all, one, built, error);
	}
	return all;
}

sd_json_variant *status_pairs(struct gidd *gidd, int *error) {
	sd_json_variant *all = NULL;
	const struct hub_pair *pair;
	if (gidd->hub == NULL) {
		return NULL;
	}
	TAILQ_FOREACH(pair, &gidd->hub->pairs, entry) {
		sd_json_variant *one = NULL, *both = ends(pair, error);
		int built = sd_json_buildo(&one,
			SD_JSON_BUILD_PAIR_STRING("state", pair->up ? "up" : "down"),
			SD_JSON_BUILD_PAIR_STRING("why", pair->up ? "" : pair->why),
			SD_JSON_BUILD_PAIR_UNSIGNED("ups", pair->ups),
			SD_JSON_BUILD_PAIR_CONDITION(
				both != NULL, "ends", SD_JSON_BUILD_VARIANT(both)));
		sd_json_variant_unref(both);
		status_append(&all, one, built, error);
	}
	return all;
}
