// SPDX-License-Identifier: MIT
/* Whose section of the configuration counts. libc's question for a name is the test's own. */
#include "users.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "config_file.h"
#include "tap.h"

#define GUEST 4242

static const char *known = "guest"; /* who that is */
static bool is_away;		    /* the server for names */

struct passwd *getpwnam(const char *name) {
	static struct passwd guest = {.pw_uid = GUEST};
	return !is_away && strcmp(name, known) == 0 ? &guest : NULL;
}

static void read_sections(struct config *config, const struct config *older, const char *sections) {
	char text[512];
	int size = snprintf(text, sizeof(text), "[domain open]\nnumber=1\n%s", sections);
	FILE *file = fmemopen(text, (size_t)size, "r");
	tap_ok(config_read(config, file, "cockpit", stdout) == 0, "a configuration");
	fclose(file);
	users_find(config, older, config_domain_find(config, "open"));
}

/* The name of the user's section; "": it has none. */
static const char *section_of(const struct config *config, uid_t user) {
	const struct config_client *section =
			users_find_section(config, config_domain_find(config, "open"), user);
	return section != NULL ? section->user : "";
}

static void test_names(void) {
	struct config config;
	read_sections(&config, NULL,
			"[client open guest]\n[client open nobody-there]\n[client open *]\n");
	tap_ok(strcmp(section_of(&config, GUEST), "guest") == 0, "a name");
	tap_ok(strcmp(section_of(&config, 1), "*") == 0, "all others");
	tap_ok(strcmp(section_of(&config, CONFIG_NOBODY), "*") == 0, "who is not there is nobody");
	config_finish(&config);
	read_sections(&config, NULL, "[client open guest]\n[client open 4242]\n");
	tap_ok(strcmp(section_of(&config, GUEST), "4242") == 0, "a number counts before a name");
	tap_ok(strcmp(section_of(&config, 1), "") == 0, "others have none");
	config_finish(&config);
}

/* As servers for names have them: no name of a domain or stream would be one. */
static void test_names_of_servers(void) {
	static const char *const names[] = {"anna@corp.local", "CORP\\anna", "host$", "j\u00fcrgen",
			"a-user-of-a-very-large-enterprise@a-branch.of-it.in-a-country.example.org"};
	struct config config;
	char section[160];
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		known = names[i];
		snprintf(section, sizeof(section), "[client open %s]\n[client open *]\n", known);
		read_sections(&config, NULL, section);
		tap_ok(strcmp(section_of(&config, GUEST), known) == 0, "%s", known);
		tap_ok(strcmp(section_of(&config, 1), "*") == 0, "and nobody else");
		config_finish(&config);
	}
	known = "guest";
}

/* A user whom the configuration names does not get all rights because a server is away. */
static void test_away(void) {
	struct config older, config, later;
	read_sections(&older, NULL, "[client open guest]\n");
	is_away = true;
	/* Sections name domains of the configuration that is there, as after a reload. */
	read_sections(&config, NULL, "[client open guest]\n");
	tap_ok(strcmp(section_of(&config, GUEST), "") == 0, "nobody knew the name");
	struct config_client *was = TAILQ_FIRST(&older.clients);
	was->domain = config_domain_find(&config, "open");
	users_find(&config, &older, was->domain);
	tap_ok(strcmp(section_of(&config, GUEST), "guest") == 0,
			"the number of an earlier reading counts on");
	read_sections(&later, NULL, "[client open *]\n");
	was->domain = config_domain_find(&later, "open");
	users_find(&later, &older, was->domain);
	tap_ok(strcmp(section_of(&later, GUEST), "*") == 0, "but not for a section that has gone");
	is_away = false;
	config_finish(&later);
	config_finish(&config);
	config_finish(&older);
}

int main(void) {
	test_names();
	test_names_of_servers();
	test_away();
	return tap_finish();
}
