// SPDX-License-Identifier: MIT
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config_read.h"
#include "wire.h"

#define WINDOW_MAX (UINT64_C(64) << 30)
#define SCREEN_MIN 200 /* pixels; with fewer lines QEMU's EDID has no vertical sync */
#define SCREEN_MAX 8192
#define GLOB_MAX 255 /* bytes of one glob: config_globs_match() */

/* --- values ----------------------------------------------------------------------------------- */

/* A number with an optional K, M or G (of 1024) behind it. */
static bool parse_number(const char *text, uint64_t *number) {
	if (!isdigit((unsigned char)text[0])) {
		return false;
	}
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	unsigned shift = 0;
	switch (*end) {
	case 'K':
		shift = 10;
		break;
	case 'M':
		shift = 20;
		break;
	case 'G':
		shift = 30;
		break;
	default:
		break;
	}
	end += shift != 0;
	if (errno != 0 || *end != '\0' || value > (UINT64_MAX >> shift)) {
		return false;
	}
	*number = (uint64_t)value << shift;
	return true;
}

static void set_number(struct reading *reading, uint64_t *number, const char *key,
	const char *value, uint64_t least, uint64_t most) {
	uint64_t parsed;
	bool valid = parse_number(value, &parsed) && parsed >= least && parsed <= most;
	if (!valid && most == INT64_MAX) {
		config_mistake(reading, reading->line,
			"%s=%s is not a size: a number, with K, M or G behind it or nothing", key,
			value);
		return;
	}
	if (!valid) {
		config_mistake(reading, reading->line, "%s=%s is not a number from %llu to %llu",
			key, value, (unsigned long long)least, (unsigned long long)most);
		return;
	}
	*number = parsed;
}

static void set_text(struct reading *reading, char **text, const char *key, const char *value) {
	if (*text != NULL) {
		config_mistake(reading, reading->line, "%s is given twice in one section", key);
	} else if (value[0] == '\0') {
		config_mistake(reading, reading->line, "%s has no value", key);
	} else if ((*text = strdup(value)) == NULL) {
		reading->result = -ENOMEM;
	}
}

static bool glob_is_valid(const char *glob, size_t length) {
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_./*?[]!";
	return length <= GLOB_MAX && strspn(glob, letters) >= length;
}

static void add_globs(struct reading *reading, struct config_globs *globs, const char *value) {
	for (const char *glob = value; *glob != '\0';) {
		size_t blank = strspn(glob, " \t,");
		glob += blank;
		size_t length = strcspn(glob, " \t,");
		if (length == 0) {
			break;
		}
		if (!glob_is_valid(glob, length)) {
			config_mistake(reading, reading->line,
				"\"%.*s\" can match no stream name: those have letters, digits and "
				"- _ . / only, patterns also * ? [ ]",
				(int)length, glob);
			return;
		}
		char *text;
		if (asprintf(&text, "%s%s%.*s", globs->text == NULL ? "" : globs->text,
			    globs->text == NULL ? "" : " ", (int)length, glob) < 0) {
			reading->result = -ENOMEM;
			return;
		}
		free(globs->text);
		globs->text = text;
		glob += length;
	}
}

/* --- keys ------------------------------------------------------------------------------------- */

/* "memory", "client-memory" and so on. Returns whether the key is that of a quota. */
static bool set_quota(struct reading *reading, const char *key, const char *value) {
	static const char prefix[] = "client-";
	bool client = strncmp(key, prefix, sizeof(prefix) - 1) == 0;
	const char *name = client ? key + sizeof(prefix) - 1 : key;
	for (enum quota quota = 0; quota < QUOTA_COUNT; quota++) {
		if (strcmp(name, quota_name(quota)) != 0 || (client && quota == QUOTA_CLIENTS)) {
			continue;
		}
		uint64_t *limits = client ? reading->domain->client_quota : reading->domain->quota;
		uint64_t most = quota == QUOTA_MEMORY ? INT64_MAX : GID_SLAB_MAX;
		set_number(reading, &limits[quota], key, value, 0, most);
		return true;
	}
	return false;
}

/* "1280x480", as a mode of a screen, or "none". */
static void check_display(struct reading *reading, const char *value) {
	unsigned width = 0, height = 0;
	int end = -1;
	if (strcmp(value, "none") == 0) {
		return;
	}
	if (strspn(value, "0123456789x") != strlen(value) ||
		sscanf(value, "%5ux%5u%n", &width, &height, &end) != 2 || value[end] != '\0' ||
		width < SCREEN_MIN || width > SCREEN_MAX || height < SCREEN_MIN ||
		height > SCREEN_MAX) {
		config_mistake(reading, reading->line,
			"vm-display=%s is neither none nor a size as 1280x480, of %d to %d pixels",
			value, SCREEN_MIN, SCREEN_MAX);
	}
}

/*
 * "vm-memory" and so on: the machine of a guest, which gid-cockpit(1) makes. gidd has no use for
 * them, and judges them all the same. Returns whether the key is one of these.
 */
static bool check_machine_key(struct reading *reading, const char *key, const char *value) {
	static const char *const texts[] = {
		"vm-append", "vm-disk", "vm-initrd", "vm-kernel", "vm-options"};
	uint64_t number = 0;
	if (strcmp(key, "vm-memory") == 0) {
		set_number(reading, &number, key, value, UINT64_C(64) << 20, UINT64_C(1) << 40);
		return true;
	}
	if (strcmp(key, "vm-cpus") == 0) {
		set_number(reading, &number, key, value, 1, 255);
		return true;
	}
	if (strcmp(key, "vm-accel") == 0) {
		if (strcmp(value, "auto") != 0 && strcmp(value, "kvm") != 0 &&
			strcmp(value, "tcg") != 0) {
			config_mistake(reading, reading->line,
				"vm-accel=%s is neither auto nor kvm nor tcg", value);
		}
		return true;
	}
	if (strcmp(key, "vm-display") == 0) {
		check_display(reading, value);
		return true;
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(key, texts[i]) == 0) {
			return true;
		}
	}
	return false;
}

