// SPDX-License-Identifier: MIT
/* Updates the configuration in use with a later reading of its file. Pure. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "config.h"

struct update {
	struct config *config;
	const struct config *fresh;
	const char *name;
	FILE *errors;
	bool refused;
};

__attribute__((format(printf, 3, 4))) static void refuse(
		struct update *update, unsigned line, const char *format, ...) {
	va_list args;
	fprintf(update->errors, "%s:%u: ", update->name, line);
	va_start(args, format);
	vfprintf(update->errors, format, args);
	va_end(args);
	fprintf(update->errors, "; gidd must be restarted for that\n");
	update->refused = true;
}

static bool is_same_text(const char *one, const char *other) {
	return one == other || (one != NULL && other != NULL && strcmp(one, other) == 0);
}

/* --- what needs a restart --------------------------------------------------------------------- */

static void check_domain(struct update *update, const struct config_domain *domain) {
	const struct config_domain *old = config_domain_by_name(update->config, domain->name);
	if (old == NULL && (domain->kind == KIND_HOST || domain->kind == KIND_GUEST)) {
		refuse(update, domain->line, "domain %s is new, and the host or a guest",
				domain->name);
	}
	if (old == NULL) {
		return;
	}
	const struct {
		const char *key;
		bool same;
	} keys[] = {
			{"number", domain->number == old->number},
			{"kind", domain->kind == old->kind},
			{"window", domain->window == old->window},
			{"window-kind", domain->window_kind == old->window_kind},
			{"window-device", is_same_text(domain->window_device, old->window_device)},
			{"doorbell",
					domain->doorbell == old->doorbell &&
							domain->direct == old->direct},
			{"control", is_same_text(domain->control, old->control)},
			{"user", is_same_text(domain->user, old->user)},
			{"group", is_same_text(domain->group, old->group)},
			{"seal", domain->seal_s == old->seal_s},
	};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!keys[i].same) {
			refuse(update, domain->line, "%s= of domain %s has changed", keys[i].key,
					domain->name);
		}
	}
}

/* The link of the same two domains in another reading, or NULL. */
static const struct config_link *find_link(
		const struct config *config, const struct config_link *link) {
	const struct config_domain *one = config_domain_by_name(config, link->names[0]);
	const struct config_domain *other = config_domain_by_name(config, link->names[1]);
	return one == NULL || other == NULL ? NULL : config_link_find(config, one, other);
}

static bool is_same_link(const struct config_link *one, const struct config_link *other) {
	const struct config_setting *left = TAILQ_FIRST(&one->lines);
	const struct config_setting *right = TAILQ_FIRST(&other->lines);
	while (left != NULL && right != NULL && strcmp(left->key, right->key) == 0 &&
			strcmp(left->value, right->value) == 0) {
		left = TAILQ_NEXT(left, entry);
		right = TAILQ_NEXT(right, entry);
	}
	return left == NULL && right == NULL && is_same_text(one->kind, other->kind);
}

static void check_links(struct update *update) {
	const struct config_link *link;
	TAILQ_FOREACH(link, &update->fresh->links, entry) {
		const struct config_link *old = find_link(update->config, link);
		if (old == NULL || !is_same_link(link, old)) {
			refuse(update, link->line, "[link %s %s] is %s", link->names[0],
					link->names[1], old == NULL ? "new" : "another");
		}
	}
	TAILQ_FOREACH(link, &update->config->links, entry) {
		if (find_link(update->fresh, link) == NULL) {
			refuse(update, 0, "[link %s %s] is gone", link->names[0], link->names[1]);
		}
	}
}

/* The line of a share that makes the two a pair; 0: there is none. */
static unsigned share_line(const struct config *config, const struct config_domain *one,
		const struct config_domain *other) {
	const struct config_share *share = config_share_find(config, one, other);
	if (share == NULL) {
		share = config_share_find(config, other, one);
	}
	return share == NULL ? 0 : share->line;
}

