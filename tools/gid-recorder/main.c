// SPDX-License-Identifier: MIT
/* gid-recorder: the last seconds of streams, of roles and of the timeline, written when something
 * happens. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "recorder.h"
#include "standard_streams.h"

static int handle_ask(sd_event_source *source, const struct signalfd_siginfo *info, void *data) {
	recorder_ask(data);
	return 0;
}

static int handle_end(sd_event_source *source, const struct signalfd_siginfo *info, void *data) {
	recorder_end(data);
	return 0;
}

static int add_signals(sd_event *event, struct recorder *recorder) {
	int error = sd_event_add_signal(event, NULL, SIGUSR1, handle_ask, recorder);
	if (error >= 0) {
		error = sd_event_add_signal(event, NULL, SIGTERM, handle_end, recorder);
	}
	if (error >= 0) {
		error = sd_event_add_signal(event, NULL, SIGINT, handle_end, recorder);
	}
	return error;
}

static double mebibytes(size_t bytes) {
	return (double)bytes / (1 << 20);
}

static const char *plural(size_t count) {
	return count == 1 ? "" : "s";
}

static void tell_size(const struct recorder_options *options) {
	size_t size = recorder_size(options);
	fprintf(options->check ? stdout : stderr,
			"gid-recorder: keeps %u s of %zu stream%s and %zu timeline%s in %.1f MiB; while "
			"a file is written, and as it asks gid-cluster, up to %.1f MiB more\n",
			options->seconds, options->stream_count, plural(options->stream_count),
			options->timeline_count, plural(options->timeline_count), mebibytes(size),
			mebibytes(size + role_watch_answer_size()));
}

static int serve(const struct recorder_options *options, sd_event *event) {
	static struct recorder recorder;
	int error = recorder_init(&recorder, options, event);
	if (error < 0) {
		return error;
	}
	error = add_signals(event, &recorder);
	if (error >= 0) {
		sd_notify(0, "READY=1");
		fprintf(stderr, "gid-recorder: ready\n");
		error = sd_event_loop(event);
		sd_notify(0, "STOPPING=1");
	}
	recorder_finish(&recorder);
	return error;
}

int main(int argc, char **argv) {
	struct recorder_options options;
	sigset_t signals;
	sd_event *event;
	standard_streams_init();
	recorder_options_parse(&options, argc, argv);
	/* What it reads itself is no part of the way of a frame. */
	unsetenv("GID_TIMELINE");
	tell_size(&options);
	if (options.check) {
		return EXIT_SUCCESS;
	}
	/* Also for threads of the library, which come later. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	int error = sd_event_new(&event);
	if (error < 0) {
		fprintf(stderr, "gid-recorder: %s\n", strerror(-error));
		return EXIT_FAILURE;
	}
	error = serve(&options, event);
	sd_event_unref(event);
	return error != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
