// SPDX-License-Identifier: MIT
#include "recording.h"

#include <errno.h>
#include <gid/timeline.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text.h"
#include "write_all.h"

#define VERSION 1u
#define PARTS 5 /* of the first line, that have parts themselves */
#define SECOND_NS UINT64_C(1000000000)
#define BELIEVED_NS (60 * SECOND_NS) /* so far from when it came a frame was made or sent */

typedef sd_json_variant variant;

static uint64_t kept_since(const struct recording *recording) {
	const uint64_t now = gid_clock_now(), kept = recording->options->seconds * SECOND_NS;
	return now > kept ? now - kept : 0;
}

/* --- the first line --------------------------------------------------------------------------- */

static int build_change(variant **entry, const struct role_change *change) {
	return sd_json_buildo(entry, SD_JSON_BUILD_PAIR_STRING("role", change->role),
			SD_JSON_BUILD_PAIR_STRING("from", change->from),
			SD_JSON_BUILD_PAIR_STRING("to", change->to),
			SD_JSON_BUILD_PAIR_STRING("reason", change->reason),
			SD_JSON_BUILD_PAIR_UNSIGNED("due_ns", change->due),
			SD_JSON_BUILD_PAIR_UNSIGNED("decided_ns", change->decided),
			SD_JSON_BUILD_PAIR_UNSIGNED("last_frame_ns", change->last_frame),
			SD_JSON_BUILD_PAIR_UNSIGNED("shown_ns", change->shown));
}

static int build_changes(variant **array, const struct role_watch *roles) {
	int ret = sd_json_variant_new_array(array, NULL, 0);
	for (uint64_t i = role_watch_first(roles); i < roles->change_count && ret >= 0; i++) {
		variant *entry = NULL;
		ret = build_change(&entry, role_watch_get(roles, i));
		if (ret >= 0) {
			ret = sd_json_variant_append_array(array, entry);
		}
		sd_json_variant_unref(entry);
	}
	return ret;
}

/* Those that the display had in the time that is kept. */
static int build_roles(variant **array, const struct role_watch *roles, uint64_t from) {
	int ret = sd_json_variant_new_array(array, NULL, 0);
	for (size_t i = 0; i < roles->role_count && ret >= 0; i++) {
		const struct watched_role *role = &roles->roles[i];
		variant *entry = NULL;
		if (role->known < from && role->known < roles->known) {
			continue;
		}
		ret = sd_json_buildo(&entry, SD_JSON_BUILD_PAIR_STRING("name", role->name),
				SD_JSON_BUILD_PAIR_STRING("stream", role->stream),
				SD_JSON_BUILD_PAIR_STRING("domain", role->domain),
				SD_JSON_BUILD_PAIR_STRING("state", role->state),
				SD_JSON_BUILD_PAIR_STRING("reason", role->reason),
				SD_JSON_BUILD_PAIR_STRING("detail", role->detail),
				SD_JSON_BUILD_PAIR_UNSIGNED("deadline_ns", role->deadline_ns),
				SD_JSON_BUILD_PAIR_UNSIGNED("known_ns", role->known));
		if (ret >= 0) {
			ret = sd_json_variant_append_array(array, entry);
		}
		sd_json_variant_unref(entry);
	}
	return ret;
}

static int build_streams(variant **array, const struct recording *recording) {
	int ret = sd_json_variant_new_array(array, NULL, 0);
	for (size_t i = 0; i < recording->options->stream_count && ret >= 0; i++) {
		const struct stream_watch *watch = &recording->streams[i];
		variant *entry = NULL;
		uint64_t count = watch->tape.frame_count;
		gid_id gid = count > 0 ? picture_tape_get_frame(&watch->tape, count - 1)->gid
				       : GID_NONE;
		bool is_live = gid_consumer_get_state(watch->consumer) == GID_CONSUMER_LIVE;
		ret = sd_json_buildo(&entry, SD_JSON_BUILD_PAIR_STRING("domain", watch->owner),
				SD_JSON_BUILD_PAIR_STRING("name", watch->name),
				SD_JSON_BUILD_PAIR_UNSIGNED("number", gid_domain_of(gid)),
				SD_JSON_BUILD_PAIR_BOOLEAN("live", is_live),
				SD_JSON_BUILD_PAIR_UNSIGNED("unread", watch->unread),
				SD_JSON_BUILD_PAIR_STRING("unread_reason", watch->reason));
		if (ret >= 0) {
			ret = sd_json_variant_append_array(array, entry);
		}
		sd_json_variant_unref(entry);
	}
	return ret;
}

