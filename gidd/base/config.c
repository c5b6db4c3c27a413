// SPDX-License-Identifier: MIT
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *quota_name(enum quota quota) {
	static const char *const names[] = {
			[QUOTA_MEMORY] = "memory",
			[QUOTA_PIECES] = "pieces",
			[QUOTA_SLABS] = "slabs",
			[QUOTA_STREAMS] = "streams",
			[QUOTA_SUBSCRIPTIONS] = "subscriptions",
			[QUOTA_HELD] = "held",
			[QUOTA_CLIENTS] = "clients",
	};
	return names[quota];
}

/* The hash is FNV-1a. */
static uint32_t name_list(const char *name) {
	uint32_t hash = 2166136261u;
	for (const char *c = name; *c != '\0'; c++) {
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	}
	return hash % CONFIG_NAME_LISTS;
}

const struct config_domain *config_domain_by_name(const struct config *config, const char *name) {
	const struct config_domain *domain;
	TAILQ_FOREACH(domain, &config->names[name_list(name)], of_name) {
		if (strcmp(domain->name, name) == 0) {
			return domain;
		}
	}
	return NULL;
}

const struct config_domain *config_domain_by_number(const struct config *config, uint32_t number) {
	const struct config_domain *domain;
	TAILQ_FOREACH(domain, &config->domains, entry) {
		if (domain->number == number) {
			return domain;
		}
	}
	return NULL;
}

const struct config_domain *config_domain_find(const struct config *config, const char *word) {
	const struct config_domain *domain = config_domain_by_name(config, word);
	if (domain != NULL || word[0] < '0' || word[0] > '9') {
		return domain;
	}
	char *end;
	unsigned long number = strtoul(word, &end, 10);
	return *end == '\0' && number <= GID_DOMAIN_MAX
			? config_domain_by_number(config, (uint32_t)number)
			: NULL;
}

const struct config_share *config_share_find(const struct config *config,
		const struct config_domain *owner, const struct config_domain *reader) {
	const struct config_share *share;
	TAILQ_FOREACH(share, &config->lent[owner->number], of_owner) {
		if (share->owner == owner && share->reader == reader) {
			return share;
		}
	}
	return NULL;
}

bool config_is_pair(const struct config *config, const struct config_domain *one,
		const struct config_domain *other) {
	return config_share_find(config, one, other) != NULL ||
			config_share_find(config, other, one) != NULL;
}

bool config_is_remote(const struct config *config, const struct config_domain *one,
		const struct config_domain *other) {
	return (one->kind == KIND_GUEST || other->kind == KIND_GUEST) &&
			config_is_pair(config, one, other);
}

bool config_window_has_pages(const struct config_domain *domain, uint64_t size) {
	return domain->kind == KIND_GUEST && domain->window_kind != WINDOW_IVSHMEM &&
			size == domain->window;
}

bool config_has_window(const struct config *config, const struct config_domain *domain) {
	const struct config_domain *other;
	TAILQ_FOREACH(other, &config->domains, entry) {
		if (config_is_remote(config, domain, other)) {
			return true;
		}
	}
	return false;
}

bool config_has_hub(const struct config *config) {
	const struct config_domain *domain;
	TAILQ_FOREACH(domain, &config->domains, entry) {
		if (config_has_window(config, domain)) {
			return true;
		}
	}
	return false;
}

bool config_has_doorbell(const struct config *config, const struct config_domain *domain) {
	const struct config_domain *host = config_host(config);
	return host != NULL && host->doorbell && domain->doorbell &&
			(domain->kind == KIND_HOST || domain->kind == KIND_GUEST);
}

const struct config_domain *config_host(const struct config *config) {
	const struct config_domain *domain;
	TAILQ_FOREACH(domain, &config->domains, entry) {
		if (domain->kind == KIND_HOST) {
			return domain;
		}
	}
	return NULL;
}

const struct config_link *config_link_find(const struct config *config,
		const struct config_domain *one, const struct config_domain *other) {
	const struct config_link *link;
	TAILQ_FOREACH(link, &config->links, entry) {
		if ((link->ends[0] == one && link->ends[1] == other) ||
				(link->ends[0] == other && link->ends[1] == one)) {
			return link;
		}
	}
	return NULL;
}

