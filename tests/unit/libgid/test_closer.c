// SPDX-License-Identifier: MIT
/* Closing while nothing is to be started or allocated: until the last one who said so is gone. */
#include "closer.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

static unsigned allocations;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

/* Of libgid's own code, as it is linked here. */
void *__wrap_malloc(size_t size) {
	__atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
	return __real_malloc(size);
}

static unsigned count_threads(void) {
	unsigned count = 0;
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	while ((entry = readdir(folder)) != NULL) {
		count += entry->d_name[0] != '.';
	}
	closedir(folder);
	return count;
}

static void wait_until_closed(void) {
	while (gid_closer_pending() > 0) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

/* How often memory is asked for to close one descriptor that may hold whoever closes it up. */
static unsigned allocations_of_one(void) {
	wait_until_closed();
	unsigned before = allocations;
	gid_closer_close(eventfd(0, EFD_CLOEXEC));
	wait_until_closed();
	return allocations - before;
}

static void test_settled(void) {
	uint32_t helpers;
	size_t stacks = gid_closer_settled_stacks(&helpers);
	tap_ok(helpers > 1 && stacks % helpers == 0, "%u helpers, each with a stack", helpers);
	tap_ok(allocations_of_one() == 1, "what is to be closed takes a piece of memory");
	unsigned others = count_threads() - 1; /* with a sanitizer it has one, too */
	gid_closer_settle(true);
	tap_ok(count_threads() == others + helpers, "all helpers are there before they are needed");
	tap_ok(allocations_of_one() == 0, "it takes none while nothing new is begun");
	gid_closer_settle(true);
	gid_closer_settle(false);
	tap_ok(allocations_of_one() == 0, "nor while one of two domains is sealed");
	gid_closer_settle(false);
	tap_ok(allocations_of_one() == 1, "but once none is");
	gid_closer_settle(false);
	tap_ok(allocations_of_one() == 1, "who never said so takes nothing back");
	gid_closer_settle(true);
	tap_ok(allocations_of_one() == 0, "and it can be said again");
	tap_ok(count_threads() == others + helpers, "by the same helpers");
	gid_closer_settle(false);
}

int main(void) {
	test_settled();
	return tap_finish();
}
