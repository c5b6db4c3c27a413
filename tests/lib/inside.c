// SPDX-License-Identifier: MIT
#include "inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "client.h"
#include "closer.h"
#include "config_file.h"
#include "fuzz.h"
#include "local.h"
#include "remote.h"
#include "socket.h"

#define XRGB8888 0x34325258u /* DRM_FORMAT_XRGB8888 */
#define ROUNDS_MAX 500

const struct gid_wire_layout inside_layout = {
		.fourcc = XRGB8888, .width = 8, .height = 8, .plane_count = 1, .planes = {{0, 32}}};

void inside_read_config(struct config *config, const char *text) {
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	demand(file != NULL && config_read(config, file, "cockpit", stderr) == 0);
	fclose(file);
}

void inside_init(struct gidd *gidd, struct config *config, const char *text, const char *self) {
	inside_read_config(config, text);
	*gidd = (struct gidd){.config = config, .self = config_domain_by_name(config, self)};
	local_init(gidd);
	remote_init(gidd);
	demand(sd_event_new(&gidd->event) >= 0);
}

static char runtime[] = "/tmp/gid-fuzz-XXXXXX";

static void remove_runtime(void) {
	char command[64];
	snprintf(command, sizeof(command), "rm -rf '%s'", runtime);
	(void)!system(command);
}

void inside_make_runtime(struct gidd *gidd) {
	demand(mkdtemp(runtime) != NULL);
	atexit(remove_runtime);
	gidd->runtime = runtime;
}

void inside_settle(struct gidd *gidd) {
	do { /* what a helper has closed is an event for the other end */
		while (gid_closer_pending() > 0) {
			nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
		}
		for (int i = 0; i < ROUNDS_MAX && sd_event_run(gidd->event, 0) > 0; i++) {
		}
	} while (gid_closer_pending() > 0);
}

int inside_connect(struct gidd *gidd) {
	int pair[2];
	demand(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
	/* Room for a few messages alone: gidd queues the others for whoever does not read. */
	demand(setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &(int){0}, sizeof(int)) == 0);
	client_create(gidd, pair[1]);
	return pair[0];
}

void inside_send(int client, const union gid_wire_message *message, const int *fds,
		uint32_t fd_count) {
	if (client >= 0) {
		gid_socket_send(client, message, message->header.size, fds, fd_count);
	}
}

void inside_listen(int *client, void (*hear)(const union gid_wire_message *message)) {
	union gid_wire_message message;
	int fds[GID_WIRE_FDS_MAX];
	uint32_t fd_count;
	const char *why;
	ssize_t size;
	while (*client >= 0 &&
			(size = gid_socket_receive(*client, &message, sizeof(message), fds,
					 &fd_count)) != -EAGAIN) {
		if (size <= 0) {
			gid_socket_close_fds(client, 1);
			break;
		}
		demand(gid_wire_check(&message, (size_t)size, fd_count, &why) == 0);
		if (hear != NULL) {
			hear(&message);
		}
		gid_socket_close_fds(fds, fd_count);
	}
}

void inside_demand_empty(const struct gidd *gidd) {
	demand(TAILQ_EMPTY(&gidd->clients) && TAILQ_EMPTY(&gidd->slabs) &&
			TAILQ_EMPTY(&gidd->streams) && TAILQ_EMPTY(&gidd->subscriptions));
	for (enum quota quota = 0; quota < QUOTA_COUNT; quota++) {
		demand(gidd->used[quota] == 0);
	}
}
