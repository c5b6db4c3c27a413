// SPDX-License-Identifier: MIT
/* Which windows a cockpit has: one for each set of domains that may read the same, and no more. */
#include "config_windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config_file.h"
#include "tap.h"

static const char domains[] = "[domain open]\nnumber=1\nkind=guest\nwindow=64M\nlocal=*\n"
			      "[domain cluster]\nnumber=2\nkind=guest\n"
			      "[domain host]\nnumber=3\nkind=host\n"
			      "[domain hud]\nnumber=40\n";

static const struct config_link_keys *any_kind(const char *name) {
	static const struct config_link_keys none = {.size = 0};
	return &none;
}

static void read_config(struct config *config, const char *shares) {
	char path[] = "/tmp/gid-windows-XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	fprintf(file, "%s%s", domains, shares);
	fclose(file);
	int error = config_file_read(config, path, any_kind, stdout);
	unlink(path);
	if (error < 0) {
		abort();
	}
}

/*
 * The names of the first domain's windows, in their order, with a space behind each; of spares
 * alone, or of all others.
 */
static void list(const struct config_windows *windows, const struct config *config, bool spares,
		char *text, size_t size) {
	const struct config_window *window;
	text[0] = '\0';
	TAILQ_FOREACH(window, windows, entry) {
		char name[CONFIG_WINDOW_NAME];
		if (window->owner == TAILQ_FIRST(&config->domains) && window->size > 0 &&
				(window->filled == 0) == spares) {
			config_window_put_name(window, name);
			strncat(text, name, size - strlen(text) - 1);
			strncat(text, " ", size - strlen(text) - 1);
		}
	}
}

static void expect(const char *shares, bool spares, const char *expected) {
	struct config config;
	struct config_windows windows;
	const struct config_domain *owner;
	char found[1024];
	read_config(&config, shares);
	config_windows_init(&windows);
	int error = config_windows_plan(&windows, &config, &owner);
	list(&windows, &config, spares, found, sizeof(found));
	bool same = error == 0 && strcmp(found, expected) == 0;
	tap_ok(same, "%s%s", spares ? "spares: " : "", expected);
	if (!same) {
		printf("# found %s(%d)\n", found, error);
	}
	config_windows_finish(&windows);
	config_finish(&config);
}

static void expect_windows(const char *shares, const char *expected) {
	expect(shares, false, expected);
}

static void test_sets(void) {
	expect_windows("[share open host]\nstreams=movie\n", "0.3 ");
	expect_windows("[share host open]\nstreams=movie\n", "0.3 ");
	expect_windows("[share open hud]\nstreams=movie\n", "0.40 ");
	expect_windows("[share open host]\nstreams=movie\n[share open cluster]\nstreams=movie\n",
			"0.2-3 1.2 2.3 ");
	expect_windows("[share open host]\nstreams=a\n[share open cluster]\nstreams=b\n",
			"0.2-3 1.3 2.2 ");
	expect_windows("[share open host]\nstreams=a\n[share open cluster]\nstreams=*\n"
		       "[share open hud]\nstreams=a\n",
			"0.2-3-40 1.2 2.3 3.40 ");
	/* Patterns that have names in common, though neither is one of the other's. */
	expect_windows("[share open host]\nstreams=a*\n[share open cluster]\nstreams=*b\n"
		       "[share open hud]\nstreams=c\n",
			"0.2-3-40 1.3 2.2 3.40 4.2-3 ");
	expect_windows("[share open host]\nstreams=a*x\n[share open cluster]\nstreams=a*y\n"
		       "[share open hud]\nstreams=b[0-9]\n",
			"0.2-3-40 1.3 2.2 3.40 ");
	expect_windows("[share open host]\nstreams=a*\n[share open cluster]\nstreams=?b\n"
		       "[share open hud]\nstreams=[a-z]?\n",
			"0.2-3-40 1.3 2.2 3.40 4.2-3 5.3-40 6.2-40 ");
}

/* What is left of a stream's readers has a window, too, which costs no memory. */
static void test_spares(void) {
	static const char three[] =
			"[share open host]\nstreams=*\n[share open cluster]\nstreams=*\n"
			"[share open hud]\nstreams=*\n";
	expect("[share open host]\nstreams=movie\n", true, "");
	expect("[share open host]\nstreams=movie\n[share open cluster]\nstreams=movie\n", true, "");
	expect(three, true, "4.3-40 5.2-40 6.2-3 ");
	struct config config;
	struct config_windows windows;
	const struct config_domain *owner;
	const struct config_window *window;
	read_config(&config, three);
	config_windows_init(&windows);
	config_windows_plan(&windows, &config, &owner);
	const struct config_domain *open = TAILQ_FIRST(&config.domains);
	bool large = true;
	TAILQ_FOREACH(window, &windows, entry) {
		large = large && (window->owner != open || window->size == open->window);
	}
	tap_ok(large, "a stream could be in each of them");
	config_windows_fill_spares(&windows, open, config_domain_by_name(&config, "hud"));
	tap_ok(config_windows_find(&windows, open, 6)->filled == open->window &&
					config_windows_find(&windows, open, 5)->filled == 0,
			"those that are needed get their memory");
	tap_ok(config_withdraw(&config, open, config_domain_by_name(&config, "hud"), "a*") == 0 &&
					config_windows_extend(&windows, &config, &owner) == 0,
			"a reader loses some streams");
	struct domain_set left = config_readers_of_stream(&config, open, "ab");
	tap_ok(domain_set_is_equal(&left, &config_windows_find(&windows, open, 6)->readers),
			"the others have a window by themselves");
	left = config_readers_of_stream(&config, open, "b");
	tap_ok(domain_set_is_equal(&left, &config_windows_find(&windows, open, 0)->readers),
			"and with it one for the rest");
	tap_ok(config_windows_find(&windows, open, 6)->filled == open->window,
			"none becomes smaller while it is in use");
	config_windows_finish(&windows);
	config_finish(&config);
}

