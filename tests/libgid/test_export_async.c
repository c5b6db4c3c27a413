// SPDX-License-Identifier: MIT
/* Memory that is brought without waiting for gidd: it answers, refuses, is silent, or comes late.
 */
#include <errno.h>
#include <gid/stream.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>

#include "slab_pair.h"

struct heard {
	unsigned times;
	int error;
	struct gid_slab *slab;
};

static void handle_exported(void *data, int error, struct gid_slab *slab) {
	struct heard *heard = data;
	heard->times++;
	heard->error = error;
	heard->slab = slab;
}

static bool was_heard(void *data) {
	return ((const struct heard *)data)->times > 0;
}

static int make_memory(uint64_t size) {
	int fd = memfd_create("camera", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ftruncate(fd, (off_t)size) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE) < 0) {
		return -1;
	}
	return fd;
}

static int export_async(int fd, struct heard *heard, struct gid_slab **slab) {
	*heard = (struct heard){0};
	*slab = NULL; /* so that nobody takes an older one for it */
	return gid_slab_export_async(owner, fd, 0, &layout, NULL, handle_exported, heard, slab);
}

/* How many slabs gidd has of this domain. */
static unsigned count_slabs(void) {
	char *json = NULL;
	unsigned count = 0;
	if (gid_domain_status(owner, &json) != 0) {
		return UINT_MAX;
	}
	for (const char *at = json; (at = strstr(at, "\"importers\"")) != NULL; at++) {
		count++;
	}
	free(json);
	return count;
}

static void test_answered(int fd) {
	struct heard heard;
	struct gid_slab *slab = NULL, *got = NULL;
	int error = export_async(fd, &heard, &slab);
	tap_ok(error == 0 && slab != NULL && heard.times == 0, "gidd is asked (%d)", error);
	tap_ok(cockpit_until(owner, was_heard, &heard) && heard.error == 0 && heard.slab == slab,
			"and answers");
	gid_id gid = gid_slab_gid(slab, 0);
	gid_slab_grant(slab, 2);
	tap_ok(gid_slab_is_current(slab, gid) && gid_slab_import(reader, gid, &got) == 0,
			"then it is as any other slab");
	gid_slab_unref(got);
	unsigned before = count_slabs();
	gid_slab_destroy(slab, false);
	tap_ok(count_slabs() == before - 1 && heard.times == 1, "and ends as one");
}

static void test_given_back(int fd) {
	struct heard heard;
	struct gid_slab *slab = NULL;
	unsigned before = count_slabs();
	export_async(fd, &heard, &slab);
	gid_slab_unref(slab);
	export_async(fd, &heard, &slab);
	gid_slab_destroy(slab, false);
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			count_slabs() != before && cockpit_now_ms() < end; cockpit_sleep_ms(100)) {
		gid_domain_dispatch(owner);
	}
	tap_ok(heard.times == 0 && count_slabs() == before,
			"one that is given back sooner is never heard of, and gidd does not keep it");
}

static bool has_gid(void *data) {
	struct gid_slab_info info;
	gid_slab_get_info(data, &info);
	return info.gid != GID_NONE && !info.revoked;
}

static void test_untold(void) {
	struct gid_slab *slab = NULL;
	unsigned before = count_slabs();
	int error = gid_slab_create_async(owner, NULL, &layout, 0, 1, NULL, NULL, NULL, &slab);
	tap_ok(error == 0 && !has_gid(slab) && gid_slab_take(slab) < 0,
			"who gives no function does not wait either (%d)", error);
	tap_ok(cockpit_until(owner, has_gid, slab) && gid_slab_take(slab) == 0,
			"and sees by the slab that gidd has given it");
	gid_slab_destroy(slab, false);
	tap_ok(count_slabs() == before, "it ends as any other slab");
}

