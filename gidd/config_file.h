// SPDX-License-Identifier: MIT
/** The configuration as a file of this program, which knows what kinds of links it was built with.
 */
#ifndef GIDD_CONFIG_FILE_H
#define GIDD_CONFIG_FILE_H

#include "config.h"

/*
 * As config_read(), for the file at `path`; or -errno where it cannot be opened. The configuration
 * is to be finished in any case.
 */
int config_file_read(struct config *config, const char *path, FILE *errors);

#endif
