// SPDX-License-Identifier: MIT
#include "config_windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"

/* --- sets of readers -------------------------------------------------------------------------- */

/* Whether any of the readers runs on another machine than the owner. */
static bool is_any_remote(const struct config *config, const struct config_domain *owner,
		const struct domain_set *readers) {
	const struct config_domain *reader;
	TAILQ_FOREACH(reader, &config->domains, entry) {
		if (domain_set_has(readers, reader->number) &&
				config_is_remote(config, owner, reader)) {
			return true;
		}
	}
	return false;
}

struct domain_set config_readers_of_stream(const struct config *config,
		const struct config_domain *owner, const char *stream) {
	struct domain_set readers = access_readers_of(config, owner, stream);
	return is_any_remote(config, owner, &readers) ? readers : (struct domain_set){0};
}

struct domain_set config_readers_of_any(
		const struct config *config, const struct config_domain *owner) {
	return config_readers_of_stream(config, owner, NULL);
}

struct domain_set config_reader_alone(const struct config *config,
		const struct config_domain *owner, const struct config_domain *reader) {
	struct domain_set readers = {0};
	if (reader != NULL && config_is_remote(config, owner, reader)) {
		domain_set_put(&readers, reader->number, true);
	}
	return readers;
}

/* --- the list --------------------------------------------------------------------------------- */

void config_windows_init(struct config_windows *windows) {
	TAILQ_INIT(windows);
}

void config_windows_finish(struct config_windows *windows) {
	struct config_window *window;
	while ((window = TAILQ_FIRST(windows)) != NULL) {
		TAILQ_REMOVE(windows, window, entry);
		free(window);
	}
}

const struct config_window *config_windows_find(const struct config_windows *windows,
		const struct config_domain *owner, uint32_t number) {
	const struct config_window *window;
	TAILQ_FOREACH(window, windows, entry) {
		if (window->owner == owner && window->number == number) {
			return window;
		}
	}
	return NULL;
}

static struct config_window *find_set(const struct config_windows *windows,
		const struct config_domain *owner, const struct domain_set *readers) {
	struct config_window *window;
	TAILQ_FOREACH(window, windows, entry) {
		if (window->owner == owner && domain_set_is_equal(&window->readers, readers)) {
			return window;
		}
	}
	return NULL;
}

/* NULL: out of memory. */
static struct config_window *add_window(struct config_windows *windows,
		const struct config_domain *owner, uint32_t number,
		const struct domain_set *readers) {
	struct config_window *window = calloc(1, sizeof(*window));
	if (window != NULL) {
		window->owner = owner;
		window->number = number;
		window->readers = *readers;
		TAILQ_INSERT_TAIL(windows, window, entry);
	}
	return window;
}

int config_windows_add(struct config_windows *windows, const struct config_domain *owner,
		uint32_t number, const struct domain_set *readers) {
	if (config_windows_find(windows, owner, number) != NULL ||
			find_set(windows, owner, readers) != NULL) {
		return -EEXIST;
	}
	return add_window(windows, owner, number, readers) == NULL ? -ENOMEM : 0;
}

/* --- names ------------------------------------------------------------------------------------ */

/* False: the name would be too long. */
static bool put_name(
		uint32_t number, const struct domain_set *readers, char name[CONFIG_WINDOW_NAME]) {
	size_t at = (size_t)snprintf(name, CONFIG_WINDOW_NAME, "%u", number);
	char between = '.';
	for (uint32_t domain = 1; domain <= GID_DOMAIN_MAX; domain++) {
		if (domain_set_has(readers, domain) && at < CONFIG_WINDOW_NAME) {
			at += (size_t)snprintf(name + at, CONFIG_WINDOW_NAME - at, "%c%u", between,
					domain);
			between = '-';
		}
	}
	return at < CONFIG_WINDOW_NAME;
}

void config_window_put_name(const struct config_window *window, char name[CONFIG_WINDOW_NAME]) {
	/* No window is planned whose name would be longer. */
	(void)put_name(window->number, &window->readers, name);
}