/* Of the name of a file, which may be any bytes: with ? for those that are no text. */
static void make_text(const char *name, char text[PATH_MAX]) {
	size_t size = strlen(name), at = 0;
	while (at < size && at < PATH_MAX - 1) {
		size_t length = character_length(name + at, size - at);
		if (length == 0) {
			text[at++] = '?';
		} else if (at + length < PATH_MAX) {
			memcpy(text + at, name + at, length);
			at += length;
		} else {
			break;
		}
	}
	text[at] = '\0';
}

static int build_timelines(variant **array, const struct recording *recording) {
	int ret = sd_json_variant_new_array(array, NULL, 0);
	for (size_t i = 0; i < recording->options->timeline_count && ret >= 0; i++) {
		const struct timeline_tail *tail = &recording->tails[i];
		variant *entry = NULL;
		char name[PATH_MAX];
		int64_t size = timeline_tail_write(tail, recording->looks, -1);
		make_text(tail->path, name);
		ret = sd_json_buildo(&entry, SD_JSON_BUILD_PAIR_STRING("file", name),
				SD_JSON_BUILD_PAIR_INTEGER("bytes", size),
				SD_JSON_BUILD_PAIR_BOOLEAN("names_missing", tail->is_full));
		if (ret >= 0) {
			ret = sd_json_variant_append_array(array, entry);
		}
		sd_json_variant_unref(entry);
	}
	return ret;
}

static uint64_t realtime(void) {
	struct timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	return (uint64_t)time.tv_sec * SECOND_NS + (uint64_t)time.tv_nsec;
}

static int build_all(const struct recording *recording, const struct incident *incident,
		variant *const parts[PARTS], variant **whole) {
	const struct recorder_options *options = recording->options;
	return sd_json_buildo(whole, SD_JSON_BUILD_PAIR_UNSIGNED("version", VERSION),
			SD_JSON_BUILD_PAIR_STRING("domain", gid_domain_name(recording->domain)),
			SD_JSON_BUILD_PAIR_UNSIGNED("number", gid_domain_number(recording->domain)),
			SD_JSON_BUILD_PAIR_UNSIGNED("time_ns", incident->time),
			SD_JSON_BUILD_PAIR_UNSIGNED("noted_ns", incident->noted),
			SD_JSON_BUILD_PAIR_UNSIGNED("written_ns", gid_clock_now()),
			SD_JSON_BUILD_PAIR_UNSIGNED("realtime_ns", realtime()),
			SD_JSON_BUILD_PAIR_BOOLEAN("asked", incident->change.role[0] == '\0'),
			SD_JSON_BUILD_PAIR_VARIANT("incident", parts[4]),
			SD_JSON_BUILD_PAIR_UNSIGNED("others", incident->others),
			SD_JSON_BUILD_PAIR_UNSIGNED("seconds", options->seconds),
			SD_JSON_BUILD_PAIR_UNSIGNED("rate", options->rate),
			SD_JSON_BUILD_PAIR_BOOLEAN("display", recording->roles->is_there),
			SD_JSON_BUILD_PAIR_UNSIGNED("known_ns", recording->roles->known),
			SD_JSON_BUILD_PAIR_VARIANT("changes", parts[0]),
			SD_JSON_BUILD_PAIR_VARIANT("roles", parts[1]),
			SD_JSON_BUILD_PAIR_VARIANT("streams", parts[2]),
			SD_JSON_BUILD_PAIR_VARIANT("timelines", parts[3]));
}

int recording_describe(
		const struct recording *recording, const struct incident *incident, char **line) {
	variant *parts[PARTS] = {NULL}, *whole = NULL;
	int ret = build_changes(&parts[0], recording->roles);
	if (ret >= 0) {
		ret = build_roles(&parts[1], recording->roles, kept_since(recording));
	}
	if (ret >= 0) {
		ret = build_streams(&parts[2], recording);
	}
	if (ret >= 0) {
		ret = build_timelines(&parts[3], recording);
	}
	if (ret >= 0) {
		ret = build_change(&parts[4], &incident->change);
	}
	if (ret >= 0) {
		ret = build_all(recording, incident, parts, &whole);
	}
	if (ret >= 0) {
		ret = sd_json_variant_format(whole, SD_JSON_FORMAT_NEWLINE, line);
	}
	sd_json_variant_unref(whole);
	for (size_t i = 0; i < PARTS; i++) {
		sd_json_variant_unref(parts[i]);
	}
	return ret < 0 ? ret : 0;
}

