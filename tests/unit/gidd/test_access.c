// SPDX-License-Identifier: MIT
/* Who may read what: the table of docs/security.md, and all places that ask gidd/access agree. */
#include "access.h"

#include <stdlib.h>
#include <string.h>

#include "config_file.h"
#include "hub_check.h"
#include "tap.h"

static const char *const streams[] = {"movie", "camera/rear", "safety/telltale", "own"};
#define STREAM_COUNT (sizeof(streams) / sizeof(streams[0]))

/* The text of the section, from behind its heading to the next one. */
static char *read_section(const char *path, const char *heading) {
	static char text[1 << 18];
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		return NULL;
	}
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	char *section = strstr(text, heading);
	char *end = section == NULL ? NULL : strstr(section + 1, "\n## ");
	if (end != NULL) {
		*end = '\0';
	}
	return section;
}

/* A cockpit is the next block of code. */
static bool read_cockpit(struct config *config, const char *section) {
	const char *begin = strstr(section, "```ini");
	const char *end = begin == NULL ? NULL : strstr(begin + 6, "```");
	if (end == NULL) {
		config_init(config);
		return false;
	}
	begin = strchr(begin, '\n') + 1;
	FILE *file = fmemopen((void *)begin, (size_t)(end - begin), "r");
	int error = config_read(config, file, "security.md", stdout);
	fclose(file);
	return error == 0;
}

static void put_streams(char text[128], const struct config *config,
		const struct config_domain *owner, const struct config_domain *reader) {
	text[0] = '\0';
	for (size_t i = 0; i < STREAM_COUNT; i++) {
		if (access_may_publish(config, owner, streams[i]) &&
				access_may_read_stream(config, owner, reader, streams[i])) {
			strcat(text, text[0] == '\0' ? "" : " ");
			strcat(text, streams[i]);
		}
	}
	if (text[0] == '\0') {
		strcpy(text, "none");
	}
}

static enum hub_verdict ask_hub(const struct config *config, const struct config_domain *owner,
		const struct config_domain *reader, const char *stream) {
	struct config_windows windows;
	union gid_wire_message message;
	const char *why;
	config_windows_init(&windows);
	gid_wire_begin(&message, stream == NULL ? GID_WIRE_IMPORT : GID_WIRE_SUBSCRIBE, 1);
	if (stream != NULL) {
		snprintf(message.subscribe.name, sizeof(message.subscribe.name), "%s", stream);
	}
	return hub_check(config, &windows, reader, owner, &message, &why);
}

static void test_places(const struct config *config, const struct config_domain *owner,
		const struct config_domain *reader) {
	bool may_import = access_may_import(config, owner, reader);
	tap_ok((ask_hub(config, owner, reader, NULL) == HUB_PASS) == may_import,
			"the hub passes an import of %s from %s as it may be", reader->name,
			owner->name);
	for (size_t i = 0; i < STREAM_COUNT; i++) {
		bool may_read = access_may_read_stream(config, owner, reader, streams[i]);
		struct domain_set readers = access_readers_of(config, owner, streams[i]);
		struct domain_set any = access_readers_of(config, owner, NULL);
		tap_ok(domain_set_has(&readers, reader->number) == (may_read && owner != reader) &&
						(!may_read || may_import) &&
						(!domain_set_has(&readers, reader->number) ||
								domain_set_has(&any,
										reader->number)) &&
						(ask_hub(config, owner, reader, streams[i]) !=
								HUB_REFUSE) == may_read,
				"%s of %s: the readers, the windows and the hub agree about %s",
				streams[i], owner->name, reader->name);
	}
}

static void test_rows(struct config *config, const char *section) {
	const struct config_domain *owner, *reader;
	char before[9][128], row[512];
	unsigned count = 0, rows = 0;
	TAILQ_FOREACH(owner, &config->domains, entry) {
		TAILQ_FOREACH(reader, &config->domains, entry) {
			put_streams(before[count++], config, owner, reader);
			test_places(config, owner, reader);
		}
	}
	TAILQ_FOREACH(owner, &config->domains, entry) {
		tap_ok(config_withdraw(config, owner, NULL, "movie") == 0, "movie of %s is taken",
				owner->name);
	}
	count = 0;
	TAILQ_FOREACH(owner, &config->domains, entry) {
		TAILQ_FOREACH(reader, &config->domains, entry) {
			char after[128];
			put_streams(after, config, owner, reader);
			snprintf(row, sizeof(row), "\n| %s | %s | %s | %s | %s |\n", owner->name,
					reader->name,
					access_may_import(config, owner, reader) ? "yes" : "no",
					before[count++], after);
			tap_ok(strstr(section, row) != NULL, "the page has: %s", row + 1);
			test_places(config, owner, reader);
		}
	}
	for (const char *line = section; (line = strstr(line, "\n| ")) != NULL; line++) {
		rows++;
	}
	tap_ok(rows == 1 + count, "the page has no other rows: %u for %u pairs", rows - 1, count);
}

