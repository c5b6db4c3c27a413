// SPDX-License-Identifier: MIT
/**
 * What of the roles outlives the process, and its form in a file, a line for each role:
 *
 *   gid-cluster 2 BOOT-ID
 *   role STATE REASON SINCE STILL TRANSITIONS NAME
 *
 * with states and reasons by their words, SINCE and STILL in ns.
 *
 * Pure: files are keeper.c's. What is parsed may be anything: whoever can write the file may have.
 */
#ifndef CLUSTER_KEPT_H
#define CLUSTER_KEPT_H

#include "role.h"

/* The size of a boot's id with its '\0'. */
#define KEPT_BOOT_SIZE 37
/* The longest file that is read. */
#define KEPT_SIZE_MAX ((size_t)1 << 18)

struct kept_role {
	const char *name;     /* the caller's */
	bool known;	      /* the file tells of it; else all below is 0 */
	uint64_t transitions; /* how many there were */
	struct role_past past;
};

/*
 * Fills in what the text tells of the named roles; others in it are left out. `boot` is the id of
 * this boot, `now` its time: what comes from another boot, or from the future, is refused. Returns
 * 0, or -EINVAL where anything is not as it should be: then none is known.
 */
int kept_parse(struct kept_role *roles, size_t count, const char *boot, uint64_t now,
		const char *text, size_t size);

/* Writes the text, with a '\0'. Returns its length, or -ENOSPC where it does not fit. */
int kept_format(const struct kept_role *roles, size_t count, const char *boot, char *text,
		size_t size);

#endif
