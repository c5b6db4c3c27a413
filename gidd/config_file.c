// SPDX-License-Identifier: MIT
/*
 * inih splits the lines; what they mean is decided here. inih neither counts lines for its handler
 * nor tells of sections without a key, so the reader that feeds it does both.
 */
#include "config_file.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ini_line.h"
#include "wire.h"

#define WINDOW_MAX (UINT64_C(64) << 30)
#define DAX_WINDOW_MIN (UINT64_C(16) << 20) /* 2M of it are lost */
#define SCREEN_MIN 200 /* pixels; with fewer lines QEMU's EDID has no vertical sync */
#define SCREEN_MAX 8192
#define GLOB_MAX 255 /* bytes of one glob: config_globs_match() */

#define DOMAIN_KEYS                                                                                 \
	"number, local, user, group, kind, window, window-kind, window-device, doorbell, control, " \
	"memory, slabs, streams, subscriptions, held, clients, client-memory, client-slabs, "       \
	"client-streams, client-subscriptions, client-held, vm-memory, vm-cpus, vm-accel, "         \
	"vm-display, vm-disk, vm-kernel, vm-initrd, vm-append, vm-options"

struct reading {
	struct config *config;
	FILE *file, *errors;
	const char *name;
	unsigned line;
	int result;
	bool in_cockpit;
	bool misses_section; /* one could not be understood: what others need may be in it */
	bool skipping;	     /* a section that could not be understood: its keys mean nothing */
	/* The section that the lines are in; none or one of these is set. */
	struct config_domain *domain;
	struct config_share *share;
	struct config_link *link;
	struct config_client *client;
	char last_key[64]; /* a second line of the same value comes under the same key */
};

__attribute__((format(printf, 3, 4))) static void mistake(
		struct reading *reading, unsigned line, const char *format, ...) {
	va_list args;
	if (line == 0) { /* an empty file */
		fprintf(reading->errors, "%s: ", reading->name);
	} else {
		fprintf(reading->errors, "%s:%u: ", reading->name, line);
	}
	va_start(args, format);
	vfprintf(reading->errors, format, args);
	va_end(args);
	fputc('\n', reading->errors);
	if (reading->result == 0) {
		reading->result = -EINVAL;
	}
}

/* --- values ----------------------------------------------------------------------------------- */

/* A number with an optional K, M, G or T (of 1024) behind it. */
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
	case 'T':
		shift = 40;
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
	if (!parse_number(value, &parsed) || parsed < least || parsed > most) {
		mistake(reading, reading->line, "%s=%s is not a number from %llu to %llu", key,
				value, (unsigned long long)least, (unsigned long long)most);
		return;
	}
	*number = parsed;
}

/* In the largest unit of which it is a whole number. */
static const char *put_size(uint64_t size, char text[24]) {
	static const char units[] = "KMGT";
	size_t unit = 0;
	while (unit < 4 && size > 0 && size % 1024 == 0) {
		size /= 1024;
		unit++;
	}
	snprintf(text, 24, "%llu%.*s", (unsigned long long)size, unit > 0,
			&units[unit - (unit > 0)]);
	return text;
}

static void set_size(struct reading *reading, uint64_t *size, const char *key, const char *value,
		uint64_t least, uint64_t most) {
	char from[24], to[24];
	uint64_t parsed;
	if (parse_number(value, &parsed) && parsed >= least && parsed <= most) {
		*size = parsed;
	} else if (most == INT64_MAX) {
		mistake(reading, reading->line,
				"%s=%s is not a size: a number, with K, M, G or T behind it or "
				"nothing",
				key, value);
	} else {
		mistake(reading, reading->line, "%s=%s is not a size from %s to %s", key, value,
				put_size(least, from), put_size(most, to));
	}
}

static void set_text(struct reading *reading, char **text, const char *key, const char *value) {
	if (*text != NULL) {
		mistake(reading, reading->line, "%s is given twice in one section", key);
	} else if (value[0] == '\0') {
		mistake(reading, reading->line, "%s has no value", key);
	} else if ((*text = strdup(value)) == NULL) {
		reading->result = -ENOMEM;
	}
}

