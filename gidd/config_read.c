// SPDX-License-Identifier: MIT
/*
 * inih splits the lines; what they mean is decided here. inih neither counts lines for its handler
 * nor tells of sections without a key, so the reader that feeds it does both.
 */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config_read.h"

void config_mistake(struct reading *reading, unsigned line, const char *format, ...) {
	va_list args;
	fprintf(reading->errors, "%s:%u: ", reading->name, line);
	va_start(args, format);
	vfprintf(reading->errors, format, args);
	va_end(args);
	fputc('\n', reading->errors);
	if (reading->result == 0) {
		reading->result = -EINVAL;
	}
}

/* --- sections --------------------------------------------------------------------------------- */

static const uint64_t default_quota[QUOTA_COUNT] = {
	[QUOTA_MEMORY] = UINT64_C(1) << 30,
	[QUOTA_SLABS] = 1024,
	[QUOTA_STREAMS] = 64,
	[QUOTA_SUBSCRIPTIONS] = 256,
	[QUOTA_HELD] = 2048,
	[QUOTA_CLIENTS] = 128,
};
static const uint64_t default_window = UINT64_C(256) << 20;
static const uint64_t default_share_held = 512;

static bool copy_name(struct reading *reading, char name[GID_NAME_MAX + 1], const char *word) {
	if (!gid_name_is_valid(word) || strchr(word, '/') != NULL) {
		config_mistake(reading, reading->line,
			"\"%s\" is no name of a domain: at most %u letters, digits and - _ .", word,
			GID_NAME_MAX);
		return false;
	}
	strcpy(name, word);
	return true;
}

static bool begin_domain(struct reading *reading, char **words) {
	struct config_domain *domain = calloc(1, sizeof(*domain));
	if (domain == NULL) {
		reading->result = -ENOMEM;
		return false;
	}
	domain->line = reading->line;
	domain->window = default_window;
	domain->doorbell = true;
	for (enum quota quota = 0; quota < QUOTA_COUNT; quota++) {
		domain->quota[quota] = default_quota[quota];
		domain->client_quota[quota] = UINT64_MAX;
	}
	if (!copy_name(reading, domain->name, words[0])) {
		free(domain);
		return false;
	}
	const struct config_domain *twin = config_domain_by_name(reading->config, domain->name);
	if (twin != NULL) {
		config_mistake(reading, reading->line, "domain %s is in line %u already",
			domain->name, twin->line);
	}
	TAILQ_INSERT_TAIL(&reading->config->domains, domain, entry);
	reading->domain = domain;
	return true;
}

static bool begin_share(struct reading *reading, char **words) {
	struct config_share *share = calloc(1, sizeof(*share));
	if (share == NULL) {
		reading->result = -ENOMEM;
		return false;
	}
	share->line = reading->line;
	share->held = default_share_held;
	if (!copy_name(reading, share->owner_name, words[0]) ||
		!copy_name(reading, share->reader_name, words[1])) {
		free(share);
		return false;
	}
	TAILQ_INSERT_TAIL(&reading->config->shares, share, entry);
	reading->share = share;
	return true;
}

static bool begin_link(struct reading *reading, char **words) {
	struct config_link *link = calloc(1, sizeof(*link));
	if (link == NULL) {
		reading->result = -ENOMEM;
		return false;
	}
	TAILQ_INIT(&link->settings);
	link->line = reading->line;
	if (!copy_name(reading, link->names[0], words[0]) ||
		!copy_name(reading, link->names[1], words[1])) {
		free(link);
		return false;
	}
	TAILQ_INSERT_TAIL(&reading->config->links, link, entry);
	reading->link = link;
	return true;
}

static bool begin_cockpit(struct reading *reading, char **words) {
	reading->in_cockpit = true;
	return true;
}

