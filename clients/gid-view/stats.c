// SPDX-License-Identifier: MIT
#include "stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-json.h>
#include <unistd.h>

#define CLEAN(type, release) __attribute__((cleanup(release))) type

/* An array of [upper bound in µs, count] for each bucket that is not empty. */
static int build_histogram(sd_json_variant **array, const struct histogram *histogram) {
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (histogram->counts[i] == 0) {
			continue;
		}
		CLEAN(sd_json_variant *, sd_json_variant_unrefp) pair = NULL;
		int result = sd_json_build(&pair,
				SD_JSON_BUILD_ARRAY(SD_JSON_BUILD_UNSIGNED(histogram_bucket_end(i)),
						SD_JSON_BUILD_UNSIGNED(histogram->counts[i])));
		if (result < 0) {
			return result;
		}
		result = sd_json_variant_append_array(array, pair);
		if (result < 0) {
			return result;
		}
	}
	return *array != NULL ? 0 : sd_json_build(array, SD_JSON_BUILD_EMPTY_ARRAY);
}

static int build_latency(sd_json_variant **object, const struct histogram *latency) {
	CLEAN(sd_json_variant *, sd_json_variant_unrefp) buckets = NULL;
	int result = build_histogram(&buckets, latency);
	if (result < 0) {
		return result;
	}
	uint64_t mean = latency->count > 0 ? latency->sum / latency->count : 0;
	return sd_json_buildo(object, SD_JSON_BUILD_PAIR_UNSIGNED("count", latency->count),
			SD_JSON_BUILD_PAIR_UNSIGNED(
					"p50", (uint64_t)histogram_percentile(latency, 50)),
			SD_JSON_BUILD_PAIR_UNSIGNED(
					"p99", (uint64_t)histogram_percentile(latency, 99)),
			SD_JSON_BUILD_PAIR_UNSIGNED("max", latency->max),
			SD_JSON_BUILD_PAIR_UNSIGNED("mean", mean),
			SD_JSON_BUILD_PAIR_VARIANT("histogram", buckets));
}

static int stats_build(sd_json_variant **object, const struct stats *stats,
		const struct gid_consumer *consumer, const struct converter *converter,
		const char *owner, const char *stream) {
	CLEAN(sd_json_variant *, sd_json_variant_unrefp) latency = NULL;
	CLEAN(sd_json_variant *, sd_json_variant_unrefp) capture_latency = NULL;
	struct gid_consumer_stats link = {0};
	int result = build_latency(&latency, &stats->latency);
	if (result >= 0) {
		result = build_latency(&capture_latency, &stats->capture_latency);
	}
	if (result < 0) {
		return result;
	}
	if (consumer != NULL) {
		gid_consumer_get_stats(consumer, &link);
	}
	uint64_t dropped = stats->superseded + stats->discarded + stats->failed + link.missed;
	return sd_json_buildo(object, SD_JSON_BUILD_PAIR_STRING("domain", owner),
			SD_JSON_BUILD_PAIR_STRING("stream", stream),
			SD_JSON_BUILD_PAIR_UNSIGNED("frames", stats->shown),
			SD_JSON_BUILD_PAIR_UNSIGNED("dropped", dropped),
			SD_JSON_BUILD_PAIR("drops",
					SD_JSON_BUILD_OBJECT(SD_JSON_BUILD_PAIR_UNSIGNED(
									     "missed", link.missed),
							SD_JSON_BUILD_PAIR_UNSIGNED("superseded",
									stats->superseded),
							SD_JSON_BUILD_PAIR_UNSIGNED("discarded",
									stats->discarded),
							SD_JSON_BUILD_PAIR_UNSIGNED(
									"failed", stats->failed))),
			SD_JSON_BUILD_PAIR_UNSIGNED("received", stats->received),
			SD_JSON_BUILD_PAIR_UNSIGNED("reconnects", link.reconnects),
			SD_JSON_BUILD_PAIR_UNSIGNED("copied_frames", link.copied_frames),
			SD_JSON_BUILD_PAIR_UNSIGNED("copied_bytes", link.copied_bytes),
			SD_JSON_BUILD_PAIR_UNSIGNED("converted_frames", converter->frames),
			SD_JSON_BUILD_PAIR_UNSIGNED("converted_bytes", converter->bytes),
			SD_JSON_BUILD_PAIR_UNSIGNED("clock_error_ns", link.clock_error_ns),
			SD_JSON_BUILD_PAIR_VARIANT("latency_us", latency),
			SD_JSON_BUILD_PAIR_VARIANT("capture_latency_us", capture_latency));
}

int stats_write(const struct stats *stats, const struct gid_consumer *consumer,
		const struct converter *converter, const char *owner, const char *stream,
		const char *path) {
	CLEAN(sd_json_variant *, sd_json_variant_unrefp) object = NULL;
	char *partial = NULL;
	int result = stats_build(&object, stats, consumer, converter, owner, stream);
	if (result < 0) {
		return result;
	}
	if (asprintf(&partial, "%s.partial", path) < 0) {
		return -ENOMEM;
	}
	FILE *file = fopen(partial, "we");
	if (file == NULL) {
		result = -errno;
		goto error_open;
	}
	result = sd_json_variant_dump(object, SD_JSON_FORMAT_NEWLINE, file, NULL);
	if (fclose(file) != 0 && result >= 0) {
		result = -errno;
	}
	if (result >= 0) {
		result = rename(partial, path) < 0 ? -errno : 0;
	}
	if (result < 0) {
		unlink(partial);
	}
error_open:
	free(partial);
	return result;
}