static bool glob_is_valid(const char *glob, size_t length) {
	static const char letters[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./*?[]!";
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
			mistake(reading, reading->line,
					"\"%.*s\" can match no stream name: those have letters, "
					"digits and "
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
		if (quota == QUOTA_MEMORY) {
			set_size(reading, &limits[quota], key, value, 0, INT64_MAX);
		} else {
			set_number(reading, &limits[quota], key, value, 0, GID_SLAB_MAX);
		}
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
			sscanf(value, "%5ux%5u%n", &width, &height, &end) != 2 ||
			value[end] != '\0' || width < SCREEN_MIN || width > SCREEN_MAX ||
			height < SCREEN_MIN || height > SCREEN_MAX) {
		mistake(reading, reading->line,
				"vm-display=%s is neither none nor a size as 1280x480, of %d "
				"to %d pixels",
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
		set_size(reading, &number, key, value, UINT64_C(64) << 20, UINT64_C(1) << 40);
		return true;
	}
	if (strcmp(key, "vm-cpus") == 0) {
		set_number(reading, &number, key, value, 1, 255);
		return true;
	}
	if (strcmp(key, "vm-accel") == 0) {
		if (strcmp(value, "auto") != 0 && strcmp(value, "kvm") != 0 &&
				strcmp(value, "tcg") != 0) {
			mistake(reading, reading->line,
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
	mistake(reading, reading->line, "kind=%s must be local, host or guest", value);
}

static void set_switch(struct reading *reading, bool *on, const char *key, const char *value) {
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0) {
		mistake(reading, reading->line, "%s=%s is neither on nor off", key, value);
		return;
	}
	*on = value[1] == 'n';
}

static void set_doorbell(struct reading *reading, struct config_domain *domain, const char *value) {
	domain->doorbell = strcmp(value, "off") != 0;
	domain->direct = strcmp(value, "on") == 0;
	if (domain->doorbell && !domain->direct && strcmp(value, "relay") != 0) {
		mistake(reading, reading->line, "doorbell=%s is neither on nor relay nor off",
				value);
	}
}

/* A PCI device's memory is a power of two. */
static void set_window(struct reading *reading, uint64_t *window, const char *value) {
	uint64_t size = 0;
	if (!parse_number(value, &size) || size < GID_WINDOW_MIN || size > WINDOW_MAX ||
			(size & (size - 1)) != 0) {
		mistake(reading, reading->line, "window=%s is not a power of two from 1M to 64G",
				value);
		return;
	}
	*window = size;
}

static void set_window_kind(
		struct reading *reading, enum config_window_kind *kind, const char *value) {
	static const char *const names[] = {"ivshmem", "dax", "auto"};
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(value, names[i]) == 0) {
			*kind = i;
			return;
		}
	}
	mistake(reading, reading->line, "window-kind=%s must be ivshmem, dax or auto", value);
}

static void set_path(struct reading *reading, char **path, const char *key, const char *value) {
	if (value[0] != '/') {
		mistake(reading, reading->line, "%s=%s is not an absolute path", key, value);
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
	} else if (strcmp(key, "window-kind") == 0) {
		set_window_kind(reading, &domain->window_kind, value);
	} else if (strcmp(key, "doorbell") == 0) {
		set_doorbell(reading, domain, value);
	} else if (strcmp(key, "window-device") == 0) {
		set_path(reading, &domain->window_device, key, value);
	} else if (strcmp(key, "control") == 0) {
		set_path(reading, &domain->control, key, value);
	} else if (!set_quota(reading, key, value) && !check_machine_key(reading, key, value)) {
		mistake(reading, reading->line, "a domain has no \"%s\"; it has: " DOMAIN_KEYS,
				key);
	}
}

static void share_key(struct reading *reading, const char *key, const char *value) {
	if (strcmp(key, "streams") == 0) {
		add_globs(reading, &reading->share->streams, value);
	} else if (strcmp(key, "held") == 0) {
		set_number(reading, &reading->share->held, key, value, 0, GID_SLAB_MAX);
	} else {
		mistake(reading, reading->line, "a share has no \"%s\"; it has: streams, held",
				key);
	}
}

