// SPDX-License-Identifier: MIT
#include "recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TICK_US 250000u /* how often timelines are looked at */
#define TICKS_A_SECOND 4u
#define SECOND_NS UINT64_C(1000000000)

static uint32_t looks_of(const struct recorder_options *options) {
	return options->seconds * TICKS_A_SECOND;
}

size_t recorder_size(const struct recorder_options *options) {
	return sizeof(struct recorder) + role_watch_size() +
			options->stream_count *
			picture_tape_size(options->width, options->seconds, options->rate) +
			options->timeline_count * timeline_tail_size(looks_of(options));
}

/* --- incidents -------------------------------------------------------------------------------- */

/* When the last file about the role was begun, or the last that was asked for; 0: there is none. */
static uint64_t *find_filed(struct recorder *recorder, const struct incident *incident) {
	const char *role = incident->change.role;
	if (role[0] == '\0') {
		return &recorder->asked_filed;
	}
	for (size_t i = 0; i < recorder->roles.role_count; i++) {
		if (strcmp(recorder->roles.roles[i].name, role) == 0) {
			return &recorder->roles.roles[i].filed;
		}
	}
	return &recorder->display_filed;
}

static void write_incident(struct recorder *recorder) {
	const struct recording recording = {
			.options = recorder->options,
			.domain = recorder->domain,
			.streams = recorder->streams,
			.tails = recorder->tails,
			.roles = &recorder->roles,
			.looks = looks_of(recorder->options),
	};
	recorder->is_pending = false;
	recorder->begun = find_filed(recorder, &recorder->incident);
	*recorder->begun = gid_clock_now();
	if (incident_file_begin(&recorder->file, &recording, &recorder->incident) < 0) {
		*recorder->begun = 0;
	}
}

/* Whether there was a file about the same a short time ago: one role does not hide another. */
static bool is_too_soon(struct recorder *recorder, const struct incident *incident) {
	uint64_t filed = *find_filed(recorder, incident);
	return filed != 0 && incident->noted - filed < recorder->options->interval * SECOND_NS;
}

/* What comes while one is to be written is in the same file. At the end none begins any more. */
static void begin_incident(struct recorder *recorder, const struct incident *incident) {
	if (recorder->is_ending) {
		return;
	}
	const struct role_change *change = &incident->change;
	bool is_asked = change->role[0] == '\0';
	char what[4 * ROLE_WATCH_TEXT + 8] = "a file is asked for";
	if (!is_asked) {
		snprintf(what, sizeof(what), "%s: %s to %s, %s", change->role, change->from,
				change->to, change->reason);
	}
	if (recorder->is_pending) {
		recorder->incident.others++;
		fprintf(stderr, "gid-recorder: %s: in the file that is to come\n", what);
	} else if (is_too_soon(recorder, incident)) {
		recorder->left_out++;
		fprintf(stderr,
				"gid-recorder: %s: too soon after the last file, %" PRIu64
				" left out\n",
				what, recorder->left_out);
	} else {
		recorder->incident = *incident;
		recorder->is_pending = true;
		recorder->due = incident->noted + recorder->options->after * SECOND_NS;
		fprintf(stderr, "gid-recorder: %s\n", what);
	}
}

static void handle_change(void *data, const struct role_change *change) {
	struct recorder *recorder = data;
	const struct incident incident = {
			.time = change->decided, .noted = gid_clock_now(), .change = *change};
	if (recorder_options_has_state(recorder->options, change->to)) {
		begin_incident(recorder, &incident);
	}
}

void recorder_ask(struct recorder *recorder) {
	uint64_t now = gid_clock_now();
	const struct incident incident = {.time = now, .noted = now};
	begin_incident(recorder, &incident);
}

/* What is not written keeps nothing else from it: the next time there may be room. */
static void handle_written(void *data, bool is_written) {
	struct recorder *recorder = data;
	if (!is_written) {
		*recorder->begun = 0;
	}
	if (recorder->is_ending && recorder->is_pending) {
		write_incident(recorder);
	}
	if (recorder->is_ending && !incident_file_is_busy(&recorder->file)) {
		sd_event_exit(recorder->event, 0);
	}
}

/* A display that ends as we do is no incident: the machine is shut down. */
static bool is_of_the_end(const struct incident *incident) {
	return strcmp(incident->change.role, ROLE_WATCH_DISPLAY) == 0 && incident->others == 0;
}

