// SPDX-License-Identifier: MIT
/* What is heard of slabs: imports that are answered later, and the end of those of others. */
#include <errno.h>

#include "slab_pair.h"

struct heard {
	int calls, error;
	struct gid_slab *slab;
};

static void imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct heard *heard = data;
	heard->calls++;
	heard->error = error;
	heard->slab = slab;
}

static char seen; /* by the listener */

static void was_revoked(void *data, struct gid_slab *slab) {
	struct heard *heard = data;
	seen = *(const char *)gid_slab_view(slab, 0);
	heard->calls++;
	heard->slab = slab;
}

/* Mappings of slabs' memory in this process: the owner's and the reader's. */
static int count_slabs(void) {
	FILE *maps = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t size = 0;
	int count = 0;
	while (maps != NULL && getline(&line, &size, maps) >= 0) {
		count += strstr(line, "memfd:gid-slab") != NULL && strstr(line, "r--s") != NULL &&
				strstr(line, " 00000000 ") != NULL;
	}
	free(line);
	if (maps != NULL) {
		fclose(maps);
	}
	return count;
}

static bool was_called(void *data) {
	return ((struct heard *)data)->calls > 0;
}

static void test_async(void) {
	struct gid_slab *slab = make(2), *now = NULL;
	struct heard first = {0}, second = {0}, beyond = {0}, cancelled = {0}, unknown = {0};
	gid_slab_grant(slab, 2);
	gid_id gid = gid_slab_gid(slab, 0);
	tap_ok(gid_slab_import_async(reader, gid, imported, &first, &now) == -EINPROGRESS &&
					gid_slab_import_async(reader, gid_slab_gid(slab, 1),
							imported, &second, &now) == -EINPROGRESS &&
					gid_slab_import_async(reader, gid + (5 << 16), imported,
							&beyond, &now) == -EINPROGRESS &&
					gid_slab_import_async(reader, gid, imported, &cancelled,
							&now) == -EINPROGRESS &&
					gid_slab_import_async(reader, gid_make(1, 5, 0, 0),
							imported, &unknown, &now) == -EINPROGRESS,
			"imports are under way");
	gid_slab_import_cancel(reader, &cancelled);
	tap_ok(cockpit_until(reader, was_called, &unknown) && first.calls == 1 &&
					second.calls == 1 && first.error == 0 &&
					first.slab == second.slab && first.slab != NULL,
			"two of one slab end together");
	tap_ok(beyond.error == -ENOENT && beyond.slab == NULL && unknown.error == -ENOENT,
			"those of nothing end with an error");
	tap_ok(cancelled.calls == 0, "one that was cancelled is not heard of");
	tap_ok(gid_slab_import_async(reader, gid, imported, &cancelled, &now) == 0 &&
					now == first.slab,
			"a known slab is there at once");

	struct heard revoked = {0}, removed = {0};
	tap_ok(gid_slab_on_revoked(now, was_revoked, &revoked) == 0 &&
					gid_slab_on_revoked(now, was_revoked, &removed) == 0 &&
					gid_slab_on_revoked(now, NULL, &removed) == 0,
			"its end can be listened for");
	memset(gid_slab_data(slab, 0), 'x', 8192);
	int before = count_slabs();
	gid_slab_revoke(slab, 2);
	tap_ok(cockpit_until(reader, was_called, &revoked) && revoked.slab == now &&
					removed.calls == 0,
			"a revoked grant is heard of");
	struct gid_slab_info info;
	gid_slab_get_info(now, &info);
	tap_ok(info.revoked && !gid_slab_is_current(now, gid), "the slab is revoked");
	const char *view = gid_slab_view(now, 0);
	tap_ok(seen == 'x' && view != NULL && view[0] == 0 && view[4096] == 0,
			"its listener saw it still, then zeroes are in its place");
	tap_ok(count_slabs() == before - 1, "and its memory is not ours any more");
	tap_ok(gid_slab_on_revoked(now, was_revoked, &revoked) == -ENOENT,
			"there is no more to listen for");
	struct gid_slab *other = NULL;
	tap_ok(gid_slab_import(reader, gid, &other) == -ENOENT, "it is not imported any more");
	gid_slab_grant(slab, 2);
	tap_ok(gid_slab_import(reader, gid, &other) == 0 && other != now,
			"before it is granted again");
	gid_slab_unref(now);
	gid_slab_unref(now);
	gid_slab_unref(now);
	gid_slab_unref(other);
	gid_slab_destroy(slab, false);
}