/* --- what it says ----------------------------------------------------------------------------- */

/* Times are their producer's word: those that cannot be are left out. */
static int write_point(const struct gid_timeline_point *point, uint64_t received, int fd) {
	char line[GID_TIMELINE_LINE_MAX];
	if (point->time > received + BELIEVED_NS || point->time + BELIEVED_NS < received) {
		return 0;
	}
	return write_all(fd, line, gid_timeline_format(point, "gid-recorder", line));
}

/* The points of its frames that a reader knows, as any reader's. */
static int write_frames(const struct stream_watch *watch, uint32_t domain, int fd) {
	const struct picture_tape *tape = &watch->tape;
	int error = 0;
	for (uint64_t i = picture_tape_first_frame(tape); i < tape->frame_count && error == 0;
			i++) {
		const struct tape_frame *frame = picture_tape_get_frame(tape, i);
		struct gid_timeline_point point = {
				.event = GID_TIMELINE_CAPTURE,
				.time = frame->capture_time,
				.gid = frame->gid,
				.stream = watch->name,
				.sequence = frame->sequence,
				.domain = domain,
		};
		error = write_point(&point, frame->receive_time, fd);
		point.event = GID_TIMELINE_SUBMIT;
		point.time = frame->submit_time;
		error = error == 0 ? write_point(&point, frame->receive_time, fd) : error;
		point.event = GID_TIMELINE_RECEIVE;
		point.time = frame->receive_time;
		error = error == 0 ? write_point(&point, frame->receive_time, fd) : error;
	}
	return error;
}

static int write_picture(const struct picture_tape *tape, uint64_t number, size_t stream, int fd) {
	const struct tape_picture *picture = picture_tape_get(tape, number);
	const size_t bytes = (size_t)picture->width * picture->height * 3;
	char line[512];
	int length = snprintf(line, sizeof(line),
			"{\"stream\":%zu,\"time_ns\":%llu,\"sequence\":%llu,\"width\":%u,"
			"\"height\":%u,\"transform\":%u,\"gap\":\"%s\",\"gap_ns\":%llu,\"bytes\":%zu}\n",
			stream, (unsigned long long)picture->time,
			(unsigned long long)picture->sequence, picture->width, picture->height,
			picture->transform, tape_gap_name(picture->gap),
			(unsigned long long)picture->gap_time, bytes);
	int error = write_all(fd, line, (size_t)length);
	return error < 0 ? error : write_all(fd, picture_tape_pixels(tape, number), bytes);
}

/* Those of the time that is kept, and the one before, which was seen until the next one came. */
static int write_pictures(const struct recording *recording, size_t stream, uint64_t from, int fd) {
	const struct picture_tape *tape = &recording->streams[stream].tape;
	int error = 0;
	for (uint64_t i = picture_tape_first(tape); i < tape->picture_count && error == 0; i++) {
		bool is_last = i + 1 == tape->picture_count;
		if (is_last || picture_tape_get(tape, i + 1)->time >= from) {
			error = write_picture(tape, i, stream, fd);
		}
	}
	return error;
}

int recording_write(const struct recording *recording, const char *line, int fd) {
	static const char points[] = "{\"points\":true}\n", pictures[] = "{\"pictures\":true}\n",
			  end[] = "{\"end\":true}\n";
	const struct recorder_options *options = recording->options;
	const uint64_t from = kept_since(recording);
	const uint32_t domain = gid_domain_number(recording->domain);
	int error = write_all(fd, line, strlen(line));
	for (size_t i = 0; i < options->timeline_count && error == 0; i++) {
		int64_t size = timeline_tail_write(&recording->tails[i], recording->looks, fd);
		error = size < 0 ? (int)size : 0;
	}
	error = error == 0 ? write_all(fd, points, strlen(points)) : error;
	for (size_t i = 0; i < options->stream_count && error == 0; i++) {
		error = write_frames(&recording->streams[i], domain, fd);
	}
	error = error == 0 ? write_all(fd, pictures, strlen(pictures)) : error;
	for (size_t i = 0; i < options->stream_count && error == 0; i++) {
		error = write_pictures(recording, i, from, fd);
	}
	return error == 0 ? write_all(fd, end, strlen(end)) : error;
}
