// SPDX-License-Identifier: MIT
#include "access.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static bool globs_match(const struct config_globs *globs, const char *stream) {
	const char *glob = globs->text;
	while (glob != NULL && *glob != '\0') {
		size_t length = strcspn(glob, " ");
		char one[CONFIG_GLOB_MAX + 1];
		if (length < sizeof(one)) {
			memcpy(one, glob, length);
			one[length] = '\0';
			if (length > 0 && fnmatch(one, stream, 0) == 0) {
				return true;
			}
		}
		glob += length + (glob[length] == ' ');
	}
	return false;
}

bool access_is_withdrawn(const struct config *config, const struct config_domain *owner,
		const struct config_domain *reader, const char *stream) {
	const struct config_withdrawal *withdrawal;
	TAILQ_FOREACH(withdrawal, &config->withdrawals, entry) {
		if (withdrawal->owner != owner ||
				(withdrawal->reader != NULL && withdrawal->reader != reader)) {
			continue;
		}
		if (stream == NULL ? strcmp(withdrawal->streams, "*") == 0
				   : fnmatch(withdrawal->streams, stream, 0) == 0) {
			return true;
		}
	}
	return false;
}

/* Whether the share covers the stream; NULL: true of every share. */
static bool shares(const struct config_share *share, const char *stream) {
	return stream == NULL || globs_match(&share->streams, stream);
}

bool access_may_publish(const struct config *config, const struct config_domain *owner,
		const char *stream) {
	if (globs_match(&owner->local, stream)) {
		return true;
	}
	const struct config_share *share;
	TAILQ_FOREACH(share, &config->lent[owner->number], of_owner) {
		if (shares(share, stream)) {
			return true;
		}
	}
	return false;
}

/* Whether the share still gives its reader the stream, or any stream if that is NULL. */
static bool has(const struct config *config, const struct config_share *share, const char *stream) {
	return shares(share, stream) &&
			!access_is_withdrawn(config, share->owner, share->reader, stream);
}

bool access_may_read_stream(const struct config *config, const struct config_domain *owner,
		const struct config_domain *reader, const char *stream) {
	const struct config_share *share = config_share_find(config, owner, reader);
	return owner == reader || (share != NULL && has(config, share, stream));
}

bool access_may_import(const struct config *config, const struct config_domain *owner,
		const struct config_domain *reader) {
	return owner == reader || config_share_find(config, owner, reader) != NULL;
}

struct domain_set access_readers_of(const struct config *config, const struct config_domain *owner,
		const char *stream) {
	struct domain_set readers = {0};
	const struct config_share *share;
	TAILQ_FOREACH(share, &config->lent[owner->number], of_owner) {
		if (has(config, share, stream)) {
			domain_set_put(&readers, share->reader->number, true);
		}
	}
	return readers;
}

struct domain_set access_lost_by(const struct config *config, const struct config *older,
		const struct config_domain *owner, const char *stream) {
	const struct domain_set have = access_readers_of(config, owner, stream);
	const struct domain_set had = access_readers_of(older, owner, stream);
	return domain_set_without(&had, &have);
}

bool access_client_may_publish(const struct config_client *client, const char *stream) {
	return client == NULL || client->publish.text == NULL ||
			globs_match(&client->publish, stream);
}

bool access_client_may_read(const struct config_client *client, const char *stream) {
	return client == NULL || client->read.text == NULL || globs_match(&client->read, stream);
}

/* Whether the list has exactly this word. */
static bool globs_have(const struct config_globs *globs, const char *word) {
	size_t length = strlen(word);
	const char *found = globs->text;
	while (found != NULL && (found = strstr(found, word)) != NULL) {
		bool begins = found == globs->text || found[-1] == ' ';
		if (begins && (found[length] == '\0' || found[length] == ' ')) {
			return true;
		}
		found++;
	}
	return false;
}

bool access_client_may_read_all(const struct config_client *client) {
	return client == NULL || client->read.text == NULL || globs_have(&client->read, "*");
}

bool access_some_read_a_part(const struct config *config, const struct config_domain *domain) {
	const struct config_client *client;
	TAILQ_FOREACH(client, &config->clients, entry) {
		if (client->domain == domain && !access_client_may_read_all(client)) {
			return true;
		}
	}
	return false;
}