void recorder_end(struct recorder *recorder) {
	recorder->is_pending = recorder->is_pending && !is_of_the_end(&recorder->incident);
	if (recorder->is_pending && !incident_file_is_busy(&recorder->file)) {
		write_incident(recorder);
	}
	/* The second time nothing is waited for. */
	if (recorder->is_ending || !incident_file_is_busy(&recorder->file)) {
		sd_event_exit(recorder->event, 0);
	}
	recorder->is_ending = true;
}

/* --- events ----------------------------------------------------------------------------------- */

static int handle_tick(sd_event_source *source, uint64_t usec, void *data) {
	struct recorder *recorder = data;
	for (size_t i = 0; i < recorder->tail_count; i++) {
		timeline_tail_look(&recorder->tails[i]);
	}
	if (recorder->ticks++ % TICKS_A_SECOND == 0) {
		role_watch_ask(&recorder->roles);
	}
	if (recorder->is_pending && gid_clock_now() >= recorder->due &&
			!incident_file_is_busy(&recorder->file)) {
		write_incident(recorder);
	}
	/* Late ones are left out, so that they do not all come at once. */
	uint64_t now;
	sd_event_now(recorder->event, CLOCK_MONOTONIC, &now);
	sd_event_source_set_time(source, now + TICK_US);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int handle_domain(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct recorder *recorder = data;
	if (gid_domain_dispatch(recorder->domain) < 0) {
		fprintf(stderr, "gid-recorder: gidd has ended for good: %s\n",
				gid_domain_error(recorder->domain));
		sd_event_exit(recorder->event, 1);
	}
	return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

static int add_sources(struct recorder *recorder) {
	int error = sd_event_add_io(recorder->event, &recorder->domain_source,
			gid_domain_get_fd(recorder->domain), EPOLLIN, handle_domain, recorder);
	if (error >= 0) {
		error = sd_event_add_time(recorder->event, &recorder->tick, CLOCK_MONOTONIC, 0,
				TICK_US / 10, handle_tick, recorder);
	}
	return error < 0 ? error : 0;
}

static int add_streams(struct recorder *recorder) {
	const struct recorder_options *options = recorder->options;
	for (size_t i = 0; i < options->stream_count; i++) {
		const struct recorder_stream *stream = &options->streams[i];
		int error = stream_watch_init(&recorder->streams[i], recorder->domain,
				recorder->event, stream, options);
		if (error < 0) {
			const char *why = gid_domain_error(recorder->domain);
			fprintf(stderr, "gid-recorder: %s%s%s: %s\n",
					stream->owner != NULL ? stream->owner : "",
					stream->owner != NULL ? ":" : "", stream->name,
					why[0] != '\0' ? why : gid_strerror(error));
			return error;
		}
		recorder->stream_count++;
	}
	return 0;
}

static int add_tails(struct recorder *recorder) {
	const struct recorder_options *options = recorder->options;
	for (size_t i = 0; i < options->timeline_count; i++) {
		int error = timeline_tail_init(
				&recorder->tails[i], options->timelines[i], looks_of(options));
		if (error < 0) {
			return error;
		}
		recorder->tail_count++;
	}
	return 0;
}

/* Of what tells nothing itself. */
static int tell(int error) {
	if (error < 0) {
		fprintf(stderr, "gid-recorder: %s\n", strerror(-error));
	}
	return error;
}

int recorder_init(struct recorder *recorder, const struct recorder_options *options,
		sd_event *event) {
	*recorder = (struct recorder){.options = options, .event = event};
	int error = gid_domain_connect(options->domain, &recorder->domain);
	if (error < 0) {
		fprintf(stderr, "gid-recorder: %s\n", gid_domain_connect_error());
		return error;
	}
	error = incident_file_init(&recorder->file, event, options, handle_written, recorder);
	if (error == 0) {
		error = tell(role_watch_init(&recorder->roles, event,
				gid_domain_name(recorder->domain), options->status, handle_change,
				recorder));
	}
	if (error == 0) {
		error = add_streams(recorder);
	}
	if (error == 0) {
		error = tell(add_tails(recorder));
	}
	if (error == 0) {
		error = tell(add_sources(recorder));
	}
	if (error < 0) {
		recorder_finish(recorder);
	}
	return error;
}

void recorder_finish(struct recorder *recorder) {
	sd_event_source_disable_unref(recorder->tick);
	sd_event_source_disable_unref(recorder->domain_source);
	incident_file_finish(&recorder->file);
	role_watch_finish(&recorder->roles);
	for (size_t i = 0; i < recorder->tail_count; i++) {
		timeline_tail_finish(&recorder->tails[i]);
	}
	for (size_t i = 0; i < recorder->stream_count; i++) {
		stream_watch_finish(&recorder->streams[i]);
	}
	gid_domain_destroy(recorder->domain);
}
