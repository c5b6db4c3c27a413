// SPDX-License-Identifier: MIT
/* gidctl watch: a line for each frame of a stream, as it comes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gidctl_stream.h"
#include "gidctl_table.h"

#define FOR_EVER_S 1e9

static const struct flag {
	uint32_t flag;
	const char *name;
} flags[] = {
		{GID_FRAME_DISCONT, "discont"},
		{GID_FRAME_CORRUPTED, "corrupted"},
		{GID_FRAME_HEARTBEAT, "heartbeat"},
		{GID_FRAME_INTERLACED, "interlaced"},
		{GID_FRAME_ONE_FIELD, "one-field"},
		{GID_FRAME_COPIED, "copied"},
		{GID_FRAME_DELTA, "delta"},
};

/* One frame, as it was received. */
struct seen {
	struct gid_frame frame;
	uint64_t received;
	uint64_t interval_ns; /* since the frame before was sent; 0: there was none */
	struct gid_layout layout;
	char format[5]; /* "" where its memory cannot be had */
};

static void check_memory(struct stream *stream, struct seen *seen) {
	struct gid_slab *slab;
	struct gid_slab_info info;
	if (gid_slab_import(stream->domain, seen->frame.gid, &slab) < 0) {
		return;
	}
	gid_slab_get_info(slab, &info);
	gid_slab_unref(slab);
	seen->layout = info.layout;
	for (unsigned i = 0; i < 4; i++) {
		char letter = (char)(info.layout.fourcc >> 8 * i);
		seen->format[i] = letter >= ' ' && letter <= '~' ? letter : '?';
	}
}

static uint64_t latency_of(const struct seen *seen) {
	return seen->received > seen->frame.submit_time ? seen->received - seen->frame.submit_time
							: 0;
}

static void print_json(const struct seen *seen) {
	char gid[GID_TEXT_MAX];
	sd_json_variant *names = NULL, *out = NULL;
	sd_json_variant_new_array(&names, NULL, 0);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (seen->frame.flags & flags[i].flag) {
			sd_json_variant *name = NULL;
			sd_json_variant_new_string(&name, flags[i].name);
			sd_json_variant_append_array(&names, name);
			sd_json_variant_unref(name);
		}
	}
	sd_json_buildo(&out, SD_JSON_BUILD_PAIR_UNSIGNED("sequence", seen->frame.sequence),
			SD_JSON_BUILD_PAIR_STRING("gid", gid_format(seen->frame.gid, gid)),
			SD_JSON_BUILD_PAIR_STRING("format", seen->format),
			SD_JSON_BUILD_PAIR_UNSIGNED("width", seen->layout.width),
			SD_JSON_BUILD_PAIR_UNSIGNED("height", seen->layout.height),
			SD_JSON_BUILD_PAIR_UNSIGNED("submit_time_ns", seen->frame.submit_time),
			SD_JSON_BUILD_PAIR_UNSIGNED("latency_ns", latency_of(seen)),
			SD_JSON_BUILD_PAIR_UNSIGNED("interval_ns", seen->interval_ns),
			SD_JSON_BUILD_PAIR_VARIANT("flags", names));
	sd_json_variant_dump(out, SD_JSON_FORMAT_NEWLINE | SD_JSON_FORMAT_FLUSH, stdout, NULL);
	sd_json_variant_unref(out);
	sd_json_variant_unref(names);
}

static void print_heading(void) {
	printf("%s%10s  %11s  %11s  %-14s  %-15s  %s%s\n", style_begin(STYLE_BOLD), "FRAME",
			"INTERVAL", "LATENCY", "GID", "PICTURE", "FLAGS", style_end(STYLE_BOLD));
	fflush(stdout);
}

static void print_line(const struct seen *seen) {
	char gid[GID_TEXT_MAX], picture[32], interval[16] = "-";
	snprintf(picture, sizeof(picture), "%" PRIu32 "x%" PRIu32 " %s", seen->layout.width,
			seen->layout.height, seen->format);
	if (seen->interval_ns != 0) {
		snprintf(interval, sizeof(interval), "%.3f ms", (double)seen->interval_ns / 1e6);
	}
	printf("%10" PRIu64 "  %11s  %8.3f ms  %-14s  %-15s ", seen->frame.sequence, interval,
			(double)latency_of(seen) / 1e6, gid_format(seen->frame.gid, gid), picture);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (seen->frame.flags & flags[i].flag) {
			printf(" %s", flags[i].name);
		}
	}
	printf("\n");
	fflush(stdout);
}

static bool watch(struct stream *stream, const struct options *options, uint64_t *last) {
	struct seen seen = {0};
	if (!stream_next(stream, options->wait > 0 ? options->wait : FOR_EVER_S, &seen.frame)) {
		return stream_is_ending();
	}
	seen.received = gid_clock_now();
	if (*last != 0 && seen.frame.submit_time > *last) {
		seen.interval_ns = seen.frame.submit_time - *last;
	}
	*last = seen.frame.submit_time;
	check_memory(stream, &seen);
	gid_consumer_release(stream->consumer, &seen.frame);
	if (options->json) {
		print_json(&seen);
	} else {
		print_line(&seen);
	}
	return ferror(stdout) == 0;
}

int command_watch(const struct options *options) {
	if (options->word_count == 0) {
		return usage_error("watch: which stream? watch [DOMAIN] STREAM");
	}
	struct stream stream;
	if (!stream_init(&stream, options)) {
		return EXIT_FAILURE;
	}
	if (!options->json) {
		print_heading();
	}
	uint64_t last = 0;
	bool good = true;
	for (unsigned i = 0; good && !stream_is_ending() &&
			(options->frames == 0 || i < options->frames);
			i++) {
		good = watch(&stream, options, &last);
	}
	stream_finish(&stream);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
