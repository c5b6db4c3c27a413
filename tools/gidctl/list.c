// SPDX-License-Identifier: MIT
/* gidctl list: slabs with their grants, streams, what may be read of others, subscriptions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign_json.h"
#include "gidctl.h"
#include "gidctl_table.h"

#define DESCRIPTION_SHOWN 60 /* bytes */

static void join_grants(sd_json_variant *slab, char *text, size_t size) {
	sd_json_variant *grant;
	size_t used = 0;
	text[0] = '\0';
	REPORT_FOREACH(grant, slab, "grants") {
		int put = snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "",
				foreign_json_line(grant));
		used = put < 0 || (size_t)put >= size - used ? size - 1 : used + (size_t)put;
	}
}

/* How many bytes of a description are shown: whole characters. */
static int cut(const char *description) {
	size_t size = strlen(description);
	if (size <= DESCRIPTION_SHOWN) {
		return (int)size;
	}
	for (size = DESCRIPTION_SHOWN; size > 0 && (description[size] & 0xc0) == 0x80;) {
		size--;
	}
	return (int)size;
}

static struct table *list_slabs(sd_json_variant *report) {
	static const char *const headings[] = {"GID", "DOMAIN", "MEMORY", ">SIZE", ">SLOTS",
			"FORMAT", ">PICTURE", "GRANTED TO", ">IMPORTERS", "OWNER", "DESCRIPTION"};
	struct table *table = table_create(headings, 11);
	sd_json_variant *slab;
	if (table == NULL) {
		return NULL;
	}
	REPORT_FOREACH(slab, report, "slabs") {
		char size[REPORT_BYTES_MAX], grants[256];
		join_grants(slab, grants, sizeof(grants));
		const char *owner = report_text(slab, "owner");
		table_add(table, STYLE_BOLD, "%s", report_text(slab, "gid"));
		table_add(table, STYLE_PLAIN, "%s", report_text(slab, "domain"));
		table_add(table, STYLE_PLAIN, "%s", report_text(slab, "memory"));
		table_add(table, STYLE_PLAIN, "%s",
				report_bytes(report_number(slab, "bytes"), size));
		table_add(table, STYLE_PLAIN, "%llu",
				(unsigned long long)report_number(slab, "slots"));
		table_add(table, STYLE_PLAIN, "%s", report_text(slab, "format"));
		table_add(table, STYLE_PLAIN, "%llux%llu",
				(unsigned long long)report_number(slab, "width"),
				(unsigned long long)report_number(slab, "height"));
		table_add(table, STYLE_PLAIN, "%s", grants[0] == '\0' ? "-" : grants);
		table_add(table, STYLE_PLAIN, "%llu",
				(unsigned long long)report_number(slab, "importers"));
		table_add(table, STYLE_PLAIN, "%s", owner[0] == '\0' ? "-" : owner);
		const char *description = report_text(slab, "description");
		int shown = cut(description);
		table_add(table, STYLE_FAINT, "%.*s%s", shown, description,
				description[shown] != '\0' ? " …" : "");
	}
	return table;
}

static struct table *list_streams(sd_json_variant *report) {
	static const char *const headings[] = {"STREAM", ">SUBSCRIPTIONS", "PRODUCER"};
	struct table *table = table_create(headings, 3);
	sd_json_variant *stream;
	if (table == NULL) {
		return NULL;
	}
	REPORT_FOREACH(stream, report, "streams") {
		table_add(table, STYLE_BOLD, "%s", report_text(stream, "name"));
		table_add(table, STYLE_PLAIN, "%llu",
				(unsigned long long)report_number(stream, "subscriptions"));
		table_add(table, STYLE_PLAIN, "%s", report_text(stream, "producer"));
	}
	return table;
}

static struct table *list_readable(sd_json_variant *report) {
	static const char *const headings[] = {"STREAM", "OF"};
	struct table *table = table_create(headings, 2);
	sd_json_variant *stream;
	if (table == NULL) {
		return NULL;
	}
	REPORT_FOREACH(stream, report, "readable") {
		table_add(table, STYLE_BOLD, "%s", report_text(stream, "name"));
		table_add(table, STYLE_PLAIN, "%s", report_text(stream, "domain"));
	}
	return table;
}

