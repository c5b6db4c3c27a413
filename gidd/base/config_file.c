// SPDX-License-Identifier: MIT
#include "config_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ini_file.h"
#include "key_table.h"
#include "size_text.h"
#include "wire.h"

#define WINDOW_MAX (INT64_C(64) << 30)
#define DAX_WINDOW_MIN (UINT64_C(16) << 20) /* the namespace's metadata takes 2M of it */
#define SCREEN_MIN 200 /* pixels; with fewer lines QEMU's EDID has no vertical sync */
#define SCREEN_MAX 8192
#define SEAL_MAX_S 86400

struct reading {
	struct ini_file ini;
	struct config *config;
	bool misses_section; /* a section was not understood: others may need what it defines */
	bool skipping;	     /* within a section that was not understood: its keys are ignored */
	/*
	 * The keys of the current section, and the object that they are stored in; or the current
	 * link.
	 */
	const struct ini_key_table *table;
	void *section;
	struct config_link *link;
};

/* --- values ----------------------------------------------------------------------------------- */

static void set_text(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	if (value[0] == '\0') {
		ini_file_mistake(ini, "%s has no value", key->name);
	} else {
		ini_file_text(ini, ini_key_member(key, section), value);
	}
}

static void set_path(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	if (value[0] != '/') {
		ini_file_mistake(ini, "%s=%s is not an absolute path", key->name, value);
	} else {
		set_text(ini, key, section, value);
	}
}

static void set_switch(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0) {
		ini_file_mistake(ini, "%s=%s is neither on nor off", key->name, value);
		return;
	}
	*(bool *)ini_key_member(key, section) = value[1] == 'n';
}

