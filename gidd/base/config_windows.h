// SPDX-License-Identifier: MIT
/**
 * Which windows a cockpit needs: of each domain one for each set of other domains that may read the
 * same of it, as far as one of them is on another machine. So what is shared with some is in no
 * memory that others can read.
 *
 * The sets follow from the shares: those that read a stream together, all that read anything, and
 * each domain by itself, for what is only between the two (rings and consumers' pages).
 *
 * Beside these there are spares, without pages until somebody needs them: for what is left of a set
 * when a stream is taken from one of its readers, or from more where they are few.
 *
 * Pure: reads the configuration, touches nothing else.
 */
#ifndef GIDD_CONFIG_WINDOWS_H
#define GIDD_CONFIG_WINDOWS_H

#include "config.h"
#include "domain_set.h"

#define CONFIG_WINDOWS_MAX 63u	/* of one domain: numbers 0..62 */
#define CONFIG_WINDOW_NAME 256u /* of a file, with the zero at its end */
/* Of a window that has no stream, but only what is between two domains. */
#define CONFIG_WINDOW_SMALL (UINT64_C(4) << 20)

struct config_window {
	TAILQ_ENTRY(config_window) entry;
	const struct config_domain *owner;
	uint32_t number; /* among those of the owner */
	struct domain_set readers;
	uint64_t size;	 /* 0: nobody needs it (any more) */
	uint64_t filled; /* so much of it is to have pages; of a spare: none */
	uint64_t made;	 /* so much has them already, as far as the hub knows */
};

TAILQ_HEAD(config_windows, config_window);

void config_windows_init(struct config_windows *windows);
void config_windows_finish(struct config_windows *windows);

/*
 * Adds missing windows, each with a number that the owner does not use yet; existing ones keep
 * their number and get their size. 0; -ENOMEM; -E2BIG: `*owner` has too many sets of readers.
 */
int config_windows_plan(struct config_windows *windows, const struct config *config,
		const struct config_domain **owner);

/*
 * The same for a configuration that has changed while the windows are in use: none is given up, or
 * becomes smaller.
 */
int config_windows_extend(struct config_windows *windows, const struct config *config,
		const struct config_domain **owner);

/*
 * Streams of the owner were revoked from `reader`: spare windows for its other readers get pages.
 */
void config_windows_fill_spares(struct config_windows *windows, const struct config_domain *owner,
		const struct config_domain *reader);

/* Adds a window that exists from an earlier run. 0, -ENOMEM, -EEXIST. */
int config_windows_add(struct config_windows *windows, const struct config_domain *owner,
		uint32_t number, const struct domain_set *readers);

const struct config_window *config_windows_find(const struct config_windows *windows,
		const struct config_domain *owner, uint32_t number);

/* The name of its file, NUMBER.READER-READER…; and what one says: false: it is no such name. */
void config_window_put_name(const struct config_window *window, char name[CONFIG_WINDOW_NAME]);
bool config_window_parse_name(const char *name, uint32_t *number, struct domain_set *readers);

/*
 * Who may read the owner's stream; any of its streams; that domain alone. Empty where none of them
 * is on another machine.
 */
struct domain_set config_readers_of_stream(
		const struct config *config, const struct config_domain *owner, const char *stream);
struct domain_set config_readers_of_any(
		const struct config *config, const struct config_domain *owner);
struct domain_set config_reader_alone(const struct config *config,
		const struct config_domain *owner, const struct config_domain *reader);

#endif
