// SPDX-License-Identifier: MIT
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handoff.h"

enum {
	KEY_CAPS = 256,
	KEY_FROM,
	KEY_UNTIL,
	KEY_BYTES,
	KEY_CPU,
	KEY_PEER_CPU,
	KEY_RATE,
	KEY_READ,
	KEY_PTS
};

static const struct argp_option option_table[] = {
		{"caps", KEY_CAPS, "CAPS", 0, "send, wake: of the frames", 0},
		{"from", KEY_FROM, "NS", 0, "When to begin measuring, CLOCK_MONOTONIC", 0},
		{"until", KEY_UNTIL, "NS", 0, "When to end", 0},
		{"bytes", KEY_BYTES, "N", 0, "private: of a frame", 0},
		{"cpu", KEY_CPU, "N", 0, "The core to run on", 0},
		{"peer-cpu", KEY_PEER_CPU, "N", 0, "eventfd, wake: the core of the other side", 0},
		{"rate", KEY_RATE, "N", 0, "Frames a second", 0},
		{"read-all", KEY_READ, NULL, 0, "receive: read every byte of a frame", 0},
		{"time-from-pts", KEY_PTS, NULL, 0,
				"receive: take the time of sending from the PTS", 0},
		{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state) {
	struct handoff_options *options = state->input;
	switch (key) {
	case KEY_CAPS:
		options->caps = value;
		break;
	case KEY_FROM:
		options->from = strtoull(value, NULL, 10);
		break;
	case KEY_UNTIL:
		options->until = strtoull(value, NULL, 10);
		break;
	case KEY_BYTES:
		options->bytes = strtoull(value, NULL, 10);
		break;
	case KEY_CPU:
		options->cpu = atoi(value);
		break;
	case KEY_PEER_CPU:
		options->peer_cpu = atoi(value);
		break;
	case KEY_RATE:
		options->rate = (uint32_t)strtoul(value, NULL, 10);
		break;
	case KEY_READ:
		options->read_all = true;
		break;
	case KEY_PTS:
		options->time_from_pts = true;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0) {
			options->role = value;
		} else if (state->arg_num == 1) {
			options->pipeline = value;
		} else {
			argp_usage(state);
		}
		break;
	case ARGP_KEY_END:
		if (options->role == NULL || options->rate == 0 ||
				options->until <= options->from) {
			argp_usage(state);
		}
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv) {
	static const struct argp argp = {
			.options = option_table,
			.parser = parse_option,
			.args_doc = "send|receive PIPELINE\nwake|wake-source|eventfd|private",
			.doc = "One side of the benchmark handoff, which bench/handoff.py runs.",
	};
	static const struct {
		const char *name;
		int (*run)(const struct handoff_options *options);
	} roles[] = {
			{"send", handoff_send},
			{"receive", handoff_receive},
			{"wake", handoff_wake},
			{"wake-source", handoff_wake_source},
			{"eventfd", handoff_eventfd},
			{"private", handoff_private},
	};
	struct handoff_options options = {.rate = 60, .peer_cpu = 1, .caps = "video/x-raw"};
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	handoff_pin(options.cpu);
	gst_init(NULL, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(roles); i++) {
		if (strcmp(options.role, roles[i].name) == 0) {
			return roles[i].run(&options);
		}
	}
	fprintf(stderr, "no such role: %s\n", options.role);
	return 2;
}