/* Reads decimal digits without leading zeroes. NULL: this is not a number up to `most`. */
static const char *parse_number(const char *text, uint32_t most, uint32_t *number) {
	const char *at = text;
	*number = 0;
	while (*at >= '0' && *at <= '9' && *number <= most) {
		*number = *number * 10 + (uint32_t)(*at++ - '0');
	}
	return at == text || *number > most || (text[0] == '0' && at != text + 1) ? NULL : at;
}

bool config_window_parse_name(const char *name, uint32_t *number, struct domain_set *readers) {
	uint32_t domain = 0, last = 0;
	*readers = (struct domain_set){0};
	const char *at = parse_number(name, CONFIG_WINDOWS_MAX - 1, number);
	char between = '.';
	while (at != NULL && *at == between) {
		at = parse_number(at + 1, GID_DOMAIN_MAX, &domain);
		if (at == NULL || domain <= last) {
			return false;
		}
		domain_set_put(readers, domain, true);
		last = domain;
		between = '-';
	}
	return at != NULL && *at == '\0' && last != 0;
}

/* --- planning --------------------------------------------------------------------------------- */

/*
 * The names that a word of streams= can match, by their beginning and end. Two patterns are taken
 * to have names in common unless these exclude it.
 */
struct pattern {
	char begin[GID_NAME_MAX + 1], end[GID_NAME_MAX + 1]; /* a name fits in each */
	struct domain_set readers;
};

#define PATTERNS_MAX 256u
/*
 * Sets of this many readers get a spare window for every subset; larger sets get one for the loss
 * of each single reader.
 */
#define SPARES_FOR_ALL 3u

struct plan {
	struct config_windows *windows;
	const struct config *config;
	const struct config_domain *owner;
	struct pattern patterns[PATTERNS_MAX];
	uint32_t pattern_count;
};

static int new_number(const struct plan *plan, uint32_t *number) {
	for (*number = 0; *number < CONFIG_WINDOWS_MAX; ++*number) {
		if (config_windows_find(plan->windows, plan->owner, *number) == NULL) {
			return 0;
		}
	}
	return -E2BIG;
}

/* `filled`: how many bytes of the window have pages from the start. */
static int want_filled(struct plan *plan, const struct domain_set *readers, uint64_t size,
		uint64_t filled) {
	char name[CONFIG_WINDOW_NAME];
	uint32_t number;
	if (!is_any_remote(plan->config, plan->owner, readers)) {
		return 0;
	}
	struct config_window *window = find_set(plan->windows, plan->owner, readers);
	if (window == NULL) {
		if (new_number(plan, &number) < 0 || !put_name(number, readers, name)) {
			return -E2BIG;
		}
		window = add_window(plan->windows, plan->owner, number, readers);
	}
	if (window == NULL) {
		return -ENOMEM;
	}
	window->size = window->size > size ? window->size : size;
	window->filled = window->filled > filled ? window->filled : filled;
	return 0;
}

static int want(struct plan *plan, const struct domain_set *readers, uint64_t size) {
	return want_filled(plan, readers, size, size);
}

static bool is_pattern(const char *word) {
	return strpbrk(word, "*?[\\") != NULL;
}

static bool is_either_begin(const char *one, const char *other) {
	size_t length = strlen(one), other_length = strlen(other);
	return strncmp(one, other, length < other_length ? length : other_length) == 0;
}

static bool is_either_end(const char *one, const char *other) {
	size_t length = strlen(one), other_length = strlen(other);
	size_t both = length < other_length ? length : other_length;
	return strcmp(one + length - both, other + other_length - both) == 0;
}

/* Whether the share has a word such as `begin*` that matches every name with that beginning. */
static bool has_all_names(const struct config_share *share, const char *begin) {
	const char *glob = share->streams.text;
	while (glob != NULL && *glob != '\0') {
		size_t length = strcspn(glob, " ");
		size_t plain = strcspn(glob, "*?[\\ ");
		if (plain + 1 == length && glob[plain] == '*' && strncmp(glob, begin, plain) == 0) {
			return true;
		}
		glob += length + (glob[length] == ' ');
	}
	return false;
}