/* Whether some section of the domain has `may` as its answer for the stream. */
static bool some_section(const struct config *config, const struct config_domain *domain,
		const char *stream, bool may) {
	const struct config_client *client;
	TAILQ_FOREACH(client, &config->clients, entry) {
		if (client->domain == domain && access_client_may_read(client, stream) == may) {
			return true;
		}
	}
	return false;
}

/* The section that names exactly this user; NULL: there is none. */
static const struct config_client *find_exactly(
		const struct config *config, const struct config_domain *domain, const char *user) {
	const struct config_client *client = config_client_find(config, domain, user);
	return client != NULL && strcmp(client->user, user) == 0 ? client : NULL;
}

/*
 * Whether a user with a section in `named` lost the right to read the stream. Another section that
 * applies to the same user does not count: a name and a number can mean the same user.
 */
static bool some_lost(const struct config *named, const struct config *config,
		const struct config *older, const struct config_domain *domain,
		const char *stream) {
	const struct config_client *client;
	TAILQ_FOREACH(client, &named->clients, entry) {
		const struct config_client *was = find_exactly(older, domain, client->user);
		const struct config_client *is = find_exactly(config, domain, client->user);
		bool could = was != NULL ? access_client_may_read(was, stream)
					 : find_exactly(older, domain, "*") == NULL ||
						some_section(older, domain, stream, true);
		bool can = is != NULL ? access_client_may_read(is, stream)
				      : !some_section(config, domain, stream, false);
		if (client->domain == domain && could && !can) {
			return true;
		}
	}
	return false;
}

bool access_is_narrower(const struct config *config, const struct config *older,
		const struct config_domain *domain, const char *stream) {
	return some_lost(older, config, older, domain, stream) ||
			some_lost(config, config, older, domain, stream);
}

bool access_client_may_import(const struct config_client *client) {
	return client == NULL || client->import;
}

bool access_client_may_ask_for_status(const struct config_client *client) {
	return client == NULL || client->status;
}

/* Whether the list can match a name that begins with `begin`, which ends with a slash. */
static bool has_some(const struct config_globs *globs, const char *begin) {
	const char *found = globs->text;
	char any[GID_NAME_MAX + 1];
	snprintf(any, sizeof(any), "%sany", begin);
	if (globs_match(globs, any)) {
		return true;
	}
	while (found != NULL && (found = strstr(found, begin)) != NULL) {
		if (found == globs->text || found[-1] == ' ') {
			return true;
		}
		found++;
	}
	return false;
}

/* Whether the domain may publish a stream whose name begins with `begin`. */
static bool domain_has_some(const struct config *config, const struct config_domain *domain,
		const char *begin) {
	const struct config_share *share;
	if (has_some(&domain->local, begin)) {
		return true;
	}
	TAILQ_FOREACH(share, &config->lent[domain->number], of_owner) {
		if (has_some(&share->streams, begin)) {
			return true;
		}
	}
	return false;
}

bool access_safety_is_open(const struct config *config, const struct config_domain *domain) {
	const struct config_client *others = config_client_find(config, domain, "*");
	if (others != NULL && others->publish.text != NULL &&
			!has_some(&others->publish, "safety/")) {
		return false;
	}
	return domain_has_some(config, domain, "safety/");
}

/* Whether the domain may read a stream of another one whose name begins with `begin`. */
static bool reads_some(const struct config *config, const struct config_domain *domain,
		const char *begin) {
	const struct config_share *share;
	TAILQ_FOREACH(share, &config->shares, entry) {
		if (share->reader == domain && has_some(&share->streams, begin)) {
			return true;
		}
	}
	return false;
}

bool access_input_is_open(const struct config *config, const struct config_domain *domain) {
	static const char *const begins[] = {"input/", "clipboard/"};
	const struct config_client *others = config_client_find(config, domain, "*");
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		bool may = others == NULL || others->read.text == NULL ||
				has_some(&others->read, begins[i]);
		bool foreign = others == NULL || others->import;
		if (may &&
				(domain_has_some(config, domain, begins[i]) ||
						(foreign &&
								reads_some(config, domain,
										begins[i])))) {
			return true;
		}
	}
	return false;
}