/* Windows are planned at the start only. A pair that no longer shares anything keeps its link. */
static void check_guests(struct update *update) {
	const struct config_domain *one, *other;
	TAILQ_FOREACH(one, &update->fresh->domains, entry) {
		for (other = TAILQ_NEXT(one, entry); other != NULL;
				other = TAILQ_NEXT(other, entry)) {
			const struct config_domain *old_one =
					config_domain_by_name(update->config, one->name);
			const struct config_domain *old_other =
					config_domain_by_name(update->config, other->name);
			bool was = old_one != NULL && old_other != NULL &&
					config_is_remote(update->config, old_one, old_other);
			if (config_is_remote(update->fresh, one, other) && !was) {
				refuse(update, share_line(update->fresh, one, other),
						"domains %s and %s, one of them a guest, "
						"share something for the first time",
						one->name, other->name);
			}
		}
	}
}

static void check_all(struct update *update) {
	const struct config *config = update->config, *fresh = update->fresh;
	const struct config_domain *domain;
	if (!is_same_text(config->runtime, fresh->runtime)) {
		refuse(update, fresh->runtime_line, "runtime= has changed");
	}
	TAILQ_FOREACH(domain, &config->domains, entry) {
		if (config_domain_by_name(fresh, domain->name) == NULL) {
			refuse(update, 0, "[domain %s] is gone", domain->name);
		}
	}
	TAILQ_FOREACH(domain, &fresh->domains, entry) {
		check_domain(update, domain);
	}
	check_links(update);
	check_guests(update);
}

/* --- what changes at run time ----------------------------------------------------------------- */

static void take_domains(struct config *config, struct config *fresh) {
	struct config_domain *domain, *next;
	for (domain = TAILQ_FIRST(&fresh->domains); domain != NULL; domain = next) {
		next = TAILQ_NEXT(domain, entry);
		struct config_domain *old =
				(struct config_domain *)config_domain_by_name(config, domain->name);
		if (old == NULL) {
			config_remove_domain(fresh, domain);
			config_add_domain(config, domain);
			continue;
		}
		struct config_globs local = old->local;
		old->local = domain->local;
		domain->local = local;
		memcpy(old->quota, domain->quota, sizeof(old->quota));
		memcpy(old->client_quota, domain->client_quota, sizeof(old->client_quota));
		old->line = domain->line;
	}
}

static void take_shares(struct config *config, struct config *fresh) {
	struct config_shares old = TAILQ_HEAD_INITIALIZER(old);
	struct config_share *share;
	TAILQ_CONCAT(&old, &config->shares, entry);
	TAILQ_CONCAT(&config->shares, &fresh->shares, entry);
	TAILQ_CONCAT(&fresh->shares, &old, entry);
	config_forget_lent(fresh);
	config_forget_lent(config);
	TAILQ_FOREACH(share, &fresh->shares, entry) {
		config_add_lent(fresh, share); /* for access_lost_by(), which compares the two */
	}
	TAILQ_FOREACH(share, &config->shares, entry) {
		share->owner = config_domain_by_name(config, share->owner_name);
		share->reader = config_domain_by_name(config, share->reader_name);
		config_add_lent(config, share);
	}
}

static void take_clients(struct config *config, struct config *fresh) {
	struct config_clients old = TAILQ_HEAD_INITIALIZER(old);
	struct config_client *client;
	TAILQ_CONCAT(&old, &config->clients, entry);
	TAILQ_CONCAT(&config->clients, &fresh->clients, entry);
	TAILQ_CONCAT(&fresh->clients, &old, entry);
	TAILQ_FOREACH(client, &config->clients, entry) {
		client->domain = config_domain_by_name(config, client->domain_name);
	}
}

int config_update(struct config *config, struct config *fresh, const char *name, FILE *errors) {
	struct update update = {.config = config, .fresh = fresh, .name = name, .errors = errors};
	check_all(&update);
	if (update.refused) {
		return -EINVAL;
	}
	config->mark = fresh->mark;
	take_domains(config, fresh);
	take_shares(config, fresh);
	take_clients(config, fresh);
	TAILQ_CONCAT(&fresh->withdrawals, &config->withdrawals, entry);
	return 0;
}