static void client_key(struct reading *reading, const char *key, const char *value) {
	struct config_client *client = reading->client;
	if (strcmp(key, "publish") == 0) {
		add_globs(reading, &client->publish, value);
		if (client->publish.text == NULL && reading->result == 0) {
			client->publish.text = strdup(""); /* none at all */
			reading->result = client->publish.text == NULL ? -ENOMEM : 0;
		}
	} else if (strcmp(key, "import") == 0) {
		set_switch(reading, &client->import, key, value);
	} else if (strcmp(key, "status") == 0) {
		set_switch(reading, &client->status, key, value);
	} else {
		mistake(reading, reading->line,
				"a client has no \"%s\"; it has: publish, import, status", key);
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
		mistake(reading, reading->line, "the cockpit has no \"%s\"; it has: runtime", key);
	} else {
		set_path(reading, &reading->config->runtime, key, value);
		reading->config->runtime_line = reading->line;
	}
}

/* Lists may go on in further lines, which come under the same key again; other values may not. */
static bool is_list(const struct reading *reading, const char *key) {
	return (reading->share != NULL && strcmp(key, "streams") == 0) ||
			(reading->client != NULL && strcmp(key, "publish") == 0) ||
			(reading->domain != NULL && strcmp(key, "local") == 0);
}

/* inih's handler: one key of the section that `data`, the reading, is in. */
static int handle_key(void *data, const char *section, const char *key, const char *value) {
	struct reading *reading = data;
	bool again = strcmp(key, reading->last_key) == 0;
	snprintf(reading->last_key, sizeof(reading->last_key), "%s", key);
	if (reading->skipping) {
		return 1;
	}
	if (again && !is_list(reading, key)) {
		mistake(reading, reading->line, "%s is given twice, or its value goes on here",
				key);
		return 1;
	}
	if (reading->domain != NULL) {
		domain_key(reading, key, value);
	} else if (reading->share != NULL) {
		share_key(reading, key, value);
	} else if (reading->client != NULL) {
		client_key(reading, key, value);
	} else if (reading->link != NULL) {
		link_key(reading, key, value);
	} else if (reading->in_cockpit) {
		cockpit_key(reading, key, value);
	} else {
		mistake(reading, reading->line, "\"%s\" stands before the first [section]", key);
	}
	return 1;
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
		mistake(reading, reading->line,
				"\"%s\" is not a domain's name: at most %u letters, digits and - _ "
				".",
				word, GID_NAME_MAX);
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
	domain->doorbell = domain->direct = true;
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
		mistake(reading, reading->line, "domain %s is in line %u already", domain->name,
				twin->line);
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

static bool begin_client(struct reading *reading, char **words) {
	struct config_client *client = calloc(1, sizeof(*client));
	if (client == NULL) {
		reading->result = -ENOMEM;
		return false;
	}
	client->line = reading->line;
	client->import = client->status = true;
	bool is_user = strcmp(words[1], "*") == 0 ||
			(gid_name_is_valid(words[1]) && strchr(words[1], '/') == NULL);
	if (!is_user) {
		mistake(reading, reading->line, "\"%s\" is not a user: give a name, a number, or *",
				words[1]);
	}
	if (!is_user || !copy_name(reading, client->domain_name, words[0])) {
		free(client);
		return false;
	}
	strcpy(client->user, words[1]);
	TAILQ_INSERT_TAIL(&reading->config->clients, client, entry);
	reading->client = client;
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
		{"client", 2, "[client DOMAIN USER]", begin_client},
		{"link", 2, "[link ONE OTHER]", begin_link},
};

static void begin_section(struct reading *reading, char *line) {
	char *words[4] = {0}, *rest = line + 1, *word;
	unsigned count = 0;
	reading->domain = NULL;
	reading->share = NULL;
	reading->client = NULL;
	reading->link = NULL;
	reading->in_cockpit = false;
	reading->skipping = true;
	reading->last_key[0] = '\0';
	char *end = strchr(line, ']');
	if (end == NULL) {
		reading->misses_section = true;
		mistake(reading, reading->line, "a [section] without its ]");
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
			reading->misses_section = true;
			mistake(reading, reading->line, "must be %s", kind->form);
			return;
		}
		reading->skipping = !kind->begin(reading, words + 1);
		reading->misses_section |= reading->skipping;
		return;
	}
	reading->misses_section = true;
	mistake(reading, reading->line,
			"unknown section; there are [cockpit], [domain NAME], [share OWNER "
			"READER], [client DOMAIN USER] and [link ONE OTHER]");
}