/* Whether the pattern can match a valid name of a stream. */
static bool glob_is_valid(const char *glob, size_t length) {
	static const char letters[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./*?[]!";
	char text[CONFIG_GLOB_MAX + 1];
	if (length > CONFIG_GLOB_MAX || strspn(glob, letters) < length) {
		return false;
	}
	memcpy(text, glob, length);
	text[length] = '\0';
	size_t plain = strcspn(text, "*?[");
	return plain < length ? plain <= GID_NAME_MAX : gid_name_is_valid(text);
}

/* For a key that holds a list: each line adds to it. */
static void set_globs(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	struct config_globs *globs = ini_key_member(key, section);
	for (const char *glob = value; *glob != '\0';) {
		size_t blank = strspn(glob, " \t,");
		glob += blank;
		size_t length = strcspn(glob, " \t,");
		if (length == 0) {
			break;
		}
		if (!glob_is_valid(glob, length)) {
			ini_file_mistake(ini,
					"\"%.*s\" can match no stream name: those have up to %u "
					"letters, digits and - _ . with / between them, patterns "
					"also * ? [ ]",
					(int)length, glob, GID_NAME_MAX);
			return;
		}
		char *text;
		if (asprintf(&text, "%s%s%.*s", globs->text == NULL ? "" : globs->text,
				    globs->text == NULL ? "" : " ", (int)length, glob) < 0) {
			ini->result = -ENOMEM;
			return;
		}
		free(globs->text);
		globs->text = text;
		glob += length;
	}
}

static void set_globs_or_none(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	struct config_globs *globs = ini_key_member(key, section);
	set_globs(ini, key, section, value);
	if (globs->text == NULL && ini->result == 0) {
		ini_file_text(ini, &globs->text, ""); /* an empty list */
	}
}

/* Leaves 0 if the value is not a valid number. */
static void set_domain_number(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	struct config_domain *domain = section;
	unsigned mistakes = ini->mistakes;
	int64_t number = ini_file_count(ini, key->name, value, 1, GID_DOMAIN_MAX);
	domain->number_line = ini->line;
	if (ini->mistakes == mistakes) {
		domain->number = (uint32_t)number;
	}
}

/* Takes a mode such as "1280x480", or "none". */
static void set_display(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	struct config_machine *machine = &((struct config_domain *)section)->machine;
	uint32_t width = 0, height = 0;
	const char *rest = size_text_read(value, SCREEN_MAX, &width, &height);
	if (strcmp(value, "none") != 0 &&
			(rest == NULL || *rest != '\0' || width < SCREEN_MIN ||
					height < SCREEN_MIN)) {
		ini_file_mistake(ini,
				"vm-display=%s is neither none nor a size as 1280x480, of %d "
				"to %d pixels",
				value, SCREEN_MIN, SCREEN_MAX);
		return;
	}
	machine->width = width;
	machine->height = height;
}

static void set_doorbell(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	struct config_domain *domain = section;
	domain->doorbell = strcmp(value, "off") != 0;
	domain->direct = strcmp(value, "on") == 0;
	if (domain->doorbell && !domain->direct && strcmp(value, "relay") != 0) {
		ini_file_mistake(ini, "doorbell=%s is neither on nor relay nor off", value);
	}
}

/* The memory of a PCI device is a power of two. */
static void set_window(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	int64_t size = 0;
	if (!ini_parse_size(value, &size) || size < (int64_t)GID_WINDOW_MIN || size > WINDOW_MAX ||
			(size & (size - 1)) != 0) {
		ini_file_mistake(ini, "window=%s is not a power of two from 1M to 64G", value);
		return;
	}
	((struct config_domain *)section)->window = (uint64_t)size;
}

static void set_runtime(
		struct ini_file *ini, const struct ini_key *key, void *section, const char *value) {
	struct config *config = section;
	if (config->runtime_line != 0) { /* from another [cockpit] section */
		ini_file_mistake(ini, "runtime= is in line %u already", config->runtime_line);
		return;
	}
	set_path(ini, key, section, value);
	config->runtime_line = ini->line;
}

/* --- keys ------------------------------------------------------------------------------------- */

static const struct ini_word kinds[] = {{"local", KIND_LOCAL}, {"container", KIND_CONTAINER},
		{"host", KIND_HOST}, {"guest", KIND_GUEST}, {0}};
static const struct ini_word window_kinds[] = {
		{"ivshmem", WINDOW_IVSHMEM}, {"dax", WINDOW_DAX}, {"auto", WINDOW_AUTO}, {0}};
static const struct ini_word accelerators[] = {
		{"auto", ACCEL_AUTO}, {"kvm", ACCEL_KVM}, {"tcg", ACCEL_TCG}, {0}};
static const struct ini_word architectures[] = {
		{"own", ARCH_OWN}, {"arm64", ARCH_ARM64}, {"arm64-16k", ARCH_ARM64_16K}, {0}};

#define COCKPIT(member) INI_MEMBER(struct config, member)
#define DOMAIN(member) INI_MEMBER(struct config_domain, member)
#define SHARE(member) INI_MEMBER(struct config_share, member)
#define CLIENT(member) INI_MEMBER(struct config_client, member)

static const struct ini_key cockpit_keys[] = {
		{"runtime", INI_OWN, COCKPIT(runtime), .set = set_runtime},
};

static const struct ini_key domain_keys[] = {
		{"number", INI_OWN, .set = set_domain_number},
		{"local", INI_OWN, DOMAIN(local), .set = set_globs},
		{"user", INI_OWN, DOMAIN(user), .set = set_text},
		{"group", INI_OWN, DOMAIN(group), .set = set_text},
		{"seal", INI_NUMBER, DOMAIN(seal_s), .least = 1, .most = SEAL_MAX_S},
		{"kind", INI_WORD, DOMAIN(kind), .words = kinds},
		{"window", INI_OWN, .set = set_window},
		{"window-kind", INI_WORD, DOMAIN(window_kind), .words = window_kinds},
		{"window-device", INI_OWN, DOMAIN(window_device), .set = set_path},
		{"doorbell", INI_OWN, .set = set_doorbell},
		{"control", INI_OWN, DOMAIN(control), .set = set_path},
#define QUOTA(name, member, kind, most_) {name, kind, DOMAIN(member), .most = most_}
		QUOTA("memory", quota[QUOTA_MEMORY], INI_SIZE, INT64_MAX),
		QUOTA("pieces", quota[QUOTA_PIECES], INI_COUNT, GID_SLAB_MAX),
		QUOTA("slabs", quota[QUOTA_SLABS], INI_COUNT, GID_SLAB_MAX),
		QUOTA("streams", quota[QUOTA_STREAMS], INI_COUNT, GID_SLAB_MAX),
		QUOTA("subscriptions", quota[QUOTA_SUBSCRIPTIONS], INI_COUNT, GID_SLAB_MAX),
		QUOTA("held", quota[QUOTA_HELD], INI_COUNT, GID_SLAB_MAX),
		QUOTA("clients", quota[QUOTA_CLIENTS], INI_COUNT, GID_SLAB_MAX),
		QUOTA("client-memory", client_quota[QUOTA_MEMORY], INI_SIZE, INT64_MAX),
		QUOTA("client-pieces", client_quota[QUOTA_PIECES], INI_COUNT, GID_SLAB_MAX),
		QUOTA("client-slabs", client_quota[QUOTA_SLABS], INI_COUNT, GID_SLAB_MAX),
		QUOTA("client-streams", client_quota[QUOTA_STREAMS], INI_COUNT, GID_SLAB_MAX),
		QUOTA("client-subscriptions", client_quota[QUOTA_SUBSCRIPTIONS], INI_COUNT,
				GID_SLAB_MAX),
		QUOTA("client-held", client_quota[QUOTA_HELD], INI_COUNT, GID_SLAB_MAX),
#undef QUOTA
		/* The machine of a guest. gid-cockpit(1) reads these from `gidd --check --json`. */
		{"vm-memory", INI_SIZE, DOMAIN(machine.memory), .least = 64 << 20,
				.most = 1ll << 40},
		{"vm-cpus", INI_COUNT, DOMAIN(machine.cpus), .least = 1, .most = 255},
		{"vm-accel", INI_WORD, DOMAIN(machine.accel), .words = accelerators},
		{"vm-arch", INI_WORD, DOMAIN(machine.arch), .words = architectures},
		{"vm-display", INI_OWN, .set = set_display},
		{"vm-disk", INI_TEXT, DOMAIN(machine.disk)},
		{"vm-kernel", INI_TEXT, DOMAIN(machine.kernel)},
		{"vm-initrd", INI_TEXT, DOMAIN(machine.initrd)},
		{"vm-append", INI_TEXT, DOMAIN(machine.append)},
		{"vm-options", INI_TEXT, DOMAIN(machine.options)},
		/* The container of a domain, likewise. */
		{"container-image", INI_TEXT, DOMAIN(container.image)},
		{"container-command", INI_TEXT, DOMAIN(container.command)},
		{"container-options", INI_TEXT, DOMAIN(container.options)},
};

static const struct ini_key share_keys[] = {
		{"streams", INI_OWN, SHARE(streams), .set = set_globs},
		{"held", INI_COUNT, SHARE(held), .most = GID_SLAB_MAX},
};

static const struct ini_key client_keys[] = {
		{"publish", INI_OWN, CLIENT(publish), .set = set_globs_or_none},
		{"read", INI_OWN, CLIENT(read), .set = set_globs_or_none},
		{"import", INI_OWN, CLIENT(import), .set = set_switch},
		{"status", INI_OWN, CLIENT(status), .set = set_switch},
		{"memory", INI_SIZE, CLIENT(quota[QUOTA_MEMORY]), .most = INT64_MAX},
		{"pieces", INI_COUNT, CLIENT(quota[QUOTA_PIECES]), .most = GID_SLAB_MAX},
		{"slabs", INI_COUNT, CLIENT(quota[QUOTA_SLABS]), .most = GID_SLAB_MAX},
		{"streams", INI_COUNT, CLIENT(quota[QUOTA_STREAMS]), .most = GID_SLAB_MAX},
		{"subscriptions", INI_COUNT, CLIENT(quota[QUOTA_SUBSCRIPTIONS]),
				.most = GID_SLAB_MAX},
		{"held", INI_COUNT, CLIENT(quota[QUOTA_HELD]), .most = GID_SLAB_MAX},
		{"clients", INI_COUNT, CLIENT(quota[QUOTA_CLIENTS]), .most = GID_SLAB_MAX},
};

static const struct ini_key_table cockpit_table = INI_KEY_TABLE("the cockpit", cockpit_keys);
static const struct ini_key_table domain_table = INI_KEY_TABLE("a domain", domain_keys);
static const struct ini_key_table share_table = INI_KEY_TABLE("a share", share_keys);
static const struct ini_key_table client_table = INI_KEY_TABLE("a client", client_keys);

static const struct ini_key link_kind = {
		"kind", INI_OWN, INI_MEMBER(struct config_link, kind), .set = set_text};

/* All keys but kind= are kept as they are: the link's kind reads them. */
static void link_key(struct reading *reading, const char *key, const char *value) {
	if (strcmp(key, "kind") == 0) {
		set_text(&reading->ini, &link_kind, reading->link, value);
		return;
	}
	struct config_setting *setting = calloc(1, sizeof(*setting));
	if (setting == NULL) {
		reading->ini.result = -ENOMEM;
		return;
	}
	TAILQ_INSERT_TAIL(&reading->link->lines, setting, entry);
	setting->key = strdup(key);
	setting->value = strdup(value);
	setting->line = reading->ini.line;
	if (setting->key == NULL || setting->value == NULL) {
		reading->ini.result = -ENOMEM;
	}
}

/* The keys of a section that was not understood are not known, so none of them is an error. */
static bool is_list(const void *data, const char *name) {
	const struct reading *reading = data;
	const struct ini_key *key =
			reading->table != NULL ? ini_key_table_find(reading->table, name) : NULL;
	return reading->skipping ||
			(key != NULL && (key->set == set_globs || key->set == set_globs_or_none));
}

/*
 * Only at the end of the file is the kind of the domain known, and with it whether it has the key.
 */
static void note_kind_of_key(struct reading *reading, const char *key) {
	struct config_domain *domain = reading->section;
	if (strncmp(key, "vm-", 3) == 0 && domain->machine_line == 0) {
		domain->machine_line = reading->ini.line;
	} else if (strncmp(key, "container-", 10) == 0 && domain->container_line == 0) {
		domain->container_line = reading->ini.line;
	}
}

static void handle_key(void *data, const char *section, const char *key, const char *value) {
	struct reading *reading = data;
	if (reading->skipping) {
		return;
	}
	if (reading->table == &domain_table) {
		note_kind_of_key(reading, key);
	}
	if (reading->link != NULL) {
		link_key(reading, key, value);
	} else if (reading->table != NULL) {
		ini_key_table_set(reading->table, &reading->ini, reading->section, key, value);
	} else {
		ini_file_mistake(&reading->ini, "\"%s\" stands before the first [section]", key);
	}
}

/* --- sections --------------------------------------------------------------------------------- */

static const uint64_t default_quota[QUOTA_COUNT] = {
		[QUOTA_MEMORY] = UINT64_C(1) << 30,
		[QUOTA_PIECES] = UINT64_MAX, /* set by complete_pieces() from the other limits */
		[QUOTA_SLABS] = 1024,
		[QUOTA_STREAMS] = 64,
		[QUOTA_SUBSCRIPTIONS] = 256,
		[QUOTA_HELD] = 2048,
		[QUOTA_CLIENTS] = 128,
};
static const uint64_t default_window = UINT64_C(256) << 20;
static const uint64_t default_share_held = 512;
static const uint64_t default_machine_memory = UINT64_C(1) << 30;

static bool copy_name(struct reading *reading, char name[GID_NAME_MAX + 1], const char *word) {
	if (!gid_name_is_valid(word) || strchr(word, '/') != NULL) {
		ini_file_mistake(&reading->ini,
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
		reading->ini.result = -ENOMEM;
		return false;
	}
	domain->line = reading->ini.line;
	domain->window = default_window;
	domain->doorbell = domain->direct = true;
	domain->machine.memory = default_machine_memory;
	domain->machine.cpus = 1;
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
		ini_file_mistake(&reading->ini, "domain %s is in line %u already", domain->name,
				twin->line);
	}
	config_add_domain(reading->config, domain);
	reading->table = &domain_table;
	reading->section = domain;
	return true;
}

static bool begin_share(struct reading *reading, char **words) {
	struct config_share *share = calloc(1, sizeof(*share));
	if (share == NULL) {
		reading->ini.result = -ENOMEM;
		return false;
	}
	share->line = reading->ini.line;
	share->held = default_share_held;
	if (!copy_name(reading, share->owner_name, words[0]) ||
			!copy_name(reading, share->reader_name, words[1])) {
		free(share);
		return false;
	}
	TAILQ_INSERT_TAIL(&reading->config->shares, share, entry);
	reading->table = &share_table;
	reading->section = share;
	return true;
}

/*
 * Name servers have names that a system would not create: anna@corp.local, CORP\anna. Whether the
 * user exists is checked later. A pattern is refused, so that nobody expects it to match.
 */
static bool is_user(const char *word) {
	size_t length = strlen(word);
	return strcmp(word, "*") == 0 ||
			(length <= CONFIG_USER_MAX && strcspn(word, ":/*?[") == length &&
					gid_wire_text_is_valid(word, length));
}

static bool begin_client(struct reading *reading, char **words) {
	struct config_client *client = calloc(1, sizeof(*client));
	if (client == NULL) {
		reading->ini.result = -ENOMEM;
		return false;
	}
	client->line = reading->ini.line;
	client->uid = CONFIG_NOBODY;
	client->import = client->status = true;
	for (enum quota quota = 0; quota < QUOTA_COUNT; quota++) {
		client->quota[quota] = UINT64_MAX;
	}
	bool has_user = is_user(words[1]);
	if (!has_user) {
		ini_file_mistake(&reading->ini, "\"%s\" is not a user: give a name, a number, or *",
				words[1]);
	}
	if (!has_user || !copy_name(reading, client->domain_name, words[0])) {
		free(client);
		return false;
	}
	strcpy(client->user, words[1]);
	TAILQ_INSERT_TAIL(&reading->config->clients, client, entry);
	reading->table = &client_table;
	reading->section = client;
	return true;
}

static bool begin_link(struct reading *reading, char **words) {
	struct config_link *link = calloc(1, sizeof(*link));
	if (link == NULL) {
		reading->ini.result = -ENOMEM;
		return false;
	}
	TAILQ_INIT(&link->lines);
	link->line = reading->ini.line;
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
	reading->table = &cockpit_table;
	reading->section = reading->config;
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

static void handle_section(void *data, char *head) {
	struct reading *reading = data;
	char *words[4] = {0}, *rest = head, *word;
	unsigned count = 0;
	reading->table = NULL;
	reading->link = NULL;
	reading->skipping = true;
	char *end = strchr(head, ']');
	if (end == NULL) {
		reading->misses_section = true;
		ini_file_mistake(&reading->ini, "a [section] without its ]");
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
			ini_file_mistake(&reading->ini, "must be %s", kind->form);
			return;
		}
		reading->skipping = !kind->begin(reading, words + 1);
		reading->misses_section |= reading->skipping;
		return;
	}
	reading->misses_section = true;
	ini_file_mistake(&reading->ini,
			"unknown section; there are [cockpit], [domain NAME], [share OWNER "
			"READER], [client DOMAIN USER] and [link ONE OTHER]");
}

/* --- checks at the end of the file ------------------------------------------------------------ */

/* Each slab takes one piece. So does each end of a subscription: its page, or its ring. */
static void complete_pieces(uint64_t quota[QUOTA_COUNT]) {
	if (quota[QUOTA_PIECES] == UINT64_MAX) {
		quota[QUOTA_PIECES] = 2 * (quota[QUOTA_SLABS] + quota[QUOTA_SUBSCRIPTIONS]);
	}
}

static void complete_domains(struct reading *reading) {
	struct config *config = reading->config;
	struct config_domain *domain;
	TAILQ_FOREACH(domain, &config->domains, entry) {
		for (enum quota quota = 0; quota < QUOTA_COUNT; quota++) {
			/* Half of the domain's limit, so that no client can use up all of it. */
			if (domain->client_quota[quota] == UINT64_MAX && quota != QUOTA_PIECES) {
				domain->client_quota[quota] = (domain->quota[quota] + 1) / 2;
			}
		}
		complete_pieces(domain->quota);
		complete_pieces(domain->client_quota);
		const struct config_domain *twin = config_domain_by_number(config, domain->number);
		if (domain->window_kind != WINDOW_IVSHMEM && domain->window < DAX_WINDOW_MIN) {
			ini_file_mistake_at(&reading->ini, domain->line,
					"window-kind= of domain %s needs window=16M", domain->name);
		}
		if (domain->number == 0 && domain->number_line == 0) {
			ini_file_mistake_at(&reading->ini, domain->line,
					"domain %s needs number=1..%u", domain->name,
					GID_DOMAIN_MAX);
		} else if (domain->number != 0 && twin != domain) {
			ini_file_mistake_at(&reading->ini, domain->line,
					"domain %s has the number %u of domain %s", domain->name,
					domain->number, twin->name);
		}
	}
	if (TAILQ_EMPTY(&config->domains) && !reading->misses_section) {
		ini_file_mistake(&reading->ini, "the file has no [domain NAME]");
	}
}

/*
 * Such keys have no effect elsewhere. Without its kind= a guest would be a domain of this machine.
 */
static void check_keys_of_kinds(struct reading *reading) {
	const struct config_domain *domain;
	TAILQ_FOREACH(domain, &reading->config->domains, entry) {
		if (domain->machine_line != 0 && domain->kind != KIND_GUEST) {
			ini_file_mistake_at(&reading->ini, domain->machine_line,
					"a key vm-... is of a guest alone: domain %s has no "
					"kind=guest",
					domain->name);
		}
		if (domain->container_line != 0 && domain->kind != KIND_CONTAINER) {
			ini_file_mistake_at(&reading->ini, domain->container_line,
					"a key container-... is of a container alone: domain %s "
					"has no kind=container",
					domain->name);
		}
	}
}

static void complete_kinds(struct reading *reading) {
	const struct config *config = reading->config;
	const struct config_domain *host = config_host(config), *domain;
	TAILQ_FOREACH(domain, &config->domains, entry) {
		if (domain->kind == KIND_HOST && domain != host) {
			ini_file_mistake_at(&reading->ini, domain->line,
					"domain %s has kind=host already", host->name);
		} else if (domain->kind == KIND_GUEST && host == NULL) {
			ini_file_mistake_at(&reading->ini, domain->line,
					"domain %s is a guest: one domain must have kind=host, "
					"whose gidd joins it to the others",
					domain->name);
		} else if (domain->kind == KIND_CONTAINER && domain->container.image == NULL) {
			ini_file_mistake_at(&reading->ini, domain->line,
					"domain %s is a container: it needs container-image=",
					domain->name);
		}
	}
}

/* Finds both domains of a section; false: one is unknown, or both are the same one. */
static bool find_pair(struct reading *reading, unsigned line, const char *one, const char *other,
		const struct config_domain **first, const struct config_domain **second) {
	*first = config_domain_by_name(reading->config, one);
	*second = config_domain_by_name(reading->config, other);
	if (*first == NULL || *second == NULL) {
		if (!reading->misses_section) {
			ini_file_mistake_at(&reading->ini, line, "there is no [domain %s]",
					*first == NULL ? one : other);
		}
		return false;
	}
	if (*first == *second) {
		ini_file_mistake_at(&reading->ini, line,
				"a domain needs no section to share with itself");
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
			ini_file_mistake_at(&reading->ini, client->line, "there is no [domain %s]",
					client->domain_name);
		}
		if (client->domain == NULL) {
			continue;
		}
		const struct config_client *twin =
				config_client_find(config, client->domain, client->user);
		if (twin != client && strcmp(twin->user, client->user) == 0) {
			ini_file_mistake_at(&reading->ini, client->line,
					"user %s of domain %s is in line %u already", client->user,
					client->domain_name, twin->line);
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
		if (twin != NULL) {
			ini_file_mistake_at(&reading->ini, share->line,
					"what %s shares with %s is in line %u already",
					share->owner_name, share->reader_name, twin->line);
		} else {
			config_add_lent(config, share);
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
			ini_file_mistake_at(&reading->ini, link->line,
					"the link of %s and %s is in line %u already",
					link->names[0], link->names[1], twin->line);
		}
		bool local = link->kind != NULL && strcmp(link->kind, "local") == 0;
		if (link->kind == NULL) {
			ini_file_mistake_at(&reading->ini, link->line, "a link needs kind=");
		} else if (strcmp(link->kind, "ivshmem") == 0 &&
				!config_is_remote(config, link->ends[0], link->ends[1])) {
			ini_file_mistake_at(&reading->ini, link->line,
					"a link of kind ivshmem needs a guest at one end, and "
					"something that the two share");
		} else if (local &&
				(link->ends[0]->kind == KIND_GUEST ||
						link->ends[1]->kind == KIND_GUEST)) {
			ini_file_mistake_at(&reading->ini, link->line,
					"a guest is another machine: its links cannot be "
					"of kind local");
		}
	}
}

int config_read(struct config *config, FILE *file, const char *name, FILE *errors) {
	config_init(config);
	struct reading reading = {
			.ini = {.file = file,
					.errors = errors,
					.name = name,
					.is_list = is_list,
					.handle_section = handle_section},
			.config = config,
	};
	if (ini_file_read(&reading.ini, handle_key, &reading) != -ENOMEM) {
		complete_domains(&reading);
		complete_kinds(&reading);
		complete_pairs(&reading);
		complete_clients(&reading);
	}
	if (reading.ini.result == 0) { /* a misspelt kind= would make correct keys look wrong */
		check_keys_of_kinds(&reading);
	}
	return reading.ini.result;
}

/* --- the file --------------------------------------------------------------------------------- */

static void read_settings(struct ini_file *ini, struct config_link *link,
		const struct config_link_keys *keys) {
	const struct config_setting *setting;
	if (TAILQ_EMPTY(&link->lines)) {
		return;
	}
	link->settings = calloc(1, keys->size > 0 ? keys->size : 1);
	if (link->settings == NULL) {
		ini->result = -ENOMEM;
		return;
	}
	TAILQ_FOREACH(setting, &link->lines, entry) {
		ini->line = setting->line;
		ini_key_table_set(&keys->table, ini, link->settings, setting->key, setting->value);
	}
}

static int read_links(struct config *config, const char *path, config_link_keys_func keys_of,
		FILE *errors) {
	struct ini_file ini = {.name = path, .errors = errors};
	struct config_link *link;
	TAILQ_FOREACH(link, &config->links, entry) {
		const struct config_link_keys *keys =
				link->kind != NULL ? keys_of(link->kind) : NULL;
		if (keys != NULL) {
			read_settings(&ini, link, keys);
		} else if (link->kind != NULL) {
			ini_file_mistake_at(&ini, link->line,
					"this gidd knows no link of kind \"%s\"", link->kind);
		}
	}
	return ini.result;
}

/* NULL gives the mark of an unknown file. */
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
		return false; /* nor can it be compared where this process cannot see it */
	}
	struct config_file_mark now = mark_of(&status);
	return memcmp(&now, &config->mark, sizeof(now)) != 0;
}

int config_file_read(struct config *config, const char *path, config_link_keys_func keys_of,
		FILE *errors) {
	FILE *file = ini_file_open(path, errors);
	struct stat status;
	if (file == NULL) {
		int error = -errno;
		config_init(config);
		return error;
	}
	struct config_file_mark mark = mark_of(fstat(fileno(file), &status) == 0 ? &status : NULL);
	int error = config_read(config, file, path, errors);
	fclose(file);
	config->path = path;
	config->mark = mark;
	int of_links = error == -ENOMEM ? 0 : read_links(config, path, keys_of, errors);
	return error < 0 ? error : of_links;
}
