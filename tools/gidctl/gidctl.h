// SPDX-License-Identifier: MIT
/** The commands of gidctl, and how each gets gidd's report. */
#ifndef GIDCTL_H
#define GIDCTL_H

#include <gid/domain.h>
#include <systemd/sd-json.h>

struct options {
	const char *domain; /* NULL: $GID_DOMAIN, else the only one */
	const char *config; /* NULL: not given */
	double interval;    /* seconds */
	bool json, plain, once, all;
	bool assurance;	    /* doctor: the assumptions of use */
	const char *from;   /* revoke: from whom; NULL: from all others */
	const char *output; /* snap: the file; NULL: not given */
	unsigned frames;    /* snap, watch: how many; 0: not given */
	double wait;	    /* snap, watch: seconds without a frame; 0: not given */
	char *const *words; /* behind the command */
	int word_count;
};

/* What doctor checks where no gidd runs that could tell its own. */
#define DOCTOR_DEFAULT_CONFIG "/etc/gidway/gidway.conf"

/* Each returns the exit status. */
int command_status(const struct options *options);
int command_list(const struct options *options);
int command_top(const struct options *options);
int command_revoke(const struct options *options);
int command_seal(const struct options *options);
int command_unseal(const struct options *options);
int command_doctor(const struct options *options);
int command_snap(const struct options *options);
int command_watch(const struct options *options);

/* Says what is wrong with the words and options of a command, and returns the exit status. */
__attribute__((format(printf, 1, 2))) int usage_error(const char *format, ...);

/* --- report.c --------------------------------------------------------------------------------- */

/* Connects, or says on stderr why not and returns NULL. */
struct gid_domain *report_connect(const struct options *options);
/*
 * The same for something of `owner`, which may be NULL: where nobody says which domain is asked,
 * and several run here, it is the owner.
 */
struct gid_domain *report_connect_for(const struct options *options, const char *owner);
/* Whether the word means it: its name, or as people say it its number. */
bool report_is_named(const struct gid_domain *domain, const char *word);
/* The domains whose gidds have been here, at most `most` names. Returns how many. */
size_t report_find_domains(char (*names)[GID_NAME_MAX + 1], size_t most);
/* gidd's report. 0, or -errno with NULL and no message. */
int report_fetch(struct gid_domain *domain, sd_json_variant **report);
/* Connects, fetches and disconnects. NULL after a message on stderr. */
sd_json_variant *report_get(const struct options *options);

/* A field of an object; "", 0, or NULL where there is none of that type. A text is of one line. */
const char *report_text(sd_json_variant *object, const char *key);
uint64_t report_number(sd_json_variant *object, const char *key);
sd_json_variant *report_field(sd_json_variant *object, const char *key);

/* The elements of a field that is an array. */
#define REPORT_FOREACH(element, object, key)                                                       \
	for (size_t index_ = 0; ((element) = report_element(object, key, index_)) != NULL; index_++)
sd_json_variant *report_element(sd_json_variant *object, const char *key, size_t index);

/* How far off times between the ends of a subscription may be; "-": they have one clock. */
const char *report_clock_error(sd_json_variant *subscription, char text[static 24]);

/* "1.5 MiB" */
#define REPORT_BYTES_MAX 16
const char *report_bytes(uint64_t bytes, char text[REPORT_BYTES_MAX]);

#endif
