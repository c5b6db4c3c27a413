// SPDX-License-Identifier: MIT
/** What only libgid itself writes into a timeline. */
#ifndef GID_TIMELINE_DOMAIN_H
#define GID_TIMELINE_DOMAIN_H

#include <gid/timeline.h>

/* Appends a line with a domain's number and name: points have only numbers. */
void gid_timeline_name_domain(struct gid_timeline *timeline, uint32_t number, const char *name);

#endif
