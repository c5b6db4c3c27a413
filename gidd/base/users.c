// SPDX-License-Identifier: MIT
#include "users.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

static bool is_number(const char *user) {
	return strspn(user, "0123456789") == strlen(user);
}

/* CONFIG_NOBODY: the user does not exist. */
static uid_t find_user(const char *user) {
	if (is_number(user)) {
		unsigned long long number = strtoull(user, NULL, 10);
		return number < CONFIG_NOBODY ? (uid_t)number : CONFIG_NOBODY;
	}
	const struct passwd *entry = getpwnam(user);
	return entry != NULL ? entry->pw_uid : CONFIG_NOBODY;
}

static uid_t find_before(
		const struct config *older, const struct config_domain *domain, const char *user) {
	const struct config_client *was =
			older != NULL ? config_client_find(older, domain, user) : NULL;
	return was != NULL && strcmp(was->user, user) == 0 ? was->uid : CONFIG_NOBODY;
}

void users_find(struct config *config, const struct config *older,
		const struct config_domain *domain) {
	struct config_client *client;
	TAILQ_FOREACH(client, &config->clients, entry) {
		if (client->domain != domain || strcmp(client->user, "*") == 0) {
			continue;
		}
		client->uid = find_user(client->user);
		if (client->uid == CONFIG_NOBODY) {
			client->uid = find_before(older, domain, client->user);
		}
		if (client->uid == CONFIG_NOBODY) {
			log_warning("[client %s %s]: there is no such user: nobody has this "
				    "section until the configuration is read again",
					client->domain_name, client->user);
		}
	}
}

const struct config_client *users_find_section(
		const struct config *config, const struct config_domain *domain, uid_t user) {
	const struct config_client *client, *found = NULL;
	TAILQ_FOREACH(client, &config->clients, entry) {
		bool is_its = client->domain == domain && client->uid == user &&
				user != CONFIG_NOBODY;
		/* A section by number takes precedence over one by name. */
		if (is_its &&
				(found == NULL ||
						(is_number(client->user) &&
								!is_number(found->user)))) {
			found = client;
		}
	}
	return found != NULL ? found : config_client_find(config, domain, "*");
}
