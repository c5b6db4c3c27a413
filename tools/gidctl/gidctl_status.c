// SPDX-License-Identifier: MIT
/* gidctl status: is all well, at a glance. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gidctl.h"
#include "gidctl_table.h"

static void print_heading(const char *text) {
	printf("\n%s%s%s\n", style_begin(STYLE_BOLD), text, style_end(STYLE_BOLD));
}

/* Another machine's clock: by how much it differs from ours, and how well that is known. */
static void print_clock(sd_json_variant *link) {
	sd_json_variant *offset = report_field(link, "clock_offset_ns");
	uint64_t error = report_number(link, "clock_error_ns");
	if (offset != NULL && error != 0) {
		printf(", clock %+.6f s from ours, within %.3f ms",
				(double)sd_json_variant_integer(offset) / 1e9, (double)error / 1e6);
	}
}

/* How another machine is rung. */
static void print_doorbells(sd_json_variant *link) {
	sd_json_variant *doorbells = report_field(link, "doorbells");
	if (doorbells != NULL) {
		uint64_t direct = report_number(doorbells, "direct");
		printf(", doorbells by the %s", report_text(doorbells, "way"));
		if (direct > 0) {
			printf(", %llu of them past gidd", (unsigned long long)direct);
		}
	}
}

/* What the other domain did that no honest one does. */
static void print_faults(sd_json_variant *link) {
	uint64_t faults = report_number(link, "faults");
	if (faults > 0) {
		printf("    %sclosed %llu times because %s broke the protocol%s; last reason: %s\n",
				style_begin(STYLE_WARNING), (unsigned long long)faults,
				report_text(link, "domain"), style_end(STYLE_WARNING),
				report_text(link, "last_fault"));
	}
}

static void print_state(sd_json_variant *link) {
	const char *state = report_text(link, "state");
	enum style style = strcmp(state, "up") == 0 ? STYLE_GOOD : STYLE_BAD;
	printf("%s%s%s", style_begin(style), state, style_end(style));
}

static void print_links(sd_json_variant *report) {
	sd_json_variant *link;
	if (report_element(report, "links", 0) == NULL) {
		return;
	}
	print_heading("Links");
	REPORT_FOREACH(link, report, "links") {
		bool up = strcmp(report_text(link, "state"), "up") == 0;
		printf("  to %s (%s): ", report_text(link, "domain"), report_text(link, "kind"));
		print_state(link);
		print_clock(link);
		if (up) {
			print_doorbells(link);
		}
		printf("%s%s\n", up ? "" : ", ", report_text(link, "why"));
		print_faults(link);
	}
}

static void print_pair(sd_json_variant *pair) {
	const char *why = report_text(pair, "why");
	sd_json_variant *end;
	printf("  %s and %s: ", report_text(report_element(pair, "ends", 0), "domain"),
			report_text(report_element(pair, "ends", 1), "domain"));
	print_state(pair);
	printf("%s%s\n", why[0] == '\0' ? "" : ", ", why);
	REPORT_FOREACH(end, pair, "ends") {
		print_faults(end);
	}
}

/* Of the host's gidd: the links that pass through it. What its own found is among the links. */
static void print_pairs(sd_json_variant *report) {
	sd_json_variant *pair;
	if (report_element(report, "pairs", 0) == NULL) {
		return;
	}
	print_heading("Joined by the hub");
	REPORT_FOREACH(pair, report, "pairs") {
		print_pair(pair);
	}
}

static void print_quotas(sd_json_variant *report) {
	static const char *const headings[] = {"  WHAT", ">USED", ">LIMIT", ">%"};
	struct table *table = table_create(headings, 4);
	sd_json_variant *quota;
	if (table == NULL) {
		return;
	}
	REPORT_FOREACH(quota, report, "quotas") {
		const char *name = report_text(quota, "name");
		uint64_t used = report_number(quota, "used"), limit = report_number(quota, "limit");
		unsigned percent =
				limit == 0 ? 100 : (unsigned)((double)used * 100 / (double)limit);
		bool bytes = strcmp(name, "memory") == 0;
		char text[REPORT_BYTES_MAX];
		enum style style = percent >= 100 ? STYLE_BAD
				: percent >= 80	  ? STYLE_WARNING
						  : STYLE_PLAIN;
		table_add(table, STYLE_PLAIN, "  %s", name);
		for (int i = 0; i < 2; i++) {
			uint64_t value = i == 0 ? used : limit;
			if (bytes) {
				table_add(table, STYLE_PLAIN, "%s", report_bytes(value, text));
			} else {
				table_add(table, STYLE_PLAIN, "%llu", (unsigned long long)value);
			}
		}
		table_add(table, style, "%u", percent);
	}
	print_heading("Quotas");
	table_print(table);
	table_destroy(table);
}

static void print_clients(sd_json_variant *report) {
	static const char *const headings[] = {"  PROGRAM", ">PID", ">UID", ">MEMORY", ">SLABS",
			">STREAMS", ">SUBSCRIPTIONS"};
	struct table *table = table_create(headings, 7);
	sd_json_variant *client;
	if (table == NULL) {
		return;
	}
	REPORT_FOREACH(client, report, "clients") {
		char text[REPORT_BYTES_MAX];
		table_add(table, STYLE_PLAIN, "  %s", report_text(client, "program"));
		uint64_t pid = report_number(client, "pid");
		if (pid == 0) {
			table_add(table, STYLE_PLAIN, "another pid namespace");
		} else {
			table_add(table, STYLE_PLAIN, "%llu", (unsigned long long)pid);
		}
		table_add(table, STYLE_PLAIN, "%llu",
				(unsigned long long)report_number(client, "uid"));
		table_add(table, STYLE_PLAIN, "%s",
				report_bytes(report_number(client, "memory"), text));
		static const char *const counts[] = {"slabs", "streams", "subscriptions"};
		for (size_t i = 0; i < 3; i++) {
			table_add(table, STYLE_PLAIN, "%llu",
					(unsigned long long)report_number(client, counts[i]));
		}
	}
	print_heading("Clients");
	table_print(table);
	table_destroy(table);
}

static void print_seal(sd_json_variant *report) {
	time_t since = (time_t)report_number(report, "sealed_since");
	struct tm utc;
	char text[32];
	if (since != 0 && gmtime_r(&since, &utc) != NULL &&
			strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &utc) > 0) {
		printf("%sSealed%s since %s UTC: nothing new is granted until gidctl unseal\n",
				style_begin(STYLE_WARNING), style_end(STYLE_WARNING), text);
	}
}

int command_status(const struct options *options) {
	sd_json_variant *report = report_get(options);
	if (report == NULL) {
		return EXIT_FAILURE;
	}
	if (options->json) {
		sd_json_variant_dump(report, SD_JSON_FORMAT_PRETTY | SD_JSON_FORMAT_NEWLINE, stdout,
				NULL);
	} else {
		printf("Domain %s%s%s, number %llu, gidd's pid %llu, wire version %llu\n",
				style_begin(STYLE_BOLD), report_text(report, "domain"),
				style_end(STYLE_BOLD),
				(unsigned long long)report_number(report, "number"),
				(unsigned long long)report_number(report, "pid"),
				(unsigned long long)report_number(report, "wire"));
		print_seal(report);
		print_links(report);
		print_pairs(report);
		print_quotas(report);
		print_clients(report);
	}
	sd_json_variant_unref(report);
	return EXIT_SUCCESS;
}