/* What a client may, beside its domain: lines that the page's cockpit does not have. */
static void test_clients(void) {
	char text[300] = "";
	struct config_client client = {.import = true, .publish = {.text = text}};
	tap_ok(access_client_may_import(&client), "a client imports if it may");
	client.import = false;
	tap_ok(!access_client_may_import(&client), "and not if it may not");
	tap_ok(!access_client_may_publish(&client, "movie"), "an empty list allows nothing");
	strcpy(text, "a  movie");
	tap_ok(access_client_may_publish(&client, "movie") &&
					!access_client_may_publish(&client, ""),
			"two spaces are no name between them");
	memset(text, '*', 256);
	text[256] = '\0';
	tap_ok(!access_client_may_publish(&client, "movie"),
			"a pattern of 256 characters allows nothing");
	text[255] = '\0';
	tap_ok(access_client_may_publish(&client, "movie"), "one of 255 is a pattern");
	tap_ok(access_client_may_read(&client, "movie") && access_client_may_read_all(&client),
			"without a list it reads all");
	client.read.text = text;
	for (size_t i = 0; i < 2; i++) {
		static const char *const lists[] = {"a* *b ** movie", "*** * a"};
		strcpy(text, lists[i]);
		tap_ok(access_client_may_read(&client, "movie"), "by the list %s, too", lists[i]);
		tap_ok(access_client_may_read_all(&client) == (i == 1),
				"only the word * is all: %s", lists[i]);
	}
	strcpy(text, "");
	tap_ok(!access_client_may_read(&client, "movie") && !access_client_may_read_all(&client),
			"an empty one is nothing");
}

/* --- what users may read ---------------------------------------------------------------------- */

static void put_word(char text[128], const char *word) {
	strcat(text, text[0] == '\0' ? "" : " ");
	strcat(text, word);
}

static void put_of(char text[128], const struct config *config, const struct config_domain *owner,
		const struct config_domain *reader, const struct config_client *client) {
	static const char *const names[] = {
			"movie", "film", "input/desk", "input/far", "clipboard/desk"};
	text[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (access_may_publish(config, owner, names[i]) &&
				access_may_read_stream(config, owner, reader, names[i]) &&
				(owner == reader || access_client_may_import(client)) &&
				access_client_may_read(client, names[i]) &&
				(owner != reader || strstr(names[i], "far") == NULL)) {
			put_word(text, names[i]);
		}
	}
	if (text[0] == '\0') {
		strcpy(text, "none");
	}
}

static void test_users(const struct config *config, const char *section) {
	static const char *const users[] = {"viewer", "player", "shy", "any other"};
	const struct config_domain *desk = config_domain_by_name(config, "desk");
	const struct config_domain *far = config_domain_by_name(config, "far");
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		const struct config_client *client = config_client_find(config, desk, users[i]);
		char own[128], others[128], row[512];
		put_of(own, config, desk, desk, client);
		put_of(others, config, far, desk, client);
		snprintf(row, sizeof(row), "\n| %s | %s | %s | %s |\n", users[i], own, others,
				!access_client_may_read_all(client) ? "what it was sent"
						: !access_client_may_import(client) ? "all of desk"
										    : "all");
		tap_ok(strstr(section, row) != NULL, "the page has: %s", row + 1);
	}
	tap_ok(access_some_read_a_part(config, desk) && !access_some_read_a_part(config, far),
			"some users of desk read a part");
}

/* Sections behind two domains' own. */
static void read_sections(struct config *config, const char *sections) {
	char text[512];
	snprintf(text, sizeof(text), "[domain a]\nnumber=1\nlocal=*\n[domain b]\nnumber=2\n%s",
			sections);
	FILE *file = fmemopen(text, strlen(text), "r");
	tap_ok(config_read(config, file, "sections", stdout) == 0, "no mistake in them");
	fclose(file);
}

/* As gidd does it: the fresh reading becomes the old one. */
static bool is_narrower(const char *before, const char *after, const char *stream) {
	struct config config, fresh;
	read_sections(&config, before);
	read_sections(&fresh, after);
	tap_ok(config_update(&config, &fresh, "sections", stdout) == 0, "it is taken over");
	bool narrower = access_is_narrower(
			&config, &fresh, config_domain_by_name(&config, "a"), stream);
	config_finish(&fresh);
	config_finish(&config);
	return narrower;
}