static void set_kind(struct reading *reading, enum config_kind *kind, const char *value) {
	static const char *const names[] = {
		[KIND_LOCAL] = "local",
		[KIND_HOST] = "host",
		[KIND_GUEST] = "guest",
	};
	for (enum config_kind i = KIND_LOCAL; i <= KIND_GUEST; i++) {
		if (strcmp(value, names[i]) == 0) {
			*kind = i;
			return;
		}
	}
	config_mistake(reading, reading->line, "kind=%s is none of local, host, guest", value);
}

static void set_switch(struct reading *reading, bool *on, const char *key, const char *value) {
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0) {
		config_mistake(reading, reading->line, "%s=%s is neither on nor off", key, value);
		return;
	}
	*on = value[1] == 'n';
}

/* A PCI device's memory is a power of two. */
static void set_window(struct reading *reading, uint64_t *window, const char *value) {
	uint64_t size = 0;
	if (!parse_number(value, &size) || size < GID_WINDOW_MIN || size > WINDOW_MAX ||
		(size & (size - 1)) != 0) {
		config_mistake(reading, reading->line,
			"window=%s is not a power of two from 1M to 64G", value);
		return;
	}
	*window = size;
}

static void set_path(struct reading *reading, char **path, const char *key, const char *value) {
	if (value[0] != '/') {
		config_mistake(reading, reading->line, "%s=%s is not an absolute path", key, value);
	} else {
		set_text(reading, path, key, value);
	}
}

static void domain_key(struct reading *reading, const char *key, const char *value) {
	struct config_domain *domain = reading->domain;
	if (strcmp(key, "number") == 0) {
		uint64_t number = domain->number;
		set_number(reading, &number, key, value, 1, GID_DOMAIN_MAX);
		domain->number = (uint32_t)number;
	} else if (strcmp(key, "local") == 0) {
		add_globs(reading, &domain->local, value);
	} else if (strcmp(key, "user") == 0) {
		set_text(reading, &domain->user, key, value);
	} else if (strcmp(key, "group") == 0) {
		set_text(reading, &domain->group, key, value);
	} else if (strcmp(key, "kind") == 0) {
		set_kind(reading, &domain->kind, value);
	} else if (strcmp(key, "window") == 0) {
		set_window(reading, &domain->window, value);
	} else if (strcmp(key, "doorbell") == 0) {
		set_switch(reading, &domain->doorbell, key, value);
	} else if (strcmp(key, "window-device") == 0) {
		set_path(reading, &domain->window_device, key, value);
	} else if (strcmp(key, "control") == 0) {
		set_path(reading, &domain->control, key, value);
	} else if (!set_quota(reading, key, value) && !check_machine_key(reading, key, value)) {
		config_mistake(reading, reading->line, "a domain has no \"%s\"", key);
	}
}

static void share_key(struct reading *reading, const char *key, const char *value) {
	if (strcmp(key, "streams") == 0) {
		add_globs(reading, &reading->share->streams, value);
	} else if (strcmp(key, "held") == 0) {
		set_number(reading, &reading->share->held, key, value, 0, GID_SLAB_MAX);
	} else {
		config_mistake(reading, reading->line, "a share has no \"%s\"", key);
	}
}

static void link_key(struct reading *reading, const char *key, const char *value) {
	if (strcmp(key, "kind") == 0) {
		set_text(reading, &reading->link->kind, key, value);
		return;
	}
	struct config_setting *setting = calloc(1, sizeof(*setting));
	if (setting == NULL) {
		reading->result = -ENOMEM;
		return;
	}
	TAILQ_INSERT_TAIL(&reading->link->settings, setting, entry);
	setting->key = strdup(key);
	setting->value = strdup(value);
	setting->line = reading->line;
	if (setting->key == NULL || setting->value == NULL) {
		reading->result = -ENOMEM;
	}
}

static void cockpit_key(struct reading *reading, const char *key, const char *value) {
	if (strcmp(key, "runtime") != 0) {
		config_mistake(reading, reading->line, "the cockpit has no \"%s\"", key);
	} else {
		set_path(reading, &reading->config->runtime, key, value);
		reading->config->runtime_line = reading->line;
	}
}

/* Lists may go on in further lines, which come under the same key again; other values may not. */
static bool is_list(const struct reading *reading, const char *key) {
	return (reading->share != NULL && strcmp(key, "streams") == 0) ||
		(reading->domain != NULL && strcmp(key, "local") == 0);
}

int config_handle_key(void *data, const char *section, const char *key, const char *value) {
	struct reading *reading = data;
	bool again = strcmp(key, reading->last_key) == 0;
	snprintf(reading->last_key, sizeof(reading->last_key), "%s", key);
	if (reading->skipping) {
		return 1;
	}
	if (again && !is_list(reading, key)) {
		config_mistake(reading, reading->line,
			"%s is given twice, or its value goes on here", key);
		return 1;
	}
	if (reading->domain != NULL) {
		domain_key(reading, key, value);
	} else if (reading->share != NULL) {
		share_key(reading, key, value);
	} else if (reading->link != NULL) {
		link_key(reading, key, value);
	} else if (reading->in_cockpit) {
		cockpit_key(reading, key, value);
	} else {
		config_mistake(
			reading, reading->line, "\"%s\" stands before the first [section]", key);
	}
	return 1;
}
