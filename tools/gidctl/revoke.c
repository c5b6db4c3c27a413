// SPDX-License-Identifier: MIT
/* gidctl revoke: takes a domain's stream, or the memory of its slab, from readers. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "gidctl.h"

static int fail_usage(const char *what) {
	return usage_error("revoke takes a domain, and a stream or slab of it%s", what);
}

/* Whether the domain's own gidd, if it is that which is asked, knows of no such stream. */
static bool is_of_nobody(struct gid_domain *domain, const char *owner, const char *pattern) {
	sd_json_variant *report, *stream;
	bool nobody = report_is_named(domain, owner);
	if (!nobody || report_fetch(domain, &report) < 0) {
		return false;
	}
	REPORT_FOREACH(stream, report, "streams") {
		nobody = nobody && fnmatch(pattern, report_text(stream, "name"), 0) != 0;
	}
	sd_json_variant_unref(report);
	return nobody;
}

int command_revoke(const struct options *options) {
	gid_id gid = GID_NONE;
	if (options->word_count != 2) {
		return fail_usage("");
	}
	const char *owner = options->words[0], *what = options->words[1];
	bool is_slab = gid_parse(what, &gid) == 0;
	if (is_slab && options->from != NULL) {
		return fail_usage(": a slab is taken from all, --from is for streams");
	}
	struct gid_domain *domain = report_connect_for(options, owner);
	if (domain == NULL) {
		return EXIT_FAILURE;
	}
	bool nobody = !is_slab && is_of_nobody(domain, owner, what);
	int error = gid_domain_revoke(domain, owner, is_slab ? NULL : what, gid, options->from);
	if (error >= 0 && nobody) {
		fprintf(stderr,
				"gidctl: nobody publishes %s in domain %s now: readers are refused "
				"until gidd reads its configuration again\n",
				what, owner);
	}
	if (error < 0) {
		fprintf(stderr, "gidctl: %s of domain %s is not revoked: %s\n", what, owner,
				gid_domain_error(domain));
	}
	gid_domain_destroy(domain);
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
