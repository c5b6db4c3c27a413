// SPDX-License-Identifier: MIT
/* Which paths lead where others want: in a folder of the test's own, which others could change. */
#include "trusted_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

/* Whether just that beginning of the path can be changed by others; "": none can. */
static bool can_be_changed_at(const char *path, const char *beginning) {
	char part[PATH_MAX];
	bool trusted = path_is_trusted(path, part, sizeof(part));
	return beginning[0] == '\0' ? trusted : !trusted && strcmp(part, beginning) == 0;
}

int main(void) {
	char folder[] = "/tmp/gid-test-XXXXXX", part[PATH_MAX];
	tap_ok(mkdtemp(folder) != NULL && chdir(folder) == 0 && mkdir("open", 0700) == 0 &&
					mkdir("open/run", 0700) == 0 &&
					symlink("open", "link") == 0,
			"folders");
	tap_ok(can_be_changed_at("open/run", "") && can_be_changed_at("link/run", ""), "our own");
	chmod("open", 0770);
	tap_ok(can_be_changed_at("open/run", "open"), "that of a group");
	tap_ok(can_be_changed_at("link", ""), "a link is looked at as itself");
	chmod("open", 0777);
	tap_ok(can_be_changed_at("open/run", "open"), "anybody's");
	chmod("open", 01777);
	tap_ok(can_be_changed_at("open/run", ""), "one in which only owners move what is theirs");
	tap_ok(can_be_changed_at("open/no/run", "open/no"), "what is not there");
	tap_ok(!path_is_trusted("open/run", part, 8), "what is too long");
	tap_ok(unlink("link") == 0 && rmdir("open/run") == 0 && rmdir("open") == 0 &&
					rmdir(folder) == 0,
			"nothing is left");
	return tap_finish();
}
