// SPDX-License-Identifier: MIT
/** The display of a domain: gid-cluster, asked at the socket where it tells its status. */
#ifndef GIDCTL_DISPLAY_H
#define GIDCTL_DISPLAY_H

#include <sys/types.h>
#include <systemd/sd-json.h>

/* What the domain's gid-cluster says, as gid-cluster(1) describes. NULL: there is none. */
sd_json_variant *display_fetch(const char *domain);

/* The process that answers for the domain's gid-cluster. 0: there is none. */
pid_t display_pid(const char *domain);

/* Rates are from `before`, which may be NULL, to `after`. */
void display_print(sd_json_variant *before, sd_json_variant *after, double seconds);

#endif
