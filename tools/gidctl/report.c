// SPDX-License-Identifier: MIT
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foreign_json.h"
#include "gidctl.h"
#include "variable.h"

struct gid_domain *report_connect(const struct options *options) {
	struct gid_domain *domain;
	int error = gid_domain_connect(options->domain, &domain);
	if (error < 0) {
		bool is_named = options->domain != NULL || variable_get("GID_DOMAIN") != NULL;
		fprintf(stderr, "gidctl: %s%s\n", gid_domain_connect_error(),
				error == -EINVAL && !is_named ? "; or name it: gidctl -d NAME"
							      : "");
		return NULL;
	}
	return domain;
}

bool report_is_named(const struct gid_domain *domain, const char *word) {
	char number[16];
	snprintf(number, sizeof(number), "%u", gid_domain_number(domain));
	return strcmp(gid_domain_name(domain), word) == 0 || strcmp(number, word) == 0;
}

/* Of those that run here the one that people call so; NULL: none. */
static struct gid_domain *connect_named(const char *word) {
	char names[GID_DOMAIN_MAX][GID_NAME_MAX + 1];
	struct gid_domain *domain = NULL;
	size_t count = report_find_domains(names, GID_DOMAIN_MAX);
	for (size_t i = 0; i < count && domain == NULL; i++) {
		if (gid_domain_connect(names[i], &domain) < 0) {
			domain = NULL;
		} else if (!report_is_named(domain, word)) {
			gid_domain_destroy(domain);
			domain = NULL;
		}
	}
	return domain;
}

struct gid_domain *report_connect_for(const struct options *options, const char *owner) {
	struct gid_domain *domain;
	if (options->domain != NULL || variable_get("GID_DOMAIN") != NULL || owner == NULL) {
		return report_connect(options);
	}
	if (gid_domain_connect(NULL, &domain) == 0) {
		return domain;
	}
	if (owner[strspn(owner, "0123456789")] == '\0' && (domain = connect_named(owner)) != NULL) {
		return domain;
	}
	const struct options at_owner = {.domain = owner};
	return report_connect(&at_owner);
}

size_t report_find_domains(char (*names)[GID_NAME_MAX + 1], size_t most) {
	const char *runtime = variable_runtime_folder();
	DIR *folder = opendir(runtime);
	struct dirent *entry;
	size_t count = 0;
	while (folder != NULL && count < most && (entry = readdir(folder)) != NULL) {
		char path[512];
		snprintf(path, sizeof(path), "%s/%s/gidd.sock", runtime, entry->d_name);
		if (gid_name_is_valid(entry->d_name) && access(path, F_OK) == 0) {
			snprintf(names[count++], GID_NAME_MAX + 1, "%.63s", entry->d_name);
		}
	}
	if (folder != NULL) {
		closedir(folder);
	}
	return count;
}

int report_fetch(struct gid_domain *domain, sd_json_variant **report) {
	char *text = NULL;
	*report = NULL;
	int error = gid_domain_status(domain, &text);
	if (error < 0) {
		return error;
	}
	error = foreign_json_parse(text, report);
	free(text);
	return error < 0 ? -EPROTO : 0;
}

sd_json_variant *report_get(const struct options *options) {
	struct gid_domain *domain = report_connect(options);
	if (domain == NULL) {
		return NULL;
	}
	sd_json_variant *report;
	int error = report_fetch(domain, &report);
	if (error < 0) {
		fprintf(stderr, "gidctl: no report from gidd: %s\n", gid_strerror(error));
	}
	gid_domain_destroy(domain);
	return report;
}

sd_json_variant *report_field(sd_json_variant *object, const char *key) {
	return object == NULL ? NULL : sd_json_variant_by_key(object, key);
}

const char *report_text(sd_json_variant *object, const char *key) {
	return foreign_json_line(report_field(object, key));
}

uint64_t report_number(sd_json_variant *object, const char *key) {
	sd_json_variant *field = report_field(object, key);
	return field != NULL && sd_json_variant_is_unsigned(field) ? sd_json_variant_unsigned(field)
								   : 0;
}

sd_json_variant *report_element(sd_json_variant *object, const char *key, size_t index) {
	sd_json_variant *field = report_field(object, key);
	if (field == NULL || !sd_json_variant_is_array(field) ||
			index >= sd_json_variant_elements(field)) {
		return NULL;
	}
	return sd_json_variant_by_index(field, index);
}

const char *report_bytes(uint64_t bytes, char text[REPORT_BYTES_MAX]) {
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	size_t unit = 0;
	while (value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	snprintf(text, REPORT_BYTES_MAX, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
	return text;
}

const char *report_clock_error(sd_json_variant *subscription, char text[static 24]) {
	uint64_t error = report_number(subscription, "clock_error_ns");
	if (error == 0) {
		return "-";
	}
	snprintf(text, 24, "±%.3f ms", (double)error / 1e6);
	return text;
}
