// SPDX-License-Identifier: MIT
#include "learn.h"

#include "held_frame.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAVE_NS UINT64_C(1000000000)

static volatile sig_atomic_t stopped;

static void handle_signal(int number) {
	stopped = 1;
}

/* Returns 1: a new picture, 0: known or not to be shown, or -errno. */
static int learn_frame(struct hashes *hashes, const struct role_config *role,
		struct gid_domain *domain, const struct gid_frame *frame) {
	struct gid_slab *slab;
	if (frame->gid == GID_NONE || gid_slab_import(domain, frame->gid, &slab) < 0) {
		return 0;
	}
	struct looked_at found;
	struct digest digest;
	enum role_reason reason = held_frame_examine(frame, slab, (uint32_t)role->box.width,
			(uint32_t)role->box.height, &found, &digest);
	looked_at_finish(&found);
	gid_slab_unref(slab);
	if (reason != ROLE_REASON_NONE || !(frame->flags & GID_FRAME_HASH) ||
			found.hashes.content != frame->content_hash) {
		fprintf(stderr, "\rframe %llu left out: %s\n", (unsigned long long)frame->sequence,
				reason != ROLE_REASON_NONE
						? role_reason_text(reason)
						: role_reason_text(ROLE_REASON_HASH_MISMATCH));
		return 0;
	}
	return hashes_add(hashes, &digest);
}

/*
 * Once a second, where there is anything new: however the process ends, little is lost. What cannot
 * be written now is written at the end, or its error told.
 */
static void learn_save(
		const struct hashes *hashes, const char *path, size_t *saved, uint64_t *next) {
	uint64_t now = gid_clock_now();
	if (hashes->count == *saved || now < *next) {
		return;
	}
	*saved = hashes->count;
	*next = now + SAVE_NS;
	(void)hashes_write(hashes, path);
}

static int learn_stream(struct hashes *hashes, const struct role_config *role,
		struct gid_domain *domain, struct gid_consumer *consumer, const char *path,
		unsigned seconds) {
	uint64_t end = seconds > 0 ? gid_clock_now() + seconds * 1000000000ull : UINT64_MAX;
	uint64_t frames = 0, next_save = 0;
	size_t saved = hashes->count;
	while (!stopped && gid_clock_now() < end) {
		struct gid_frame frame;
		learn_save(hashes, path, &saved, &next_save);
		int ret = gid_consumer_wait(consumer, 100);
		if (ret == 1) {
			ret = gid_consumer_receive(consumer, &frame);
		}
		if (ret == 0 || ret == -EAGAIN || ret == -EINTR) {
			continue;
		}
		if (ret < 0) {
			return ret == -EPIPE ? 0 : ret;
		}
		ret = learn_frame(hashes, role, domain, &frame);
		gid_consumer_release(consumer, &frame);
		if (ret < 0) {
			return ret;
		}
		frames++;
		if (isatty(STDERR_FILENO) && ret == 1) {
			fprintf(stderr, "\r%llu frames, %zu pictures ", (unsigned long long)frames,
					hashes->count);
		}
	}
	return 0;
}

int learn(const struct role_config *role, const char *own, const char *path, unsigned seconds) {
	struct hashes hashes = {0};
	struct gid_domain *domain = NULL;
	struct gid_consumer *consumer = NULL;
	struct gid_consumer_options options = {
			.size = sizeof(options), .credit = 16, .reconnect = true};
	signal(SIGINT, handle_signal);
	signal(SIGTERM, handle_signal);
	int ret = hashes_read(&hashes, path);
	if (ret < 0 && ret != -ENOENT) {
		fprintf(stderr, "gid-cluster: %s: %s\n", path,
				ret == -EINVAL ? "not a file of hashes" : strerror(-ret));
		goto done;
	}
	size_t before = hashes.count;
	ret = gid_domain_connect(own, &domain);
	if (ret < 0) {
		fprintf(stderr, "gid-cluster: %s\n", gid_domain_connect_error());
		goto done;
	}
	ret = gid_consumer_create(domain, role->domain, role->stream, &options, &consumer);
	if (ret == 0) {
		ret = learn_stream(&hashes, role, domain, consumer, path, seconds);
	}
	if (ret < 0) {
		fprintf(stderr, "gid-cluster: %s: %s\n", role->stream, gid_domain_error(domain));
		goto done;
	}
	ret = hashes_write(&hashes, path);
	if (ret < 0) {
		fprintf(stderr, "gid-cluster: %s: %s\n", path, strerror(-ret));
		goto done;
	}
	fprintf(stderr, "\r%s: %zu pictures, %zu of them new\n", path, hashes.count,
			hashes.count - before);

done:
	gid_consumer_destroy(consumer);
	gid_domain_destroy(domain);
	hashes_finish(&hashes);
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