static void test_wipe(void) {
	struct gid_slab *slab = make(2), *got = NULL;
	memset(gid_slab_data(slab, 0), 'x', 24576);
	gid_slab_grant(slab, 2);
	gid_id gid = gid_slab_gid(slab, 1);
	gid_slab_import(reader, gid, &got);
	struct heard revoked = {0};
	gid_slab_on_revoked(got, was_revoked, &revoked);
	gid_slab_destroy(slab, true);
	const char *view = gid_slab_view(got, 0);
	bool zero = true;
	for (size_t i = 0; i < 24576; i++) {
		zero = zero && view[i] == 0;
	}
	tap_ok(zero, "a wiped slab shows nothing to those that still map it");
	tap_ok(!gid_slab_is_current(got, gid), "its gids are out of date at once");
	tap_ok(cockpit_until(reader, was_called, &revoked), "and its readers hear of it");
	gid_slab_unref(got);
}

/* One process exports, another imports: what crosses is a number. */
static void test_processes(void) {
	int numbers[2], answers[2];
	if (pipe2(numbers, O_CLOEXEC) < 0 || pipe2(answers, O_CLOEXEC) < 0) {
		tap_ok(false, "pipes");
		return;
	}
	pid_t child = fork();
	if (child == 0) {
		struct gid_domain *domain;
		struct gid_slab *slab;
		gid_id gid;
		char answer[16] = "";
		if (read(numbers[0], &gid, sizeof(gid)) == sizeof(gid) &&
				gid_domain_connect("cluster", &domain) == 0 &&
				gid_slab_import(domain, gid, &slab) == 0) {
			memcpy(answer, gid_slab_view(slab, gid_slot_of(gid)), sizeof(answer));
		}
		_exit(write(answers[1], answer, sizeof(answer)) != sizeof(answer));
	}
	struct gid_slab *slab = make(3);
	char answer[16] = "", *data = gid_slab_data(slab, 2);
	strcpy(data, "over there");
	gid_slab_grant(slab, 2);
	gid_id gid = gid_slab_gid(slab, 2);
	bool told = write(numbers[1], &gid, sizeof(gid)) == sizeof(gid) &&
			read(answers[0], answer, sizeof(answer)) == sizeof(answer);
	tap_ok(told && strcmp(answer, "over there") == 0, "another process reads by the number");
	waitpid(child, NULL, 0);
	close(numbers[0]);
	close(numbers[1]);
	close(answers[0]);
	close(answers[1]);
	gid_slab_destroy(slab, false);
}

static void test_owner_dies(void) {
	int numbers[2];
	gid_id gid = GID_NONE;
	if (pipe2(numbers, O_CLOEXEC) < 0) {
		return;
	}
	pid_t child = fork();
	if (child == 0) {
		struct gid_domain *domain;
		struct gid_slab *slab;
		if (gid_domain_connect("open", &domain) == 0 &&
				gid_slab_create(domain, &layout, 0, 1, NULL, &slab) == 0 &&
				gid_slab_grant(slab, 2) == 0) {
			gid = gid_slab_gid(slab, 0);
		}
		if (write(numbers[1], &gid, sizeof(gid)) == sizeof(gid)) {
			pause();
		}
		_exit(1);
	}
	struct gid_slab *got = NULL;
	struct heard revoked = {0};
	tap_ok(read(numbers[0], &gid, sizeof(gid)) == sizeof(gid) &&
					gid_slab_import(reader, gid, &got) == 0 &&
					gid_slab_on_revoked(got, was_revoked, &revoked) == 0,
			"another process's slab is imported");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	long begin = cockpit_now_ms();
	tap_ok(cockpit_until(reader, was_called, &revoked), "its death is heard of (%ld ms)",
			cockpit_now_ms() - begin);
	gid_slab_unref(got);
	close(numbers[0]);
	close(numbers[1]);
}

int main(void) {
	if (slab_pair_init()) {
		test_async();
		test_wipe();
		test_processes();
		test_owner_dies();
	}
	return slab_pair_finish();
}
