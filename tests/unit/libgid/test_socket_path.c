// SPDX-License-Identifier: MIT
/* Where gidd's socket is looked for, and what is said to whoever does not reach it. */
#include "socket_path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char folder[] = "/tmp/gid-socket-path-XXXXXX";

/* In turn one of some places, so that several can be named at once. */
static const char *place(const char *name) {
	static char paths[4][256];
	static unsigned turn;
	char *path = paths[turn++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

/* A domain whose socket is there, or was. */
static void make_domain(const char *name, bool with_socket) {
	char socket[64];
	mkdir(place(name), 0700);
	snprintf(socket, sizeof(socket), "%s/gidd.sock", name);
	FILE *file = with_socket ? fopen(place(socket), "we") : NULL;
	if (file != NULL) {
		fclose(file);
	}
}

static void remove_domain(const char *name) {
	char socket[64];
	snprintf(socket, sizeof(socket), "%s/gidd.sock", name);
	unlink(place(socket));
	rmdir(place(name));
}

/* `words`: what is said; or the end of the path. */
static void expect_find(const char *name, int error, const char *words) {
	char *path, why[512] = "";
	int got = gid_socket_path_find(name, &path, why, sizeof(why));
	const char *said = got == 0 ? path : why;
	tap_ok(got == error && strstr(said, words) != NULL, "%s: %d, %s",
			name != NULL ? name : "(none)", got, said);
	free(path);
}

static void expect_explain(const char *path, int error, const char *words) {
	char why[1024];
	gid_socket_path_explain(path, error, why, sizeof(why));
	tap_ok(strstr(why, words) != NULL, "%d: %s", error, why);
}

static void test_names(void) {
	unsetenv("GID_DOMAIN");
	setenv("GID_RUNTIME_DIR", folder, 1);
	expect_find("open", 0, "/open/gidd.sock");
	expect_find("/somewhere/open/gidd.sock", 0, "/somewhere/open/gidd.sock");
	expect_find("no name", -EINVAL, "\"no name\" is not a domain's name");
	expect_find(NULL, -ENOENT, "no domain runs in /tmp/gid-socket-path-");
	expect_find("", -EINVAL, "\"\" is not a domain's name");
	setenv("GID_DOMAIN", "", 1);
	expect_find(NULL, -ENOENT, "no domain runs in /tmp/gid-socket-path-");
	unsetenv("GID_DOMAIN");
	make_domain("open", true);
	make_domain("closed", false);
	expect_find(NULL, 0, "/open/gidd.sock");
	make_domain("cluster", true);
	expect_find(NULL, -EINVAL, "2 domains run here (");
	setenv("GID_DOMAIN", "cluster", 1);
	expect_find(NULL, 0, "/cluster/gidd.sock");
	unsetenv("GID_DOMAIN");
	setenv("GID_RUNTIME_DIR", place("nowhere"), 1);
	expect_find(NULL, -ENOENT, "no domain runs here (");
	mkdir(place("locked"), 0);
	setenv("GID_RUNTIME_DIR", place("locked"), 1);
	if (geteuid() != 0) {
		expect_find(NULL, -EACCES, "get permission to read that folder");
	}
	rmdir(place("locked"));
	setenv("GID_RUNTIME_DIR", "", 1);
	expect_find("open", 0, "/run/gidway/open/gidd.sock");
}

/* Whether GID_RUNTIME_DIR is lacking is said, and where it may be. */
static void test_lacking_folder(void) {
	const char *socket = place("other/gidd.sock");
	unsetenv("GID_RUNTIME_DIR");
	unsetenv("XDG_RUNTIME_DIR");
	expect_explain(socket, -ENOENT, "GID_RUNTIME_DIR is not set; set it, or start it with");
	setenv("XDG_RUNTIME_DIR", folder, 1);
	expect_explain(socket, -ENOENT, "GID_RUNTIME_DIR is not set; set it, or start it with");
	mkdir(place("gidway"), 0700);
	expect_explain(socket, -ENOENT, "export GID_RUNTIME_DIR=/tmp/gid-socket-path-");
	if (tap_ok(chdir("/tmp") == 0, "from another folder")) {
		setenv("XDG_RUNTIME_DIR", folder + strlen("/tmp/"), 1);
		expect_explain(socket, -ENOENT, "is not set; set it, or start it with");
	}
	rmdir(place("gidway"));
	setenv("GID_RUNTIME_DIR", folder, 1);
	expect_explain(socket, -ENOENT, "--domain other`");
}

static void test_reasons(void) {
	setenv("GID_RUNTIME_DIR", folder, 1);
	expect_explain(place("other/gidd.sock"), -ENOENT,
			"/other/gidd.sock (domains that run here: ");
	expect_explain(place("open/gidd.sock"), -ECONNREFUSED, "no gidd for domain 'open' at ");
	expect_explain("open/gidd.sock", -ENOENT, "no gidd for domain 'open' at open/gidd.sock");
	expect_explain("/no name/gidd.sock", -ENOENT, "name its socket, FOLDER/DOMAIN/gidd.sock");
	expect_explain(place("open/other.sock"), -ENOENT, "no gidd listens at ");
	expect_explain("gidd.sock", -ENOTDIR, "no gidd listens at gidd.sock");
	expect_explain(place("open/gidd.sock"), -EACCES, "no access to domain 'open' at ");
	expect_explain(place("open/other.sock"), -EPERM, "no access to domain 'NAME' at ");
	expect_explain(place("open/gidd.sock"), -ETIMEDOUT, "does not answer");
	expect_explain(place("open/gidd.sock"), -EPIPE, "domain 'open' at ");
}

int main(void) {
	if (!tap_ok(mkdtemp(folder) != NULL, "a folder")) {
		return tap_finish();
	}
	test_names();
	test_lacking_folder();
	test_reasons();
	remove_domain("open");
	remove_domain("closed");
	remove_domain("cluster");
	tap_ok(rmdir(folder) == 0, "nothing is left");
	return tap_finish();
}
