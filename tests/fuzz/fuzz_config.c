// SPDX-License-Identifier: MIT
/*
 * Any bytes as a configuration file, and as what it is when it is read again: what is taken must be
 * a whole and consistent cockpit.
 */
#include "config_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "config_windows.h"
#include "fuzz.h"

static bool has_window(const struct config_windows *windows, const struct config_domain *owner,
		const struct domain_set *readers) {
	const struct config_window *window;
	TAILQ_FOREACH(window, windows, entry) {
		if (window->owner == owner && window->size > 0 &&
				domain_set_is_equal(&window->readers, readers)) {
			return true;
		}
	}
	return domain_set_is_empty(readers);
}

/* Whatever the name of a stream, there is a window for just its readers. */
static void demand_windows(const struct config *config) {
	static const char *const names[] = {"camera/rear", "movie", "a", "ab", "b", "ba", "a.a"};
	struct config_windows windows;
	const struct config_domain *owner;
	config_windows_init(&windows);
	int error = config_windows_plan(&windows, config, &owner);
	demand(error == 0 || error == -E2BIG);
	TAILQ_FOREACH(owner, &config->domains, entry) {
		for (size_t i = 0; error == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
			struct domain_set readers =
					config_readers_of_stream(config, owner, names[i]);
			demand(has_window(&windows, owner, &readers));
		}
	}
	config_windows_finish(&windows);
}

static void demand_consistent(const struct config *config) {
	const struct config_domain *domain;
	demand(!TAILQ_EMPTY(&config->domains));
	TAILQ_FOREACH(domain, &config->domains, entry) {
		demand(gid_name_is_valid(domain->name));
		demand(domain->number >= 1 && domain->number <= GID_DOMAIN_MAX);
		demand(config_domain_by_number(config, domain->number) == domain);
		demand(config_domain_by_name(config, domain->name) == domain);
		access_may_publish(config, domain, "camera/rear");
		access_input_is_open(config, domain);
		demand(!access_is_narrower(config, config, domain, "camera/rear"));
	}
	const struct config_share *share;
	TAILQ_FOREACH(share, &config->shares, entry) {
		demand(config_share_find(config, share->owner, share->reader) == share);
		demand(share->owner != share->reader);
	}
	const struct config_link *link;
	TAILQ_FOREACH(link, &config->links, entry) {
		demand(config_link_find(config, link->ends[1], link->ends[0]) == link);
		demand(link->kind != NULL);
	}
	demand_windows(config);
}

/* Each mistake is one line that begins with the file's name and, but for an empty file, a line
 * number. */
static void demand_errors(const char *errors) {
	while (*errors != '\0') {
		unsigned line;
		int used = 0;
		if (sscanf(errors, "f:%u: %n", &line, &used) != 1) {
			sscanf(errors, "f: %n", &used);
		}
		demand(used > 0);
		const char *end = strchr(errors, '\n');
		demand(end != NULL);
		errors = end + 1;
	}
}

static int read_config(struct config *config, const uint8_t *data, size_t size) {
	char *errors = NULL;
	size_t errors_size;
	FILE *file = size == 0 ? fopen("/dev/null", "r") : fmemopen((void *)data, size, "r");
	FILE *out = open_memstream(&errors, &errors_size);
	demand(file != NULL && out != NULL);
	int result = config_read(config, file, "f", out);
	fclose(file);
	fclose(out);
	demand(result == 0 || result == -EINVAL);
	demand((errors_size == 0) == (result == 0));
	demand_errors(errors);
	free(errors);
	if (result == 0) {
		demand_consistent(config);
	}
	return result;
}

static void update(struct config *config, struct config *fresh) {
	char *errors = NULL;
	size_t errors_size;
	FILE *out = open_memstream(&errors, &errors_size);
	int result = config_update(config, fresh, "f", out);
	fclose(out);
	demand(result == 0 || result == -EINVAL);
	demand((errors_size == 0) == (result == 0));
	demand_errors(errors);
	demand_consistent(config);
	free(errors);
}

/* Up to the first byte 0xff it is the file, behind it what it is later. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct config config, fresh;
	const uint8_t *mark = size == 0 ? NULL : memchr(data, 0xff, size);
	size_t first = mark == NULL ? size : (size_t)(mark - data);
	if (read_config(&config, data, first) == 0 && mark != NULL) {
		if (read_config(&fresh, mark + 1, size - first - 1) == 0) {
			update(&config, &fresh);
		}
		config_finish(&fresh);
	}
	config_finish(&config);
	return 0;
}