/* fgets() for inih: counts lines, begins sections, and hides from inih what it must not see. */
static char *read_line(char *buffer, int size, void *data) {
	struct reading *reading = data;
	ssize_t length = ini_line_read(reading->file, buffer, (size_t)size - 1);
	if (length == -ENODATA) {
		return NULL;
	}
	reading->line++;
	if (length == -EFBIG) {
		mistake(reading, reading->line, "a line without an end: this is no text");
		return NULL;
	}
	bool control = false;
	for (ssize_t i = 0; i < length; i++) {
		bool blank = buffer[i] == '\n' || buffer[i] == '\r' || buffer[i] == '\t';
		control |= iscntrl((unsigned char)buffer[i]) && !blank;
	}
	static const char mark[] = "\xef\xbb\xbf"; /* a byte order mark, which some editors leave */
	size_t begin = reading->line == 1 && strncmp(buffer, mark, 3) == 0 ? 3 : 0;
	size_t blank = begin + strspn(buffer + begin, " \t\r");
	/* Behind a key what is indented goes on with its value. */
	bool section = buffer[blank] == '[' && (blank == begin || reading->last_key[0] == '\0');
	if (control) {
		mistake(reading, reading->line, "a control character");
		strcpy(buffer, "\n");
	} else if (length < 0) {
		mistake(reading, reading->line,
				"longer than %d bytes; a list goes on in the next line when that "
				"begins with a space",
				size - 3);
		strcpy(buffer, "\n");
	} else if (section) {
		begin_section(reading, buffer + blank);
		strcpy(buffer, "[s]\n"); /* so that inih forgets the key before it */
	}
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
		if (domain->window_kind != WINDOW_IVSHMEM && domain->window < DAX_WINDOW_MIN) {
			mistake(reading, domain->line, "window-kind= of domain %s needs window=16M",
					domain->name);
		}
		if (domain->number == 0) {
			mistake(reading, domain->line, "domain %s needs number=1..%u", domain->name,
					GID_DOMAIN_MAX);
		} else if (twin != domain) {
			mistake(reading, domain->line, "domain %s has the number %u of domain %s",
					domain->name, domain->number, twin->name);
		}
	}
	if (TAILQ_EMPTY(&config->domains) && !reading->misses_section) {
		mistake(reading, reading->line, "the file has no [domain NAME]");
	}
}

