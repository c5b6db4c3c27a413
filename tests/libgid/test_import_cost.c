// SPDX-License-Identifier: MIT
/* The second import of a slab makes no system call: strace counts those of a thousand. */
#include <drm_fourcc.h>
#include <errno.h>

#include "cockpit.h"
#include "tap.h"

#define IMPORTS 1000

/* What strace sees before and after. */
static void mark(const char *text) {
	if (write(-1, text, strlen(text)) >= 0) {
		abort();
	}
}

/* Under strace: imports the gid in `text`, as a consumer does for each frame. */
static int import_often(const char *text) {
	struct gid_domain *domain;
	struct gid_slab *slab;
	gid_id gid;
	if (gid_parse(text, &gid) < 0 || gid_domain_connect("cluster", &domain) < 0) {
		return 1;
	}
	mark("first");
	/* A slot becomes present when it is looked at for the first time. */
	int failed = gid_slab_import(domain, gid, &slab) != 0 || gid_slab_view(slab, 1) == NULL;
	mark("begin");
	for (int i = 0; i < IMPORTS && failed == 0; i++) {
		gid_slab_unref(slab);
		failed = gid_slab_import(domain, gid, &slab) != 0 ||
				gid_slab_view(slab, 1) == NULL || !gid_slab_is_current(slab, gid);
	}
	mark("end");
	gid_slab_unref(slab);
	gid_domain_destroy(domain);
	return failed;
}

/* Lines of the log between two marks, or -1 where these are not there. */
static int count_between(const char *log, const char *from, const char *to) {
	char *line = NULL;
	size_t size = 0;
	int count = -1;
	FILE *file = fopen(log, "re");
	while (file != NULL && getline(&line, &size, file) >= 0) {
		if (count >= 0 && strstr(line, to) != NULL) {
			break;
		}
		count = strstr(line, from) != NULL ? 0 : count < 0 ? -1 : count + 1;
	}
	bool ended = file != NULL && !feof(file);
	free(line);
	if (file != NULL) {
		fclose(file);
	}
	return ended ? count : -1;
}

int main(int argc, char **argv) {
	if (argc == 2) {
		/* Not by exit(): a leak sanitizer cannot work where strace does. */
		_exit(import_often(argv[1]));
	}
	struct gid_domain *owner = NULL;
	struct gid_slab *slab = NULL;
	struct gid_layout layout;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 64, 48, 64);
	if (!tap_ok(cockpit_init() && gid_domain_connect("open", &owner) == 0 &&
					    gid_slab_create(owner, &layout, 0, 2, NULL, &slab) ==
							    0 &&
					    gid_slab_grant(slab, 2) == 0,
			    "a slab is granted")) {
		cockpit_finish();
		return tap_finish();
	}
	char text[GID_TEXT_MAX], log[128];
	gid_format(gid_slab_gid(slab, 1), text);
	snprintf(log, sizeof(log), "%s/strace.log", cockpit_folder);
	pid_t child = fork();
	if (child == 0) {
		execlp("strace", "strace", "-o", log, argv[0], text, NULL);
		_exit(127);
	}
	int status = -1;
	waitpid(child, &status, 0);
	tap_ok(status == 0, "another process imports it %d times (status %d)", IMPORTS, status);
	int first = count_between(log, "\"first\"", "\"begin\"");
	int more = count_between(log, "\"begin\"", "\"end\"");
	tap_ok(first > 0, "the first import makes %d system calls", first);
	tap_ok(more == 0, "the next %d make %d", IMPORTS, more);
	gid_slab_destroy(slab, false);
	gid_domain_destroy(owner);
	cockpit_finish();
	return tap_finish();
}