static void test_narrower(void) {
	static const struct {
		const char *before, *after;
		bool narrower;
		const char *what;
	} rows[] = {
			{"", "", false, "nothing has changed"},
			{"", "[client a *]\nread=x\n", true, "all lost it"},
			{"", "[client a joe]\nread=\n", true, "one lost it"},
			{"", "[client b joe]\nread=\n", false, "another domain's user lost it"},
			{"[client a *]\nread=x\n", "[client a *]\nread=x y\n", false, "all got it"},
			{"[client a *]\nread=x y\n", "[client a *]\nread=x\n", true, "all lost it"},
			{"[client a *]\nread=x y\n", "[client a *]\nread=z *\n", false,
					"all have it by another word"},
			{"[client a *]\nread=x\n", "[client a *]\nread=x\n[client a joe]\nread=z\n",
					false, "who has a section now did not have it"},
			{"[client a *]\nread=x\n[client a joe]\nread=y\n", "[client a *]\nread=x\n",
					true, "who has none any more had it"},
			{"[client a *]\nread=x\n[client a joe]\nread=y\n",
					"[client a *]\nread=x\n[client a 1000]\nread=x\n", true,
					"a name and a number may be one user"},
			{"[client a *]\nread=x\n", "", false, "there are no sections any more"},
			{"[client a joe]\nread=x\n", "[client a joe]\nread=x\nimport=off\n", false,
					"something else has changed"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tap_ok(is_narrower(rows[i].before, rows[i].after, "y") == rows[i].narrower, "%s",
				rows[i].what);
	}
}

/* Whether b could read a stream of a, NULL: any, and cannot now. */
static bool is_lost(const char *before, const char *after, const char *stream) {
	struct config config, fresh;
	read_sections(&config, before);
	read_sections(&fresh, after);
	tap_ok(config_update(&config, &fresh, "sections", stdout) == 0, "it is taken over");
	struct domain_set lost = access_lost_by(
			&config, &fresh, config_domain_by_name(&config, "a"), stream);
	bool b = domain_set_has(&lost, 2);
	domain_set_put(&lost, 2, false);
	tap_ok(domain_set_is_empty(&lost), "nobody else lost anything");
	config_finish(&fresh);
	config_finish(&config);
	return b;
}

static void test_lost(void) {
	static const char share[] = "[share a b]\nstreams=x y\n",
			  less[] = "[share a b]\nstreams=x\n";
	tap_ok(!is_lost(share, share, "y") && !is_lost("", "", "y"), "nothing has changed");
	tap_ok(is_lost(share, less, "y") && !is_lost(share, less, "x"), "one stream is lost");
	tap_ok(!is_lost(share, less, NULL), "and the share is not");
	tap_ok(is_lost(share, "", "y") && is_lost(share, "", NULL), "all is lost with the share");
	tap_ok(!is_lost(less, share, "y") && !is_lost("", share, NULL), "what is new was not lost");
	tap_ok(!is_lost(share, "[share a b]\nstreams=*\n", "y"), "all have it by another word");
	tap_ok(!is_lost("[share b a]\nstreams=y\n", "", "y"), "what another shares is not lost");
}

/* --- what is open ----------------------------------------------------------------------------- */

static bool safety_is_open(const char *globs) {
	struct config config;
	char text[64] = "";
	strcpy(text, globs);
	struct config_domain domain = {.local = {.text = text}};
	config_init(&config);
	bool open = access_safety_is_open(&config, &domain);
	config_finish(&config);
	return open;
}

static void test_safety(void) {
	tap_ok(safety_is_open("safety/*") && safety_is_open("*"), "patterns of safety streams");
	tap_ok(safety_is_open("safety/lamp") && safety_is_open("movie safety/lamp"),
			"one of them by its name");
	tap_ok(!safety_is_open("movie") && !safety_is_open(""), "others are none");
	tap_ok(!safety_is_open("unsafety/lamp movie/safety/lamp"),
			"nor those that are called alike");
}

int main(int argc, char **argv) {
	struct config config;
	const char *section = read_section(argc > 1 ? argv[1] : "", "\n## Who may read what\n");
	if (!tap_ok(section != NULL, "the page has the section")) {
		return tap_finish();
	}
	if (tap_ok(read_cockpit(&config, section), "its cockpit has no mistake")) {
		test_rows(&config, section);
	}
	config_finish(&config);
	section = read_section(argc > 1 ? argv[1] : "", "\n## What programs of a user may read\n");
	if (tap_ok(section != NULL && read_cockpit(&config, section),
			    "the lines about users have no mistake")) {
		test_users(&config, section);
		config_finish(&config);
	}
	test_clients();
	test_narrower();
	test_lost();
	test_safety();
	return tap_finish();
}
