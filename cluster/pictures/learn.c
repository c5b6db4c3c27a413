// SPDX-License-Identifier: MIT
#include "learn.h"

#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examiner.h"
#include "likeness.h"

#define SAVE_NS UINT64_C(1000000000)

static volatile sig_atomic_t stopped;

static void handle_signal(int number) {
	stopped = 1;
}

struct learner {
	const struct role_config *role;
	const char *path;
	struct accepted accepted; /* accepts every picture */
	struct hashes hashes;	  /* of the file, and the new ones */
	struct hashes added;	  /* only the new ones */
	char *before; /* the original text of the file, in whole lines, to keep its comments */
	struct likeness likeness; /* limits which pictures are learned */
	struct gid_domain *domain;
	struct gid_consumer *consumer;
	bool has_ended; /* the stream ended; a later one of its name is ignored */
	struct examiner examiner;
	struct picture_pool pool;
	struct own_picture *picture;
};

/* Returns 1: a new picture; 0: known, or not fit to be shown; or -errno. */
static int learn_frame(struct learner *learner, const struct gid_frame *frame) {
	struct gid_slab *slab;
	if (frame->gid == GID_NONE || gid_slab_import(learner->domain, frame->gid, &slab) < 0) {
		return 0;
	}
	struct examination found = {
			.frame = *frame,
			.slot = gid_slab_view_untouched(slab, gid_slot_of(frame->gid)),
			.picture = learner->picture,
	};
	gid_slab_get_info(slab, &found.slab);
	examination_get_check(&found, &learner->examiner.rules, learner->consumer);
	examiner_examine(&learner->examiner, &found);
	bool current = gid_slab_is_current(slab, frame->gid);
	gid_slab_unref(slab);
	if (found.reason == ROLE_REASON_NONE && !current) {
		found.reason = ROLE_REASON_TAKEN_BACK;
	}
	if (found.reason == ROLE_REASON_NONE &&
			(!examination_has_hash(&found) ||
					found.content != examination_stated_hash(&found))) {
		found.reason = ROLE_REASON_HASH_MISMATCH;
	}
	if (found.reason != ROLE_REASON_NONE) {
		fprintf(stderr, "\rframe %llu left out: %s\n", (unsigned long long)frame->sequence,
				role_reason_text(found.reason));
		return 0;
	}
	if (!likeness_has(&learner->likeness, &learner->picture->pixels)) {
		fprintf(stderr, "\rframe %llu left out: no picture of --like is near to it\n",
				(unsigned long long)frame->sequence);
		return 0;
	}
	struct pixel_hashes unused;
	struct digest digest;
	int ret = pixels_hash(&learner->picture->pixels, &unused, &digest);
	if (ret == 0) {
		ret = hashes_add(&learner->hashes, &digest);
	}
	return ret == 1 ? hashes_add(&learner->added, &digest) : ret;
}

/*
 * Saves once a second if there is anything new, so that little is lost however the process ends. An
 * error is reported at the end, when it is written again.
 */
static void learn_save(const struct learner *learner, size_t *saved, uint64_t *next) {
	uint64_t now = gid_clock_now();
	if (learner->added.count == *saved || now < *next) {
		return;
	}
	*saved = learner->added.count;
	*next = now + SAVE_NS;
	(void)hashes_write(&learner->added, learner->before, learner->path);
}

static void handle_state(void *data, enum gid_consumer_state state, int reason) {
	struct learner *learner = data;
	learner->has_ended = learner->has_ended || state != GID_CONSUMER_LIVE;
}

static int learn_stream(struct learner *learner, unsigned seconds) {
	uint64_t end = seconds > 0 ? gid_clock_now() + seconds * 1000000000ull : UINT64_MAX;
	uint64_t frames = 0, next_save = 0;
	size_t saved = 0;
	while (!stopped && !learner->has_ended && gid_clock_now() < end) {
		struct gid_frame frame;
		learn_save(learner, &saved, &next_save);
		int ret = gid_consumer_wait(learner->consumer, 100);
		if (ret == 1) {
			ret = gid_consumer_receive(learner->consumer, &frame);
		}
		if (ret == 0 || ret == -EAGAIN || ret == -EINTR) {
			continue;
		}
		if (ret < 0) {
			return ret;
		}
		ret = learn_frame(learner, &frame);
		gid_consumer_release(learner->consumer, &frame);
		if (ret < 0) {
			return ret;
		}
		frames++;
		if (isatty(STDERR_FILENO) && ret == 1) {
			fprintf(stderr, "\r%llu frames, %zu pictures ", (unsigned long long)frames,
					learner->hashes.count);
		}
	}
	return 0;
}

