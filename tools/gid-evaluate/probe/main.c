// SPDX-License-Identifier: MIT
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "gidway_version.h"
#include "probe.h"
#include "standard_streams.h"

static const struct part {
	const char *name, *usage, *what;
	int (*run)(int argc, char **argv);
} parts[] = {
		{"memory", "memory [private|slab]",
				"latency, bandwidth, address translation and allocation of memory",
				probe_memory},
		{"calls", "calls",
				"semaphores, message queues, switches between processes, wake-ups, timers",
				probe_calls},
		{"arithmetic", "arithmetic", "arithmetic with doubles", probe_arithmetic},
		{"files", "files", "reading a file that the kernel has in memory", probe_files},
		{"message", "message ping DOMAIN [BYTES…] | message echo DOMAIN",
				"messages by gid to a domain and back, beside a bare futex",
				probe_message},
		{"access", "access", "illegal access of a domain to another's memory and streams",
				probe_access},
		{"streams", "streams", "a frame's cost with many streams and many consumers",
				probe_streams},
		{"frames", "frames COUNT STREAMS CONSUMERS | frames bursts COUNT CONSUMERS",
				"passes so many frames, for who counts what that takes; no figures",
				probe_frames},
};

static void print_usage(FILE *file) {
	fprintf(file,
			"Usage: gid-probe PART\n\n"
			"Measures one property of the place where it runs, and prints JSON.\n\n");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		fprintf(file, "  %s\n        %s\n", parts[i].usage, parts[i].what);
	}
	fprintf(file, "\n  -h, --help     this text\n  -V, --version  the version\n");
}

int main(int argc, char **argv) {
	static const struct option options[] = {
			{"help", no_argument, NULL, 'h'},
			{"version", no_argument, NULL, 'V'},
			{0},
	};
	standard_streams_init();
	for (int option; (option = getopt_long(argc, argv, "+hV", options, NULL)) != -1;) {
		if (option == 'h') {
			print_usage(stdout);
			return 0;
		}
		if (option == 'V') {
			printf("gid-probe %s\n", GIDWAY_VERSION);
			return 0;
		}
		return 2;
	}
	for (size_t i = 0; optind < argc && i < sizeof(parts) / sizeof(*parts); i++) {
		if (strcmp(argv[optind], parts[i].name) == 0) {
			probe_core(0);
			return parts[i].run(argc - optind, argv + optind);
		}
	}
	print_usage(stderr);
	return 2;
}
