// SPDX-License-Identifier: MIT
/**
 * The state of roles that is kept across a restart, and its form in a file, with a line for each
 * role:
 *
 *     gid-cluster 2 BOOT-ID
 *     role STATE REASON SINCE STILL TRANSITIONS NAME
 *
 * with states and reasons by their words, SINCE and STILL in ns.
 *
 * Pure: files are state_writer.c's. The parsed text may be anything: whoever can write the file may
 * have written it.
 */
#ifndef CLUSTER_SAVED_STATE_H
#define CLUSTER_SAVED_STATE_H

#include "role.h"

/* The size of a boot's id with its '\0'. */
#define SAVED_STATE_BOOT_SIZE 37
/* The longest file that is read. */
#define SAVED_STATE_SIZE_MAX ((size_t)1 << 18)

struct saved_role {
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
int saved_state_parse(struct saved_role *roles, size_t count, const char *boot, uint64_t now,
		const char *text, size_t size);

/* Writes the text, with a '\0'. Returns its length, or -ENOSPC where it does not fit. */
int saved_state_format(const struct saved_role *roles, size_t count, const char *boot, char *text,
		size_t size);

#endif
