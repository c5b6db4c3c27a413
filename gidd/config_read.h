// SPDX-License-Identifier: MIT
/** Between the files that read the configuration: sections in config_read.c, keys in config_keys.c.
 */
#ifndef GIDD_CONFIG_READ_H
#define GIDD_CONFIG_READ_H

#include "config.h"

struct reading {
	struct config *config;
	FILE *file, *errors;
	const char *name;
	unsigned line;
	int result;
	bool in_cockpit;
	bool skipping; /* a section that could not be understood: its keys mean nothing */
	/* The section that the lines are in; none or one of these is set. */
	struct config_domain *domain;
	struct config_share *share;
	struct config_link *link;
	char last_key[64]; /* a second line of the same value comes under the same key */
};

__attribute__((format(printf, 3, 4))) void config_mistake(
	struct reading *reading, unsigned line, const char *format, ...);

/* inih's handler: one key of the section that `data`, the reading, is in. */
int config_handle_key(void *data, const char *section, const char *key, const char *value);

#endif
