// SPDX-License-Identifier: MIT
/** Parts of the report that gidctl shows, each an array in JSON. */
#ifndef GIDD_STATUS_PART_H
#define GIDD_STATUS_PART_H

#include <systemd/sd-json.h>

#include "gidd.h"

/*
 * Adds a value to `*array` and drops our reference to it. A failure is kept in `*error`, where the
 * first one counts.
 */
void status_append(sd_json_variant **array, sd_json_variant *value, int built, int *error);

/* --- status_link.c --- */

sd_json_variant *status_links(struct gidd *gidd, int *error);
/* Of the hub: who it joins with whom, and what each of them did. */
sd_json_variant *status_pairs(struct gidd *gidd, int *error);

#endif
