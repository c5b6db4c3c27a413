// SPDX-License-Identifier: MIT
/* gidctl seal, gidctl unseal: whether anything new is granted in a domain. */
#include <stdio.h>
#include <stdlib.h>

#include "gidctl.h"

static int set_seal(const struct options *options, bool on) {
	struct gid_domain *domain = report_connect(options);
	if (domain == NULL) {
		return EXIT_FAILURE;
	}
	int error = gid_domain_seal(domain, on);
	if (error < 0) {
		fprintf(stderr, "gidctl: domain %s is not %s: %s\n", gid_domain_name(domain),
				on ? "sealed" : "unsealed", gid_domain_error(domain));
	}
	gid_domain_destroy(domain);
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int command_seal(const struct options *options) {
	return set_seal(options, true);
}

int command_unseal(const struct options *options) {
	return set_seal(options, false);
}