static void complete_kinds(struct reading *reading) {
	const struct config *config = reading->config;
	const struct config_domain *host = config_host(config), *domain;
	TAILQ_FOREACH(domain, &config->domains, entry) {
		if (domain->kind == KIND_HOST && domain != host) {
			mistake(reading, domain->line, "domain %s has kind=host already",
					host->name);
		} else if (domain->kind == KIND_GUEST && host == NULL) {
			mistake(reading, domain->line,
					"domain %s is a guest: one domain must have kind=host, "
					"whose gidd joins it to the others",
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
		if (!reading->misses_section) {
			mistake(reading, line, "there is no [domain %s]",
					*first == NULL ? one : other);
		}
		return false;
	}
	if (*first == *second) {
		mistake(reading, line, "a domain needs no section to share with itself");
		return false;
	}
	return true;
}

static void complete_clients(struct reading *reading) {
	const struct config *config = reading->config;
	struct config_client *client;
	TAILQ_FOREACH(client, &config->clients, entry) {
		client->domain = config_domain_by_name(config, client->domain_name);
		if (client->domain == NULL && !reading->misses_section) {
			mistake(reading, client->line, "there is no [domain %s]",
					client->domain_name);
		}
		if (client->domain == NULL) {
			continue;
		}
		const struct config_client *twin =
				config_client_find(config, client->domain, client->user);
		if (twin != client && strcmp(twin->user, client->user) == 0) {
			mistake(reading, client->line, "user %s of domain %s is in line %u already",
					client->user, client->domain_name, twin->line);
		}
	}
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
			mistake(reading, share->line,
					"what %s shares with %s is in line %u already",
					share->owner_name, share->reader_name, twin->line);
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
			mistake(reading, link->line, "the link of %s and %s is in line %u already",
					link->names[0], link->names[1], twin->line);
		}
		bool local = link->kind != NULL && strcmp(link->kind, "local") == 0;
		if (link->kind == NULL) {
			mistake(reading, link->line, "a link needs kind=");
		} else if (strcmp(link->kind, "ivshmem") == 0 &&
				!config_is_remote(config, link->ends[0], link->ends[1])) {
			mistake(reading, link->line,
					"a link of kind ivshmem needs a guest at one end, and "
					"something that the two share");
		} else if (local &&
				(link->ends[0]->kind == KIND_GUEST ||
						link->ends[1]->kind == KIND_GUEST)) {
			mistake(reading, link->line,
					"a guest is another machine: its links cannot be "
					"of kind local");
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
	int bad_line = ini_parse_stream(read_line, &reading, handle_key, &reading);
	if (bad_line > 0) {
		mistake(&reading, (unsigned)bad_line, "neither [section] nor key=value");
	} else if (bad_line < 0) {
		reading.result = -ENOMEM;
	}
	if (ferror(file)) {
		mistake(&reading, reading.line, "the file cannot be read");
	}
	if (reading.result != -ENOMEM) {
		complete_domains(&reading);
		complete_kinds(&reading);
		complete_pairs(&reading);
		complete_clients(&reading);
	}
	return reading.result;
}

/* --- the file --------------------------------------------------------------------------------- */

static int check_kinds(const struct config *config, const char *path,
		bool (*knows_kind)(const char *kind), FILE *errors) {
	const struct config_link *link;
	int error = 0;
	TAILQ_FOREACH(link, &config->links, entry) {
		if (link->kind != NULL && !knows_kind(link->kind)) {
			fprintf(errors, "%s:%u: this gidd knows no link of kind \"%s\"\n", path,
					link->line, link->kind);
			error = -EINVAL;
		}
	}
	return error;
}

/* NULL: it is not known. */
static struct config_file_mark mark_of(const struct stat *status) {
	if (status == NULL) {
		return (struct config_file_mark){0};
	}
	return (struct config_file_mark){
			.device = status->st_dev,
			.inode = status->st_ino,
			.size = (uint64_t)status->st_size,
			.changed_ns = (uint64_t)status->st_mtim.tv_sec * 1000000000 +
					(uint64_t)status->st_mtim.tv_nsec,
	};
}

bool config_file_is_newer(const struct config *config) {
	struct stat status;
	if (config->path == NULL || stat(config->path, &status) < 0) {
		return false; /* or from where it cannot be seen */
	}
	struct config_file_mark now = mark_of(&status);
	return memcmp(&now, &config->mark, sizeof(now)) != 0;
}

int config_file_read(struct config *config, const char *path, bool (*knows_kind)(const char *kind),
		FILE *errors) {
	FILE *file = fopen(path, "re");
	struct stat status;
	if (file == NULL) {
		int error = -errno;
		fprintf(errors, "%s: %s\n", path, strerror(-error));
		config_init(config);
		return error;
	}
	struct config_file_mark mark = mark_of(fstat(fileno(file), &status) == 0 ? &status : NULL);
	int error = config_read(config, file, path, errors);
	fclose(file);
	config->path = path;
	config->mark = mark;
	int unknown = error == -ENOMEM ? 0 : check_kinds(config, path, knows_kind, errors);
	return error < 0 ? error : unknown;
}
