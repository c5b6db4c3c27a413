// SPDX-License-Identifier: MIT
/*
 * The largest cockpit there can be, in which all domains share with all others. Who asks for each
 * pair, as reading it and reading it again do, walks what one domain shares, and not all of it.
 */
#include "access.h"

#include <stdlib.h>
#include <string.h>

#include "config_file.h"
#include "tap.h"

#define OTHERS (GID_DOMAIN_MAX - 1)
#define PAIRS (GID_DOMAIN_MAX * OTHERS)
/* 254 names in 256 lists: with more in one the hash would be a bad one. */
#define ONE_LIST_MOST 8u

/* Without what the last one shares with the first, if `without_last`. */
static void write_cockpit(FILE *file, bool without_last) {
	for (uint32_t i = 1; i <= GID_DOMAIN_MAX; i++) {
		fprintf(file, "[domain place-%u]\nnumber=%u\n", i, i);
	}
	for (uint32_t owner = 1; owner <= GID_DOMAIN_MAX; owner++) {
		for (uint32_t reader = 1; reader <= GID_DOMAIN_MAX; reader++) {
			bool is_last = owner == GID_DOMAIN_MAX && reader == 1;
			if (owner != reader && !(is_last && without_last)) {
				fprintf(file, "[share place-%u place-%u]\nstreams=film\n", owner,
						reader);
			}
		}
	}
}

static void read_cockpit(struct config *config, bool without_last) {
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	write_cockpit(file, without_last);
	fclose(file);
	file = fmemopen(text, size, "r");
	tap_ok(config_read(config, file, "cockpit", stdout) == 0, "a cockpit of %u domains is read",
			GID_DOMAIN_MAX);
	fclose(file);
	free(text);
}

static uint32_t count_lent(const struct config *config, const struct config_domain *owner) {
	const struct config_share *share;
	uint32_t count = 0;
	TAILQ_FOREACH(share, &config->lent[owner->number], of_owner) {
		count += share->owner == owner && share->reader != owner;
	}
	return count;
}

static uint32_t length_of(const struct config_shares *shares) {
	const struct config_share *share;
	uint32_t count = 0;
	TAILQ_FOREACH(share, shares, of_owner) {
		count++;
	}
	return count;
}

/* All pairs are found, and what is walked for the one that takes most is counted. */
static void test_lists(const struct config *config, uint32_t pairs, const char *when) {
	const struct config_domain *owner, *reader;
	uint32_t found = 0, own = 0, longest = 0;
	TAILQ_FOREACH(owner, &config->domains, entry) {
		uint32_t length = length_of(&config->lent[owner->number]);
		longest = length > longest ? length : longest;
		own += count_lent(config, owner);
		TAILQ_FOREACH(reader, &config->domains, entry) {
			found += config_share_find(config, owner, reader) != NULL;
		}
	}
	tap_ok(found == pairs, "%s: %u of %u pairs are found", when, found, pairs);
	tap_ok(own == pairs, "%s: each in its owner's list: %u", when, own);
	tap_ok(longest == OTHERS, "%s: none asks more than %u: %u", when, OTHERS, longest);
}

static void test_names(const struct config *config) {
	const struct config_domain *domain;
	uint32_t longest = 0;
	for (uint32_t i = 0; i < CONFIG_NAME_LISTS; i++) {
		uint32_t length = 0;
		TAILQ_FOREACH(domain, &config->names[i], of_name) {
			length++;
		}
		longest = length > longest ? length : longest;
	}
	tap_ok(longest <= ONE_LIST_MOST, "a name is one of %u at most: %u", ONE_LIST_MOST, longest);
	uint32_t found = 0;
	TAILQ_FOREACH(domain, &config->domains, entry) {
		found += config_domain_by_name(config, domain->name) == domain;
	}
	tap_ok(found == GID_DOMAIN_MAX, "all are found by their names: %u", found);
}

static bool may_read_film(const struct config *config, const char *owner, const char *reader) {
	return access_may_read_stream(config, config_domain_by_name(config, owner),
			config_domain_by_name(config, reader), "film");
}

int main(void) {
	struct config config, fresh;
	read_cockpit(&config, false);
	test_lists(&config, PAIRS, "read");
	test_names(&config);
	tap_ok(may_read_film(&config, "place-254", "place-1"), "the last shares with the first");
	read_cockpit(&fresh, true);
	tap_ok(config_update(&config, &fresh, "cockpit", stdout) == 0, "it is read again");
	config_finish(&fresh);
	test_lists(&config, PAIRS - 1, "read again");
	tap_ok(!may_read_film(&config, "place-254", "place-1"), "it does not any more");
	tap_ok(may_read_film(&config, "place-1", "place-254"), "the first still does");
	config_finish(&config);
	return tap_finish();
}
