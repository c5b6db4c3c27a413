// SPDX-License-Identifier: MIT
#include "gidctl_stream.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 200 /* how often it looks whether it is to end */
#define CREDIT                                                                                     \
	8 /* a producer that waits for its consumers does not wait while one is looked at          \
	   */

#define PRODUCER_S 5 /* how long a stream without a producer is waited for */
#define FIRST_TOLD_NS UINT64_C(2000000000)
#define TOLD_AGAIN_NS UINT64_C(5000000000)

static volatile sig_atomic_t ending;

static void handle_signal(int number) {
	ending = 1;
}

bool stream_is_ending(void) {
	return ending != 0;
}

bool stream_init(struct stream *stream, const struct options *options) {
	*stream = (struct stream){0};
	int words = options->word_count;
	stream->name = options->words[words - 1];
	stream->owner = words == 2 ? options->words[0] : NULL;
	stream->domain = report_connect_for(options, stream->owner);
	if (stream->domain == NULL) {
		return false;
	}
	struct gid_consumer_options how = {
			.size = sizeof(how), .credit = CREDIT, .drop_old = true, .reconnect = true};
	if (stream->owner == NULL) {
		stream->owner = gid_domain_name(stream->domain);
	}
	int error = gid_consumer_create(
			stream->domain, stream->owner, stream->name, &how, &stream->consumer);
	if (error < 0) {
		fprintf(stderr, "gidctl: %s of domain %s: %s\n", stream->name, stream->owner,
				gid_domain_error(stream->domain));
		gid_domain_destroy(stream->domain);
		return false;
	}
	struct sigaction action = {.sa_handler = handle_signal};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return true;
}

void stream_finish(struct stream *stream) {
	gid_consumer_destroy(stream->consumer);
	gid_domain_destroy(stream->domain);
}

static bool has_producer(const struct stream *stream) {
	return gid_consumer_get_state(stream->consumer) == GID_CONSUMER_LIVE;
}

static void report_nothing_arrived(const struct stream *stream, double seconds, bool was_empty) {
	const char *why = "nobody publishes it";
	if (was_empty) {
		why = "its producer says that there is none to show";
	} else if (has_producer(stream)) {
		why = "it has a producer, which sends nothing";
	}
	fprintf(stderr, "gidctl: no picture of %s of domain %s came within %g s: %s\n",
			stream->name, stream->owner, seconds, why);
}

/* Returns when to say it again. */
static uint64_t report_wait(const struct stream *stream, uint64_t since, uint64_t now) {
	fprintf(stderr, "gidctl: waiting for a picture of %s of domain %s, which has a producer: %u s\n",
			stream->name, stream->owner, (unsigned)((now - since) / 1000000000));
	return now + TOLD_AGAIN_NS;
}

bool stream_next(struct stream *stream, double seconds, struct gid_frame *frame) {
	const bool patient = seconds <= 0;
	const uint64_t since = gid_clock_now();
	const uint64_t span = (uint64_t)((patient ? PRODUCER_S : seconds) * 1e9);
	uint64_t end = since + span, told = since + FIRST_TOLD_NS, now = since;
	bool was_empty = false;
	int ret = 0;
	while (!ending && ret >= 0 && now < end) {
		uint64_t left_ms = (end - now) / 1000000 + 1;
		ret = gid_consumer_wait(
				stream->consumer, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
		if (ret == -EINTR ||
				(ret == 1 &&
						(ret = gid_consumer_receive(stream->consumer,
								 frame)) == -EAGAIN)) {
			ret = 0;
		}
		if (ret == 1 && frame->gid != GID_NONE) {
			return true;
		}
		if (ret == 1) {
			was_empty = (frame->flags & (GID_FRAME_HIDDEN | GID_FRAME_EOS)) != 0;
			gid_consumer_release(stream->consumer, frame);
		}
		now = gid_clock_now();
		if (patient && !was_empty && has_producer(stream)) {
			end = now + span;
			told = now >= told ? report_wait(stream, since, now) : told;
		}
	}
	if (ret < 0) {
		fprintf(stderr, "gidctl: %s: %s\n", stream->name, gid_strerror(ret));
	} else if (!ending) {
		uint64_t whole = (now - since) / 1000000000;
		report_nothing_arrived(stream, patient ? (double)whole : seconds, was_empty);
	}
	return false;
}