/*
 * Plans a window for names with this beginning and end: for `readers`, and for the domains that may
 * read all such names. Adds the pattern unless it exists.
 */
static int add_pattern(
		struct plan *plan, const char *begin, const char *end, struct domain_set readers) {
	const struct config_share *share;
	TAILQ_FOREACH(share, &plan->config->lent[plan->owner->number], of_owner) {
		if (has_all_names(share, begin)) {
			domain_set_put(&readers, share->reader->number, true);
		}
	}
	for (uint32_t i = 0; i < plan->pattern_count; i++) {
		const struct pattern *old = &plan->patterns[i];
		if (domain_set_is_equal(&old->readers, &readers) &&
				strcmp(old->begin, begin) == 0 && strcmp(old->end, end) == 0) {
			return 0;
		}
	}
	if (plan->pattern_count == PATTERNS_MAX) {
		return -E2BIG;
	}
	struct pattern *pattern = &plan->patterns[plan->pattern_count++];
	snprintf(pattern->begin, sizeof(pattern->begin), "%.63s", begin);
	snprintf(pattern->end, sizeof(pattern->end), "%.63s", end);
	pattern->readers = readers;
	return want(plan, &readers, plan->owner->window);
}

/*
 * Names that two patterns match are read by the readers of both. Each new pattern is compared with
 * all earlier ones.
 */
static int want_overlaps(struct plan *plan) {
	for (uint32_t i = 0; i < plan->pattern_count; i++) {
		for (uint32_t k = 0; k < i; k++) {
			const struct pattern *one = &plan->patterns[i], *other = &plan->patterns[k];
			if (!is_either_begin(one->begin, other->begin) ||
					!is_either_end(one->end, other->end)) {
				continue;
			}
			bool longer_begin = strlen(one->begin) > strlen(other->begin);
			bool longer_end = strlen(one->end) > strlen(other->end);
			int error = add_pattern(plan, longer_begin ? one->begin : other->begin,
					longer_end ? one->end : other->end,
					domain_set_union(&one->readers, &other->readers));
			if (error < 0) {
				return error;
			}
		}
	}
	return 0;
}

static int want_word(struct plan *plan, const struct config_share *share, const char *word) {
	if (!is_pattern(word)) {
		struct domain_set readers = access_readers_of(plan->config, plan->owner, word);
		return want(plan, &readers, plan->owner->window);
	}
	char begin[CONFIG_GLOB_MAX + 1];
	size_t length = strcspn(word, "*?[\\");
	memcpy(begin, word, length);
	begin[length] = '\0';
	const char *end = word + strlen(word);
	while (strchr("*?[]\\", end[-1]) == NULL) {
		end--;
	}
	struct domain_set readers = {0};
	domain_set_put(&readers, share->reader->number, true);
	return add_pattern(plan, begin, end, readers);
}

static int want_share(struct plan *plan, const struct config_share *share) {
	const char *glob = share->streams.text;
	int error = 0;
	while (error == 0 && glob != NULL && *glob != '\0') {
		size_t length = strcspn(glob, " ");
		char word[CONFIG_GLOB_MAX + 1];
		if (length > 0 && length < sizeof(word)) {
			memcpy(word, glob, length);
			word[length] = '\0';
			error = want_word(plan, share, word);
		}
		glob += length + (glob[length] == ' ');
	}
	return error;
}

/* Plans the spare window for when one reader loses the stream. */
static int want_rest(struct plan *plan, const struct domain_set *readers, uint32_t without) {
	struct domain_set rest = *readers;
	domain_set_put(&rest, without, false);
	if (!domain_set_has(readers, without) || domain_set_is_empty(&rest)) {
		return 0;
	}
	return want_filled(plan, &rest, plan->owner->window, 0);
}

