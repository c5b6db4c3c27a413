// SPDX-License-Identifier: MIT
/* What --check tells of the display's memory is in pages of the kernel's, of whichever size. */
#include "cluster/memory_bound.h"

#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

#define ROLES 64
#define OF_EACH 5 /* pictures: four for frames, and the fallback */

static long page_size;

extern long __real_sysconf(int name);
extern long __wrap_sysconf(int name);
long __wrap_sysconf(int name) {
	return name == _SC_PAGESIZE ? page_size : __real_sysconf(name);
}

static bool is_about(double told, double expected) {
	return told > expected - 0.06 && told < expected + 0.06; /* it has one decimal place */
}

/* Of as many roles, whose pictures take a page each. */
static void test_pages(long size) {
	struct role_config roles[ROLES] = {0};
	struct cluster_config config = {.roles = roles, .role_count = ROLES};
	for (size_t i = 0; i < ROLES; i++) {
		roles[i].box = (struct gid_box){.width = 1, .height = 1};
	}
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);
	if (!tap_ok(file != NULL, "a file")) {
		return;
	}
	page_size = size;
	memory_bound_print(&config, 0, file);
	fclose(file);
	double pictures = 0, subscriptions = 0, pages = (double)(ROLES * size) / (1 << 20);
	int found = sscanf(text, "memory: %lf MiB for pictures, %*f for outputs, %lf for",
			&pictures, &subscriptions);
	tap_ok(found == 2 && is_about(pictures, OF_EACH * pages),
			"pages of %ld: %.1f MiB of pictures", size, pictures);
	tap_ok(is_about(subscriptions, pages), "and %.1f of subscriptions", subscriptions);
	free(text);
}

int main(void) {
	test_pages(4 << 10);
	test_pages(16 << 10);
	test_pages(64 << 10);
	return tap_finish();
}
