// SPDX-License-Identifier: MIT
/** The configuration, read from its file. */
#ifndef GIDD_CONFIG_FILE_H
#define GIDD_CONFIG_FILE_H

#include "config.h"

/*
 * Reads the file. `name` is how messages call it. Returns 0, -EINVAL with every mistake written to
 * `errors` as a line "name:line: what is wrong", or -ENOMEM. The configuration is to be finished
 * in either case. Pure: reads text, touches nothing else.
 */
int config_read(struct config *config, FILE *file, const char *name, FILE *errors);

/*
 * The same for the file at `path`, which lives as long as the configuration, and with what its
 * links have by the keys of their kinds; or -errno where it cannot be opened.
 */
int config_file_read(struct config *config, const char *path, config_link_keys_func keys_of,
		FILE *errors);

/* Whether the file has changed since the configuration was read from it. */
bool config_file_is_newer(const struct config *config);

#endif