int config_withdraw(struct config *config, const struct config_domain *owner,
		const struct config_domain *reader, const char *streams) {
	struct config_withdrawal *withdrawal;
	TAILQ_FOREACH(withdrawal, &config->withdrawals, entry) {
		if (withdrawal->owner == owner && withdrawal->reader == reader &&
				strcmp(withdrawal->streams, streams) == 0) {
			return 0;
		}
	}
	withdrawal = calloc(1, sizeof(*withdrawal));
	if (withdrawal == NULL) {
		return -ENOMEM;
	}
	withdrawal->owner = owner;
	withdrawal->reader = reader;
	snprintf(withdrawal->streams, sizeof(withdrawal->streams), "%s", streams);
	TAILQ_INSERT_TAIL(&config->withdrawals, withdrawal, entry);
	return 0;
}

const struct config_client *config_client_find(
		const struct config *config, const struct config_domain *domain, const char *user) {
	const struct config_client *client, *others = NULL;
	TAILQ_FOREACH(client, &config->clients, entry) {
		if (client->domain == domain && strcmp(client->user, user) == 0) {
			return client;
		}
		if (client->domain == domain && strcmp(client->user, "*") == 0) {
			others = client;
		}
	}
	return others;
}

void config_init(struct config *config) {
	*config = (struct config){0};
	TAILQ_INIT(&config->domains);
	for (uint32_t i = 0; i < CONFIG_NAME_LISTS; i++) {
		TAILQ_INIT(&config->names[i]);
	}
	TAILQ_INIT(&config->shares);
	config_forget_lent(config);
	TAILQ_INIT(&config->links);
	TAILQ_INIT(&config->clients);
	TAILQ_INIT(&config->withdrawals);
}

void config_add_domain(struct config *config, struct config_domain *domain) {
	TAILQ_INSERT_TAIL(&config->domains, domain, entry);
	TAILQ_INSERT_TAIL(&config->names[name_list(domain->name)], domain, of_name);
}

void config_remove_domain(struct config *config, struct config_domain *domain) {
	TAILQ_REMOVE(&config->domains, domain, entry);
	TAILQ_REMOVE(&config->names[name_list(domain->name)], domain, of_name);
}

void config_add_lent(struct config *config, struct config_share *share) {
	TAILQ_INSERT_TAIL(&config->lent[share->owner->number], share, of_owner);
}

void config_forget_lent(struct config *config) {
	for (uint32_t i = 0; i <= GID_DOMAIN_MAX; i++) {
		TAILQ_INIT(&config->lent[i]);
	}
}

static void link_finish(struct config_link *link) {
	struct config_setting *setting;
	while ((setting = TAILQ_FIRST(&link->lines)) != NULL) {
		TAILQ_REMOVE(&link->lines, setting, entry);
		free(setting->key);
		free(setting->value);
		free(setting);
	}
	free(link->settings);
	free(link->kind);
}

static void machine_finish(struct config_machine *machine) {
	free(machine->disk);
	free(machine->kernel);
	free(machine->initrd);
	free(machine->append);
	free(machine->options);
}

static void container_finish(struct config_container *container) {
	free(container->image);
	free(container->command);
	free(container->options);
}

void config_finish(struct config *config) {
	struct config_domain *domain;
	while ((domain = TAILQ_FIRST(&config->domains)) != NULL) {
		TAILQ_REMOVE(&config->domains, domain, entry);
		free(domain->local.text);
		free(domain->user);
		free(domain->group);
		free(domain->window_device);
		free(domain->control);
		machine_finish(&domain->machine);
		container_finish(&domain->container);
		free(domain);
	}
	struct config_share *share;
	while ((share = TAILQ_FIRST(&config->shares)) != NULL) {
		TAILQ_REMOVE(&config->shares, share, entry);
		free(share->streams.text);
		free(share);
	}
	struct config_client *client;
	while ((client = TAILQ_FIRST(&config->clients)) != NULL) {
		TAILQ_REMOVE(&config->clients, client, entry);
		free(client->publish.text);
		free(client->read.text);
		free(client);
	}
	struct config_link *link;
	while ((link = TAILQ_FIRST(&config->links)) != NULL) {
		TAILQ_REMOVE(&config->links, link, entry);
		link_finish(link);
		free(link);
	}
	struct config_withdrawal *withdrawal;
	while ((withdrawal = TAILQ_FIRST(&config->withdrawals)) != NULL) {
		TAILQ_REMOVE(&config->withdrawals, withdrawal, entry);
		free(withdrawal);
	}
	free(config->runtime);
	config->runtime = NULL;
}