static void test_sizes(void) {
	struct config config;
	struct config_windows windows;
	const struct config_domain *owner;
	const struct config_window *window;
	uint64_t total = 0;
	read_config(&config,
			"[share open host]\nstreams=movie\n[share open cluster]\nstreams=movie\n");
	config_windows_init(&windows);
	config_windows_plan(&windows, &config, &owner);
	TAILQ_FOREACH(window, &windows, entry) {
		total += window->owner == TAILQ_FIRST(&config.domains) ? window->filled : 0;
	}
	tap_ok(total == (UINT64_C(64) << 20) + 2 * CONFIG_WINDOW_SMALL,
			"only a window that a stream can be in is large");
	config_windows_finish(&windows);
	config_finish(&config);
}

static void test_numbers(void) {
	struct config config;
	struct config_windows windows;
	const struct config_domain *owner;
	struct domain_set cluster = {0}, hud = {0};
	char found[256];
	read_config(&config, "[share open host]\nstreams=a\n[share open cluster]\nstreams=b\n");
	config_windows_init(&windows);
	domain_set_put(&cluster, 2, true);
	domain_set_put(&hud, 40, true);
	const struct config_domain *open = TAILQ_FIRST(&config.domains);
	tap_ok(config_windows_add(&windows, open, 7, &cluster) == 0 &&
					config_windows_add(&windows, open, 0, &hud) == 0,
			"two that are there");
	tap_ok(config_windows_add(&windows, open, 8, &cluster) == -EEXIST &&
					config_windows_add(&windows, open, 7, &hud) == -EEXIST,
			"a set has one window, and a number, too");
	config_windows_plan(&windows, &config, &owner);
	list(&windows, &config, false, found, sizeof(found));
	tap_ok(strcmp(found, "7.2 1.2-3 2.3 ") == 0,
			"a set keeps its number, and one that nobody needs is not given again: %s",
			found);
	tap_ok(config_windows_find(&windows, open, 0)->size == 0, "which is not needed");
	config_windows_finish(&windows);
	config_finish(&config);
}

static void test_names(void) {
	static const char *const bad[] = {"", "0", "0.", ".1", "0.0", "0.255", "63.1", "0.2-1",
			"0.1-1", "0.1-", "0.1 ", "00.1", "0.01", "-1.1", "0.1.2", "x",
			"99999999999999999999.1", "0.99999999999999999999"};
	struct domain_set readers;
	uint32_t number;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tap_ok(!config_window_parse_name(bad[i], &number, &readers), "no name: \"%s\"",
				bad[i]);
	}
	tap_ok(config_window_parse_name("62.1-40-254", &number, &readers) && number == 62 &&
					domain_set_has(&readers, 1) &&
					domain_set_has(&readers, 40) &&
					domain_set_has(&readers, 254) &&
					!domain_set_has(&readers, 2),
			"a name");
}

/* 7 readers with all patterns overlapping need more windows than there are numbers. */
static void test_too_many(void) {
	char text[4096] = "";
	for (int i = 0; i < 7; i++) {
		size_t at = strlen(text);
		snprintf(text + at, sizeof(text) - at,
				"[domain r%d]\nnumber=%d\n[share open r%d]\nstreams=*%c*\n", i,
				100 + i, i, 'a' + i);
	}
	struct config config;
	struct config_windows windows;
	const struct config_domain *owner = NULL;
	read_config(&config, text);
	config_windows_init(&windows);
	tap_ok(config_windows_plan(&windows, &config, &owner) == -E2BIG &&
					owner == TAILQ_FIRST(&config.domains),
			"too many sets of readers are refused");
	config_windows_finish(&windows);
	config_finish(&config);
}

static void test_readers(void) {
	struct config config;
	read_config(&config,
			"[share open host]\nstreams=a\n[share open hud]\nstreams=a\n"
			"[share host hud]\nstreams=*\n[share host open]\nstreams=b\n");
	const struct config_domain *open = config_domain_by_name(&config, "open");
	const struct config_domain *host = config_domain_by_name(&config, "host");
	struct domain_set a = config_readers_of_stream(&config, open, "a");
	tap_ok(domain_set_has(&a, 3) && domain_set_has(&a, 40) && !domain_set_has(&a, 2),
			"the readers of a stream");
	struct domain_set c = config_readers_of_stream(&config, host, "c");
	tap_ok(domain_set_is_empty(&c), "none, where all are on one kernel with its owner");
	struct domain_set b = config_readers_of_stream(&config, host, "b");
	tap_ok(domain_set_has(&b, 1) && domain_set_has(&b, 40), "all, where one is not");
	const struct config_domain *hud = config_domain_by_name(&config, "hud");
	struct domain_set alone = config_reader_alone(&config, host, hud);
	tap_ok(domain_set_is_empty(&alone), "nobody alone on one kernel with it");
	alone = config_reader_alone(&config, host, NULL);
	tap_ok(domain_set_is_empty(&alone), "nor one that there is not");
	config_finish(&config);
}

int main(void) {
	test_sets();
	test_spares();
	test_sizes();
	test_numbers();
	test_names();
	test_too_many();
	test_readers();
	return tap_finish();
}
