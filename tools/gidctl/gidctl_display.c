// SPDX-License-Identifier: MIT
/* What the domain's gid-cluster, if it has one, says of itself and of its roles. */
#include "gidctl_display.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "display_socket.h"
#include "foreign_json.h"
#include "gidctl.h"
#include "gidctl_table.h"

#define TEXT_MAX (4u << 20) /* more than the longest status has */
/* For all of it: whoever listens there may say one byte after the other. */
#define PATIENCE_NS UINT64_C(2000000000)

/* --- asked ------------------------------------------------------------------------------------ */

pid_t display_pid(const char *domain) {
	struct ucred owner = {0};
	socklen_t size = sizeof(owner);
	int fd = display_socket_connect(domain, 0);
	if (fd >= 0) {
		(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &size);
		close(fd);
	}
	return owner.pid;
}

sd_json_variant *display_fetch(const char *domain) {
	int fd = display_socket_connect(domain, 0);
	if (fd < 0) {
		return NULL;
	}
	sd_json_variant *status = NULL;
	char *text = calloc(1, TEXT_MAX + 1);
	size_t size = 0;
	ssize_t got = text != NULL ? 1 : 0;
	const uint64_t end = gid_clock_now() + PATIENCE_NS;
	while (got > 0 && size < TEXT_MAX && gid_clock_now() < end) {
		got = read(fd, text + size, TEXT_MAX - size);
		size += got > 0 ? (size_t)got : 0;
	}
	if (text != NULL && foreign_json_parse(text, &status) < 0) {
		status = NULL;
	}
	free(text);
	close(fd);
	return status;
}

/* --- shown ------------------------------------------------------------------------------------ */

static enum style style_of(const char *state) {
	if (strcmp(state, "live") == 0) {
		return STYLE_GOOD;
	}
	return strcmp(state, "waiting") == 0 ? STYLE_WARNING : STYLE_BAD;
}

static double seconds_since(uint64_t ns) {
	return ((double)gid_clock_now() - (double)ns) / 1e9;
}

static sd_json_variant *find_role(sd_json_variant *before, const char *role) {
	sd_json_variant *other;
	REPORT_FOREACH(other, before, "roles") {
		if (strcmp(report_text(other, "name"), role) == 0) {
			return other;
		}
	}
	return NULL;
}

/* Of an output or a role, frames a second. "-": it did not answer before, as while it was busy. */
static const char *rate_of(sd_json_variant *before, sd_json_variant *after, double seconds,
		char text[static 24]) {
	uint64_t then = report_number(before, "frames"), now = report_number(after, "frames");
	if (before == NULL || seconds <= 0) {
		return "-";
	}
	snprintf(text, 24, "%.1f", now >= then ? (double)(now - then) / seconds : 0);
	return text;
}

static void add_latency(struct table *table, uint64_t ns) {
	if (ns == 0) {
		table_add(table, STYLE_FAINT, "-");
	} else {
		table_add(table, STYLE_PLAIN, "%.1f ms", (double)ns / 1e6);
	}
}

static void add_role(struct table *table, sd_json_variant *before, sd_json_variant *role,
		double seconds) {
	const char *state = report_text(role, "state");
	uint64_t refused = report_number(role, "refused_frames");
	char rate[24];
	table_add(table, STYLE_BOLD, "%s", report_text(role, "name"));
	table_add(table, style_of(state), "%s", state);
	table_add(table, STYLE_PLAIN, "%.0f s", seconds_since(report_number(role, "since_ns")));
	table_add(table, STYLE_PLAIN, "%s", report_text(role, "text"));
	table_add(table, STYLE_PLAIN, "%s", report_text(role, "shows"));
	table_add(table, STYLE_PLAIN, "%s", rate_of(before, role, seconds, rate));
	add_latency(table, report_number(role, "latency_p50_ns"));
	add_latency(table, report_number(role, "latency_p99_ns"));
	table_add(table, refused > 0 ? STYLE_WARNING : STYLE_FAINT, "%llu",
			(unsigned long long)refused);
	table_add(table, STYLE_FAINT, "%s", report_text(role, "stream"));
}

static void print_output(sd_json_variant *before, sd_json_variant *after, double seconds) {
	const char *name = report_text(after, "output");
	char rate[24];
	if (name[0] == '\0') {
		printf("\nDisplay %s%s%s: dark, this output is not connected\n",
				style_begin(STYLE_BAD), report_text(after, "name"),
				style_end(STYLE_BAD));
		return;
	}
	printf("\nDisplay %s%s%s: %s repaints a second, %llu missed, longest gap %.1f ms\n",
			style_begin(STYLE_BOLD), name, style_end(STYLE_BOLD),
			rate_of(before, after, seconds, rate),
			(unsigned long long)report_number(after, "missed"),
			(double)report_number(after, "longest_gap_ns") / 1e6);
}

void display_print(sd_json_variant *before, sd_json_variant *after, double seconds) {
	static const char *const headings[] = {"ROLE", "STATE", ">FOR", "WHY", "SHOWS", ">FRAMES/S",
			">P50", ">P99", ">REFUSED", "STREAM"};
	struct table *table = table_create(headings, 10);
	sd_json_variant *role, *output;
	size_t index = 0;
	if (table == NULL) {
		return;
	}
	REPORT_FOREACH(output, after, "outputs") {
		print_output(report_element(before, "outputs", index++), output, seconds);
	}
	REPORT_FOREACH(role, after, "roles") {
		add_role(table, find_role(before, report_text(role, "name")), role, seconds);
	}
	if (report_element(after, "roles", 0) != NULL) {
		table_print(table);
	}
	table_destroy(table);
}
