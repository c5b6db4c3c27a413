// SPDX-License-Identifier: MIT
#include "access.h"

#include <fnmatch.h>
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

/* Whether a share is of the owner, and of the stream; NULL: of any. */
static bool shares(const struct config_share *share, const struct config_domain *owner,
		const char *stream) {
	return share->owner == owner && (stream == NULL || globs_match(&share->streams, stream));
}

bool access_may_publish(const struct config *config, const struct config_domain *owner,
		const char *stream) {
	if (globs_match(&owner->local, stream)) {
		return true;
	}
	const struct config_share *share;
	TAILQ_FOREACH(share, &config->shares, entry) {
		if (shares(share, owner, stream)) {
			return true;
		}
	}
	return false;
}

/* Whether it still has the stream by this share; NULL: any. */
static bool has(const struct config *config, const struct config_share *share,
		const struct config_domain *owner, const char *stream) {
	return shares(share, owner, stream) &&
			!access_is_withdrawn(config, owner, share->reader, stream);
}

bool access_may_read_stream(const struct config *config, const struct config_domain *owner,
		const struct config_domain *reader, const char *stream) {
	const struct config_share *share = config_share_find(config, owner, reader);
	return owner == reader || (share != NULL && has(config, share, owner, stream));
}

bool access_may_import(const struct config *config, const struct config_domain *owner,
		const struct config_domain *reader) {
	return owner == reader || config_share_find(config, owner, reader) != NULL;
}

struct domain_set access_readers_of(const struct config *config, const struct config_domain *owner,
		const char *stream) {
	struct domain_set readers = {0};
	const struct config_share *share;
	TAILQ_FOREACH(share, &config->shares, entry) {
		if (has(config, share, owner, stream)) {
			domain_set_put(&readers, share->reader->number, true);
		}
	}
	return readers;
}

bool access_client_may_publish(const struct config_client *client, const char *stream) {
	return client == NULL || client->publish.text == NULL ||
			globs_match(&client->publish, stream);
}

bool access_client_may_import(const struct config_client *client) {
	return client == NULL || client->import;
}

bool access_client_may_ask_for_status(const struct config_client *client) {
	return client == NULL || client->status;
}

/* Whether some name of a safety stream matches. */
static bool has_safety(const struct config_globs *globs) {
	const char *found = globs->text;
	if (globs_match(globs, "safety/any")) {
		return true;
	}
	while (found != NULL && (found = strstr(found, "safety/")) != NULL) {
		if (found == globs->text || found[-1] == ' ') {
			return true;
		}
		found++;
	}
	return false;
}

bool access_safety_is_open(const struct config *config, const struct config_domain *domain) {
	const struct config_client *others = config_client_find(config, domain, "*");
	const struct config_share *share;
	if (others != NULL && others->publish.text != NULL && !has_safety(&others->publish)) {
		return false;
	}
	if (has_safety(&domain->local)) {
		return true;
	}
	TAILQ_FOREACH(share, &config->shares, entry) {
		if (share->owner == domain && has_safety(&share->streams)) {
			return true;
		}
	}
	return false;
}
