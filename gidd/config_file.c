// SPDX-License-Identifier: MIT
#include "config_file.h"

#include <errno.h>
#include <string.h>

#include "link.h"

static int check_kinds(const struct config *config, const char *path, FILE *errors) {
	const struct config_link *link;
	int error = 0;
	TAILQ_FOREACH(link, &config->links, entry) {
		if (link->kind != NULL && link_kind_find(link->kind) == NULL) {
			fprintf(errors, "%s:%u: this gidd knows no link of kind \"%s\"\n", path,
				link->line, link->kind);
			error = -EINVAL;
		}
	}
	return error;
}

int config_file_read(struct config *config, const char *path, FILE *errors) {
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		int error = -errno;
		fprintf(errors, "%s: %s\n", path, strerror(-error));
		config_init(config);
		return error;
	}
	int error = config_read(config, file, path, errors);
	fclose(file);
	int unknown = error == -ENOMEM ? 0 : check_kinds(config, path, errors);
	return error < 0 ? error : unknown;
}
