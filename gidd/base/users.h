// SPDX-License-Identifier: MIT
/**
 * The users of [client …] by their numbers, as the kernel tells them of who connects. Names are
 * asked for when the configuration was read, and never for a connection: whoever knows them may be
 * a server that takes its time.
 */
#ifndef GIDD_USERS_H
#define GIDD_USERS_H

#include "config.h"

/*
 * Finds the numbers of those of a domain. Who is not found keeps the number that `older` has, an
 * earlier reading, or NULL. Who has none, which is logged, has no section.
 */
void users_find(struct config *config, const struct config *older,
		const struct config_domain *domain);

/* The section about a user's programs in the domain, or NULL: they may do all that it may. */
const struct config_client *users_find_section(
		const struct config *config, const struct config_domain *domain, uid_t user);

#endif