static const struct section_kind {
	const char *word;
	unsigned arguments;
	const char *form;
	bool (*begin)(struct reading *reading, char **words);
} section_kinds[] = {
	{"cockpit", 0, "[cockpit]", begin_cockpit},
	{"domain", 1, "[domain NAME]", begin_domain},
	{"share", 2, "[share OWNER READER]", begin_share},
	{"link", 2, "[link ONE OTHER]", begin_link},
};

static void begin_section(struct reading *reading, char *line) {
	char *words[4] = {0}, *rest = line + 1, *word;
	unsigned count = 0;
	reading->domain = NULL;
	reading->share = NULL;
	reading->link = NULL;
	reading->in_cockpit = false;
	reading->skipping = true;
	reading->last_key[0] = '\0';
	char *end = strchr(line, ']');
	if (end == NULL) {
		config_mistake(reading, reading->line, "a [section] without its ]");
		return;
	}
	*end = '\0';
	while ((word = strsep(&rest, " \t")) != NULL && count < 4) {
		if (word[0] != '\0') {
			words[count++] = word;
		}
	}
	for (size_t i = 0; i < sizeof(section_kinds) / sizeof(section_kinds[0]); i++) {
		const struct section_kind *kind = &section_kinds[i];
		if (count == 0 || strcmp(words[0], kind->word) != 0) {
			continue;
		}
		if (count != kind->arguments + 1) {
			config_mistake(reading, reading->line, "must be %s", kind->form);
			return;
		}
		reading->skipping = !kind->begin(reading, words + 1);
		return;
	}
	config_mistake(reading, reading->line,
		"unknown section; there are [cockpit], [domain NAME], [share OWNER READER] and "
		"[link ONE OTHER]");
}

/* fgets() for inih: counts lines, begins sections, and hides from inih what it must not see. */
static char *read_line(char *buffer, int size, void *data) {
	struct reading *reading = data;
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length = getline(&line, &capacity, reading->file);
	if (length < 0) {
		free(line);
		return NULL;
	}
	reading->line++;
	buffer[0] = '\n', buffer[1] = '\0';
	bool control = false;
	for (ssize_t i = 0; i < length; i++) {
		bool blank = line[i] == '\n' || line[i] == '\r' || line[i] == '\t';
		control |= iscntrl((unsigned char)line[i]) && !blank;
	}
	static const char mark[] = "\xef\xbb\xbf"; /* a byte order mark, which some editors leave */
	size_t begin = reading->line == 1 && strncmp(line, mark, 3) == 0 ? 3 : 0;
	size_t blank = begin + strspn(line + begin, " \t\r");
	/* Behind a key what is indented goes on with its value. */
	bool section = line[blank] == '[' && (blank == begin || reading->last_key[0] == '\0');
	if (control) {
		config_mistake(reading, reading->line, "a control character");
	} else if (length >= size - 1) {
		config_mistake(reading, reading->line,
			"longer than %d bytes; a list goes on in the next line when that begins "
			"with a space",
			size - 3);
	} else if (section) {
		begin_section(reading, line + blank);
		strcpy(buffer, "[s]\n"); /* so that inih forgets the key before it */
	} else {
		memcpy(buffer, line, (size_t)length + 1);
	}
	free(line);
	return buffer;
}

/* --- what can only be said at the end --------------------------------------------------------- */

static void complete_domains(struct reading *reading) {
	struct config *config = reading->config;
	struct config_domain *domain;
	TAILQ_FOREACH(domain, &config->domains, entry) {
		for (enum quota quota = 0; quota < QUOTA_COUNT; quota++) {
			/* So that no client can take it all from the others. */
			if (domain->client_quota[quota] == UINT64_MAX) {
				domain->client_quota[quota] = (domain->quota[quota] + 1) / 2;
			}
		}
		const struct config_domain *twin = config_domain_by_number(config, domain->number);
		if (domain->number == 0) {
			config_mistake(reading, domain->line, "domain %s needs number=1..%u",
				domain->name, GID_DOMAIN_MAX);
		} else if (twin != domain) {
			config_mistake(reading, domain->line,
				"domain %s has the number %u of domain %s", domain->name,
				domain->number, twin->name);
		}
	}
	if (TAILQ_EMPTY(&config->domains)) {
		config_mistake(reading, reading->line, "no [domain NAME] in the whole file");
	}
}