static void test_refused(void) {
	struct heard heard;
	struct gid_slab *slab = NULL;
	struct gid_slab_info info;
	int none = memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	tap_ok(export_async(none, &heard, &slab) == -EPERM, "other memory is refused at once");
	close(none);
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 8192, 8192, 64);
	int large = make_memory(gid_layout_size(&layout));
	int error = export_async(large, &heard, &slab);
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 64, 48, 64);
	close(large);
	if (!tap_ok(error == 0, "memory above the quota is not refused at once (%d: %s)", error,
			    error < 0 ? gid_domain_error(owner) : "")) {
		return;
	}
	tap_ok(cockpit_until(owner, was_heard, &heard) && heard.error == -EDQUOT,
			"but by gidd, later");
	gid_slab_get_info(slab, &info);
	tap_ok(info.revoked && gid_slab_renew(slab) == -EINVAL,
			"and the slab is revoked, which is not made anew: it was brought");
	gid_slab_unref(slab);
}

static void test_silent(int fd) {
	struct heard heard, other;
	struct gid_slab *slab = NULL, *forgotten = NULL;
	kill(cockpit_gidd[1], SIGSTOP);
	long begin = cockpit_now_ms();
	int error = export_async(fd, &heard, &slab);
	export_async(fd, &other, &forgotten);
	tap_ok(error == 0 && cockpit_now_ms() - begin < 25000,
			"nobody waits for a gidd that hangs");
	gid_slab_unref(forgotten);
	kill(cockpit_gidd[1], SIGCONT);
	tap_ok(cockpit_until(owner, was_heard, &heard) && heard.error == 0 && other.times == 0,
			"it answers when it goes on");
	gid_slab_destroy(slab, false);

	kill(cockpit_gidd[1], SIGSTOP);
	export_async(fd, &heard, &slab);
	export_async(fd, &other, &forgotten);
	gid_slab_unref(forgotten);
	cockpit_kill(1);
	tap_ok(cockpit_until(owner, was_heard, &heard) && heard.error == -ENOTCONN,
			"one that dies has not taken it");
	gid_slab_unref(slab);
	tap_ok(export_async(fd, &heard, &slab) == -ENOTCONN, "nor can it be asked then");
	cockpit_start(1);
}

/* Who may not wait gives it back. */
static void test_ended_without_waiting(void) {
	struct gid_slab *slab = make(2), *got = NULL;
	struct gid_slab_info info;
	gid_slab_grant(slab, 2);
	gid_id gid = gid_slab_gid(slab, 1);
	tap_ok(gid_slab_import(reader, gid, &got) == 0 && gid_slab_is_current(got, gid),
			"a slab that was made with waiting is read");
	kill(cockpit_gidd[1], SIGSTOP);
	gid_slab_unref(slab);
	gid_slab_get_info(got, &info);
	tap_ok(gid_domain_is_connected(owner) && !info.revoked && !gid_slab_is_current(got, gid),
			"its end waits for nobody, and its gids are out of date at once");
	kill(cockpit_gidd[1], SIGCONT);
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			!info.revoked && cockpit_now_ms() < end; cockpit_sleep_ms(1)) {
		gid_domain_dispatch(reader);
		gid_slab_get_info(got, &info);
	}
	tap_ok(info.revoked, "its readers hear of that when gidd has heard of it");
	gid_slab_unref(got);
}

/* The slab of its metadata ends with it. */
static void test_stream_ended_without_waiting(void) {
	struct gid_producer *producer = NULL;
	struct gid_slab *slab = make(1);
	struct gid_frame frame = GID_FRAME_INIT;
	unsigned before = count_slabs();
	frame.gid = gid_slab_gid(slab, 0);
	tap_ok(gid_producer_create(owner, "movie", NULL, &producer) == 0 &&
					gid_producer_put_metadata(producer, &frame, "x", 1) == 0 &&
					count_slabs() == before + 1,
			"a stream with metadata (%s)", gid_domain_error(owner));
	kill(cockpit_gidd[1], SIGSTOP);
	gid_producer_destroy(producer);
	tap_ok(gid_domain_is_connected(owner), "the end of a stream waits for nobody");
	kill(cockpit_gidd[1], SIGCONT);
	tap_ok(count_slabs() == before, "and leaves nothing");
	gid_slab_destroy(slab, false);
}

int main(void) {
	if (slab_pair_init()) {
		int fd = make_memory(gid_layout_size(&layout));
		test_answered(fd);
		test_given_back(fd);
		test_untold();
		test_refused();
		test_ended_without_waiting();
		test_stream_ended_without_waiting();
		test_silent(fd);
		close(fd);
	}
	return slab_pair_finish();
}