static int want_rests(struct plan *plan, const struct domain_set *readers) {
	int error = 0;
	for (uint32_t reader = 1; reader <= GID_DOMAIN_MAX && error == 0; reader++) {
		error = want_rest(plan, readers, reader);
	}
	return error;
}

_Static_assert(SPARES_FOR_ALL == 3, "of three readers two can lose it before nobody is left");

/* For a small set: also when a second reader loses it. */
static int want_all_rests(struct plan *plan, const struct domain_set *readers) {
	int error = 0;
	for (uint32_t reader = 1; reader <= GID_DOMAIN_MAX && error == 0; reader++) {
		struct domain_set rest = *readers;
		domain_set_put(&rest, reader, false);
		error = want_rest(plan, readers, reader);
		if (error == 0 && domain_set_has(readers, reader)) {
			error = want_rests(plan, &rest);
		}
	}
	return error;
}

static uint32_t count_readers(const struct domain_set *readers) {
	uint32_t count = 0;
	for (uint32_t reader = 1; reader <= GID_DOMAIN_MAX; reader++) {
		count += domain_set_has(readers, reader);
	}
	return count;
}

/*
 * Runs last, so that spare windows get the last numbers. Only windows that can hold streams get
 * spares: those have all their pages.
 */
static int want_spares(struct plan *plan) {
	const struct config_window *window;
	int error = 0;
	TAILQ_FOREACH(window, plan->windows, entry) {
		uint32_t count = count_readers(&window->readers);
		bool has_streams = window->size > 0 && window->filled == plan->owner->window;
		if (error == 0 && window->owner == plan->owner && has_streams && count > 1) {
			error = count == SPARES_FOR_ALL ? want_all_rests(plan, &window->readers)
							: want_rests(plan, &window->readers);
		}
	}
	return error;
}

/* Plans all windows of one owner. The first holds the memory of most programs. */
static int plan_owner(struct plan *plan) {
	struct domain_set any = config_readers_of_any(plan->config, plan->owner);
	const struct config_share *share;
	const struct config_domain *other;
	plan->pattern_count = 0;
	int error = want(plan, &any, plan->owner->window);
	TAILQ_FOREACH(share, &plan->config->lent[plan->owner->number], of_owner) {
		if (error == 0) {
			error = want_share(plan, share);
		}
	}
	if (error == 0) {
		error = want_overlaps(plan);
	}
	uint64_t small = plan->owner->window < CONFIG_WINDOW_SMALL ? plan->owner->window
								   : CONFIG_WINDOW_SMALL;
	TAILQ_FOREACH(other, &plan->config->domains, entry) {
		struct domain_set alone = config_reader_alone(plan->config, plan->owner, other);
		if (error == 0) {
			error = want(plan, &alone, small);
		}
	}
	if (error == 0) {
		error = want_spares(plan);
		error = error == -E2BIG ? 0 : error; /* spare windows are not needed yet */
	}
	return error;
}

void config_windows_fill_spares(struct config_windows *windows, const struct config_domain *owner,
		const struct config_domain *reader) {
	struct config_window *window;
	TAILQ_FOREACH(window, windows, entry) {
		if (window->owner == owner && !domain_set_has(&window->readers, reader->number)) {
			window->filled = window->size;
		}
	}
}

int config_windows_plan(struct config_windows *windows, const struct config *config,
		const struct config_domain **owner) {
	struct config_window *window;
	TAILQ_FOREACH(window, windows, entry) {
		window->size = window->filled = 0;
	}
	return config_windows_extend(windows, config, owner);
}

int config_windows_extend(struct config_windows *windows, const struct config *config,
		const struct config_domain **owner) {
	const struct config_domain *domain;
	TAILQ_FOREACH(domain, &config->domains, entry) {
		struct plan plan = {.windows = windows, .config = config, .owner = domain};
		int error = plan_owner(&plan);
		if (error < 0) {
			*owner = domain;
			return error;
		}
	}
	return 0;
}