static void complete_kinds(struct reading *reading) {
	const struct config *config = reading->config;
	const struct config_domain *host = config_host(config), *domain;
	TAILQ_FOREACH(domain, &config->domains, entry) {
		if (domain->kind == KIND_HOST && domain != host) {
			config_mistake(
				reading, domain->line, "domain %s is the host already", host->name);
		} else if (domain->kind == KIND_GUEST && host == NULL) {
			config_mistake(reading, domain->line,
				"domain %s is a guest: one domain must have kind=host, whose gidd "
				"joins it "
				"to the others",
				domain->name);
		}
	}
}

/* Two names of one section: both known and not the same. */
static bool find_pair(struct reading *reading, unsigned line, const char *one, const char *other,
	const struct config_domain **first, const struct config_domain **second) {
	*first = config_domain_by_name(reading->config, one);
	*second = config_domain_by_name(reading->config, other);
	if (*first == NULL || *second == NULL) {
		config_mistake(
			reading, line, "there is no [domain %s]", *first == NULL ? one : other);
		return false;
	}
	if (*first == *second) {
		config_mistake(reading, line, "a domain needs no section to share with itself");
		return false;
	}
	return true;
}

static void complete_pairs(struct reading *reading) {
	struct config *config = reading->config;
	struct config_share *share;
	TAILQ_FOREACH(share, &config->shares, entry) {
		if (!find_pair(reading, share->line, share->owner_name, share->reader_name,
			    &share->owner, &share->reader)) {
			continue;
		}
		const struct config_share *twin =
			config_share_find(config, share->owner, share->reader);
		if (twin != share) {
			config_mistake(reading, share->line,
				"what %s shares with %s is in line %u already", share->owner_name,
				share->reader_name, twin->line);
		}
	}
	struct config_link *link;
	TAILQ_FOREACH(link, &config->links, entry) {
		if (!find_pair(reading, link->line, link->names[0], link->names[1], &link->ends[0],
			    &link->ends[1])) {
			continue;
		}
		const struct config_link *twin =
			config_link_find(config, link->ends[0], link->ends[1]);
		if (twin != link) {
			config_mistake(reading, link->line,
				"the link of %s and %s is in line %u already", link->names[0],
				link->names[1], twin->line);
		}
		bool local = link->kind != NULL && strcmp(link->kind, "local") == 0;
		if (link->kind == NULL) {
			config_mistake(reading, link->line, "a link needs kind=");
		} else if (strcmp(link->kind, "ivshmem") == 0 &&
			!config_is_remote(config, link->ends[0], link->ends[1])) {
			config_mistake(reading, link->line,
				"a link of kind ivshmem is one of a guest, with whom something is "
				"shared");
		} else if (local &&
			(link->ends[0]->kind == KIND_GUEST || link->ends[1]->kind == KIND_GUEST)) {
			config_mistake(reading, link->line,
				"a guest is another machine: no link of it is of kind local");
		}
	}
}

int config_read(struct config *config, FILE *file, const char *name, FILE *errors) {
	config_init(config);
	struct reading reading = {
		.config = config,
		.file = file,
		.errors = errors,
		.name = name,
	};
	/* inih names the first line that it does not understand, and goes on. */
	int bad_line = ini_parse_stream(read_line, &reading, config_handle_key, &reading);
	if (bad_line > 0) {
		config_mistake(&reading, (unsigned)bad_line, "neither [section] nor key=value");
	} else if (bad_line < 0) {
		reading.result = -ENOMEM;
	}
	if (ferror(file)) {
		config_mistake(&reading, reading.line, "the file cannot be read");
	}
	if (reading.result != -ENOMEM) {
		complete_domains(&reading);
		complete_kinds(&reading);
		complete_pairs(&reading);
	}
	return reading.result;
}
