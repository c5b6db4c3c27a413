// SPDX-License-Identifier: MIT
/** What only libgid itself writes into a timeline. */
#ifndef GID_TIMELINE_DOMAIN_H
#define GID_TIMELINE_DOMAIN_H

#include <gid/timeline.h>

/* Appends a line with a domain's number, its name, as points have only numbers, and its clock. */
void gid_timeline_name_domain(struct gid_timeline *timeline, uint32_t number, const char *name);

#endif