static struct table *list_subscriptions(sd_json_variant *report) {
	static const char *const headings[] = {"STREAM", "OF", "READER", "STATE", ">CREDIT",
			"POLICY", ">CLOCK", "CONSUMER"};
	struct table *table = table_create(headings, 8);
	sd_json_variant *subscription;
	if (table == NULL) {
		return NULL;
	}
	REPORT_FOREACH(subscription, report, "subscriptions") {
		sd_json_variant *drop_old = report_field(subscription, "drop_old");
		const char *state = report_text(subscription, "state");
		const char *consumer = report_text(subscription, "consumer");
		char clock[24];
		table_add(table, STYLE_BOLD, "%s", report_text(subscription, "stream"));
		table_add(table, STYLE_PLAIN, "%s", report_text(subscription, "domain"));
		table_add(table, STYLE_PLAIN, "%s", report_text(subscription, "reader"));
		table_add(table, strcmp(state, "live") == 0 ? STYLE_GOOD : STYLE_WARNING, "%s",
				state);
		table_add(table, STYLE_PLAIN, "%llu",
				(unsigned long long)report_number(subscription, "credit"));
		table_add(table, STYLE_PLAIN, "%s",
				drop_old != NULL && sd_json_variant_boolean(drop_old) ? "drop old"
										      : "drop new");
		table_add(table, STYLE_FAINT, "%s", report_clock_error(subscription, clock));
		table_add(table, STYLE_PLAIN, "%s", consumer[0] == '\0' ? "-" : consumer);
	}
	return table;
}

static const struct part {
	const char *name, *title;
	struct table *(*list)(sd_json_variant *report);
} parts[] = {
		{"slabs", "Slabs and grants", list_slabs},
		{"streams", "Streams", list_streams},
		{"readable", "Readable of other domains", list_readable},
		{"subscriptions", "Subscriptions", list_subscriptions},
};

static bool is_wanted(const struct options *options, const char *name) {
	if (options->word_count == 0) {
		return true;
	}
	for (int i = 0; i < options->word_count; i++) {
		if (strcmp(options->words[i], name) == 0) {
			return true;
		}
	}
	return false;
}

/* NULL: there is none. */
static const char *find_unknown(const struct options *options) {
	for (int i = 0; i < options->word_count; i++) {
		bool known = false;
		for (size_t j = 0; j < sizeof(parts) / sizeof(parts[0]); j++) {
			known |= strcmp(options->words[i], parts[j].name) == 0;
		}
		if (!known) {
			return options->words[i];
		}
	}
	return NULL;
}

static void print_part(const struct part *part, sd_json_variant *report, bool title) {
	struct table *table = part->list(report);
	if (title) {
		printf("%s%s%s\n", style_begin(STYLE_BOLD), part->title, style_end(STYLE_BOLD));
	}
	if (report_element(report, part->name, 0) == NULL) {
		printf("%snone%s\n", style_begin(STYLE_FAINT), style_end(STYLE_FAINT));
	} else if (table != NULL) {
		table_print(table);
	}
	table_destroy(table);
}

static void print_json(const struct options *options, sd_json_variant *report) {
	sd_json_variant *out = NULL;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (is_wanted(options, parts[i].name)) {
			sd_json_variant_set_field(
					&out, parts[i].name, report_field(report, parts[i].name));
		}
	}
	sd_json_variant_dump(out, SD_JSON_FORMAT_PRETTY | SD_JSON_FORMAT_NEWLINE, stdout, NULL);
	sd_json_variant_unref(out);
}

int command_list(const struct options *options) {
	const char *unknown = find_unknown(options);
	if (unknown != NULL) {
		return usage_error("list: no \"%s\"; there are slabs, streams, readable and "
				   "subscriptions",
				unknown);
	}
	sd_json_variant *report = report_get(options);
	if (report == NULL) {
		return EXIT_FAILURE;
	}
	bool first = true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !options->json; i++) {
		if (is_wanted(options, parts[i].name)) {
			fputs(first ? "" : "\n", stdout);
			print_part(&parts[i], report, options->word_count != 1);
			first = false;
		}
	}
	if (options->json) {
		print_json(options, report);
	}
	sd_json_variant_unref(report);
	return EXIT_SUCCESS;
}
