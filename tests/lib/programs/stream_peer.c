// SPDX-License-Identifier: MIT
/*
 * One end of a stream as a process of its own, for tests that stop, kill and watch it:
 *
 *     stream-peer produce NAME [OPTION=VALUE…]
 *     stream-peer consume DOMAIN NAME [OPTION=VALUE…]
 *
 * Prints a line of JSON at every change of state and every 50 ms. A producer fills each slot with
 * the frame's sequence number; a consumer compares that when it receives and when it releases.
 */
#include "stream_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options options = {.fps = 100, .slots = 8};
volatile sig_atomic_t ended;

static void end(int number) {
	ended = 1;
}

_Noreturn void fail(struct gid_domain *domain, const char *what, int error) {
	fprintf(stderr, "%s: %s (%s)\n", what, gid_strerror(error),
			domain != NULL ? gid_domain_error(domain) : "");
	printf("{\"event\": \"failed\", \"error\": %d}\n", error);
	exit(1);
}

static void read_option(const char *argument) {
	static const struct {
		const char *name;
		uint64_t *value;
	} known[] = {
			{"fps", &options.fps},
			{"slots", &options.slots},
			{"credit", &options.credit},
			{"lease_ms", &options.lease_ms},
			{"hold", &options.hold},
			{"spin_us", &options.spin_us},
			{"frames", &options.frames},
			{"drop_old", &options.drop_old},
			{"reconnect", &options.reconnect},
			{"quiet", &options.quiet},
			{"mark", &options.mark},
			{"crop", &options.crop},
			{"lossless", &options.lossless},
	};
	const char *equals = strchr(argument, '=');
	for (size_t i = 0; equals != NULL && i < sizeof(known) / sizeof(known[0]); i++) {
		size_t length = (size_t)(equals - argument);
		if (strlen(known[i].name) == length &&
				strncmp(known[i].name, argument, length) == 0) {
			*known[i].value = strtoull(equals + 1, NULL, 10);
			return;
		}
	}
	fprintf(stderr, "no such option: %s\n", argument);
	exit(2);
}

void mark(const char *text) {
	if (options.mark != 0) {
		(void)!write(STDERR_FILENO, text, strlen(text));
	}
}

int main(int argc, char **argv) {
	signal(SIGTERM, end);
	bool producing = argc >= 3 && strcmp(argv[1], "produce") == 0;
	bool consuming = argc >= 4 && strcmp(argv[1], "consume") == 0;
	if (!producing && !consuming) {
		fprintf(stderr, "usage: stream-peer produce NAME | consume DOMAIN NAME\n");
		return 2;
	}
	for (int i = producing ? 3 : 4; i < argc; i++) {
		read_option(argv[i]);
	}
	return producing ? produce(argv[2]) : consume(argv[2], argv[3]);
}