/* Called after the file was read: it has no zero bytes. */
static void learner_keep_text(struct learner *learner) {
	char *text = NULL;
	if (!g_file_get_contents(learner->path, &text, NULL, NULL)) { /* there is no file yet */
		text = g_strdup("# SHA-256 of every picture that may be shown; gid-cluster(1)\n");
	}
	bool is_whole = text[0] == '\0' || g_str_has_suffix(text, "\n");
	learner->before = is_whole ? text : g_strconcat(text, "\n", NULL);
	if (!is_whole) {
		g_free(text);
	}
}

static int learner_init(struct learner *learner, const struct role_config *role,
		const struct learn_options *options) {
	const char *path = options->path;
	uint32_t width = (uint32_t)role->box.width, height = (uint32_t)role->box.height;
	*learner = (struct learner){.role = role, .path = path, .accepted = role->accepted};
	learner->accepted.pictures = (struct hashes){0};
	learner->examiner.rules = (struct examiner_rules){
			.fit = FIT_EXACT,
			.accepted = &learner->accepted,
			.protection = role->protection,
	};
	if (picture_pool_init(&learner->pool, width, height) < 0) {
		fprintf(stderr, "gid-cluster: %s\n", strerror(ENOMEM));
		return -ENOMEM;
	}
	learner->picture = picture_pool_acquire(&learner->pool);
	int ret = options->like != NULL ? likeness_read(&learner->likeness, options->like, width,
							  height, options->tolerance)
					: 0;
	if (ret < 0) {
		fprintf(stderr, "gid-cluster: %s: no PNG with pictures of %ux%u below each other\n",
				options->like, width, height);
		return ret;
	}
	ret = hashes_read(&learner->hashes, path);
	if (ret < 0 && ret != -ENOENT) {
		fprintf(stderr, "gid-cluster: %s: %s\n", path,
				ret == -EINVAL ? "not a file of hashes" : strerror(-ret));
		return ret;
	}
	learner_keep_text(learner);
	return 0;
}

static void learner_finish(struct learner *learner) {
	gid_consumer_destroy(learner->consumer);
	gid_domain_destroy(learner->domain);
	hashes_finish(&learner->hashes);
	hashes_finish(&learner->added);
	g_free(learner->before);
	likeness_finish(&learner->likeness);
	examiner_finish(&learner->examiner);
	own_picture_unref(learner->picture);
	picture_pool_finish(&learner->pool);
}

static int learn_all(struct learner *learner, const char *own, unsigned seconds) {
	struct gid_consumer_options options = {
			.size = sizeof(options),
			.credit = 16,
			.reconnect = true,
			.state = handle_state,
			.data = learner,
	};
	int ret = gid_domain_connect(own, &learner->domain);
	if (ret < 0) {
		fprintf(stderr, "gid-cluster: %s\n", gid_domain_connect_error());
		return ret;
	}
	const struct role_config *role = learner->role;
	ret = gid_consumer_create(
			learner->domain, role->domain, role->stream, &options, &learner->consumer);
	if (ret == 0) {
		ret = learn_stream(learner, seconds);
	}
	if (ret < 0) {
		fprintf(stderr, "gid-cluster: %s: %s\n", role->stream,
				gid_domain_error(learner->domain));
		return ret;
	}
	ret = hashes_write(&learner->added, learner->before, learner->path);
	if (ret < 0) {
		fprintf(stderr, "gid-cluster: %s: %s\n", learner->path, strerror(-ret));
		return ret;
	}
	fprintf(stderr, "\r%s: %zu pictures, %zu of them new\n", learner->path,
			learner->hashes.count, learner->added.count);
	return 0;
}

int learn(const struct role_config *role, const char *own, const struct learn_options *options) {
	struct learner learner;
	signal(SIGINT, handle_signal);
	signal(SIGTERM, handle_signal);
	int ret = learner_init(&learner, role, options);
	if (ret == 0) {
		ret = learn_all(&learner, own, options->seconds);
	}
	learner_finish(&learner);
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
