// SPDX-License-Identifier: MIT
/** The configuration for programs that start gidds and their machines: `gidd --check --json`. */
#ifndef GIDD_CONFIG_JSON_H
#define GIDD_CONFIG_JSON_H

#include "config.h"

/* Writes it as one line. Of a file with mistakes it is what was understood. */
void config_json_write(const struct config *config, FILE *out);

#endif
