// SPDX-License-Identifier: MIT
/* gid-engine: draws for programs of other domains, into canvases that it lends to everybody. */
#include "engine_config.h"
#include "requester.h"
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#define DEFAULT_CONFIG "/etc/gidway/engine.conf"

struct options {
	const char *config, *domain;
	bool check;
};

const char *argp_program_version = "gid-engine " GIDWAY_VERSION;

static const struct argp_option argp_options[] = {
		{"config", 'c', "FILE", 0, "which canvases there are (default: " DEFAULT_CONFIG ")",
				0},
		{"domain", 'd', "NAME", 0,
				"the domain that owns the engine (default: $GID_DOMAIN, else the "
				"only one)",
				0},
		{"check", 'n', 0, 0, "read the configuration, say what is wrong with it, and end",
				0},
		{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0}, /* as --help */
		{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state) {
	struct options *options = state->input;
	switch (key) {
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		break;
	case 'c':
		options->config = value;
		break;
	case 'd':
		options->domain = value;
		break;
	case 'n':
		options->check = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.doc = "The 2D engine: draws and composes for programs of other domains, by lists "
		       "of "
		       "commands that name pictures by their gids."
		       "\vExit status: 0 after SIGTERM or SIGINT, or when --check found nothing "
		       "wrong; 1 otherwise. See gid-engine(8).",
};

static int init_event(sd_event **event) {
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL); /* before there are threads, which inherit it */
	int ret = sd_event_new(event);
	if (ret >= 0) {
		ret = sd_event_add_signal(*event, NULL, SIGTERM, NULL, NULL);
	}
	if (ret >= 0) {
		ret = sd_event_add_signal(*event, NULL, SIGINT, NULL, NULL);
	}
	if (ret >= 0) {
		ret = sd_event_set_watchdog(*event, true);
	}
	return ret < 0 ? ret : 0;
}

static int serve(sd_event *event, const struct engine_config *config,
		struct requester_options *options) {
	struct requester **requesters = calloc(config->canvas_count, sizeof(*requesters));
	size_t started = 0;
	int ret = requesters == NULL ? -ENOMEM : 0;
	while (ret == 0 && started < config->canvas_count) {
		ret = requester_start(&requesters[started], &config->canvases[started], options);
		started += ret == 0;
	}
	if (ret == 0) {
		sd_notifyf(0, "READY=1\nSTATUS=Serving %zu canvases", started);
		ret = sd_event_loop(event);
		sd_notify(0, "STOPPING=1");
	}
	atomic_store(&options->ends, true);
	eventfd_write(options->wake_fd, 1);
	for (size_t i = 0; i < started; i++) {
		requester_join(requesters[i]);
	}
	free(requesters);
	return ret;
}

static int run(const struct engine_config *config, const char *domain) {
	struct requester_options options = {.domain = domain, .spin_us = config->spin_us};
	sd_event *event = NULL;
	options.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (options.wake_fd < 0) {
		fprintf(stderr, "gid-engine: %s\n", strerror(errno));
		return -errno;
	}
	int ret = init_event(&event);
	if (ret == 0) {
		ret = serve(event, config, &options);
	}
	if (ret < 0) {
		fprintf(stderr, "gid-engine: %s\n", strerror(-ret));
	}
	sd_event_unref(event);
	close(options.wake_fd);
	return ret;
}

int main(int argc, char **argv) {
	struct options options = {.config = DEFAULT_CONFIG};
	struct engine_config config;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	int ret = engine_config_read(&config, options.config, stderr);
	if (ret == 0 && !options.check) {
		ret = run(&config, options.domain);
	}
	engine_config_finish(&config);
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
