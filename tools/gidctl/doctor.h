// SPDX-License-Identifier: MIT
/** What `gidctl doctor` and its list of assumptions share: findings, and where both look. */
#ifndef GIDCTL_DOCTOR_H
#define GIDCTL_DOCTOR_H

#include <limits.h>

#include "gidctl.h"

/* VERDICT_ASK: no program can see it, and somebody has to look. */
enum verdict { VERDICT_GOOD, VERDICT_WARNING, VERDICT_BAD, VERDICT_ASK, VERDICT_COUNT };

#define DOCTOR_FILES_MAX 16

struct doctor {
	const struct options *options;
	sd_json_variant *findings;
	char *files[DOCTOR_FILES_MAX]; /* configurations that gidds run with */
	unsigned file_count;
	unsigned counts[VERDICT_COUNT];
};

/*
 * One finding: what was looked at, what was found, and what to do, which is "" where all is well.
 * It is printed, or kept for JSON.
 */
__attribute__((format(printf, 5, 6))) void doctor_find(struct doctor *doctor, enum verdict verdict,
		const char *what, const char *remedy, const char *format, ...);

/*
 * Runs a program and keeps the beginning of what it says on stdout and stderr. Returns its exit
 * status, or -errno where it cannot be started.
 */
int doctor_run(char *const arguments[], char *output, size_t size);

/* Takes note of the file that a gidd runs with, by its report. */
void doctor_note_file(struct doctor *doctor, sd_json_variant *report);

/*
 * Writes to `file` where one is that was noted. False, which is found as a note: it is none that is
 * to be opened.
 */
bool doctor_resolve_file(
		struct doctor *doctor, const char *what, const char *said, char file[PATH_MAX]);

/*
 * What is wrong with configurations, as gidd --check finds it: that which the user names, else
 * those that were noted, else where one belongs.
 */
void doctor_check_files(struct doctor *doctor, const char *what);

/* These find something of `verdict` where it is not as it should be: */

/* Whether the configuration is newer than what gidd read of it. */
void doctor_check_age(struct doctor *doctor, sd_json_variant *report, const char *what);

/* The pid of the report's gidd here. 0: it is in another pid namespace. */
uint64_t doctor_find_gidd(sd_json_variant *report);

/* Whether a program runs as the user of its gidd: 1; 0: none does; -errno: gidd cannot be seen. */
int doctor_check_users(struct doctor *doctor, sd_json_variant *report, const char *what,
		enum verdict verdict);

/* Whether others may run where the domain's gid-cluster does. False: there is none, or no answer.
 */
bool doctor_check_processors(
		struct doctor *doctor, const char *domain, const char *what, enum verdict verdict);

/* The kernel, limits, domains, configurations, and what gidway plugs into. */
void doctor_check_machine(struct doctor *doctor);

/* --- assumptions.c ---------------------------------------------------------------------------- */

/* The assumptions of use, as assurance/assumptions.trlc has them, looked for on this machine. */
void doctor_check_assumptions(struct doctor *doctor);

#endif
