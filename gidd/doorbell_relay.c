// SPDX-License-Identifier: MIT
#include "doorbell_relay.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "closer.h"
#include "socket.h"

struct relayed {
	TAILQ_ENTRY(relayed) entry;
	struct doorbell_relay *relay;
	uint32_t number;
	int fd;
	sd_event_source *io;
};

static void relayed_destroy(struct relayed *relayed) {
	TAILQ_REMOVE(&relayed->relay->list, relayed, entry);
	sd_event_source_disable_unref(relayed->io);
	gid_closer_hang_up(relayed->fd);
	free(relayed);
}

static struct relayed *find(struct doorbell_relay *relay, uint32_t number) {
	struct relayed *relayed;
	TAILQ_FOREACH(relayed, &relay->list, entry) {
		if (relayed->number == number) {
			return relayed;
		}
	}
	return NULL;
}

static int handle_io(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct relayed *relayed = data;
	struct doorbell_relay *relay = relayed->relay;
	uint32_t number = relayed->number;
	char bytes[64];
	ssize_t got = gid_socket_read(fd, bytes, sizeof(bytes));
	if (got == -EAGAIN) {
		return 0;
	}
	if (got <= 0) {
		relayed_destroy(relayed);
	}
	relay->rung(relay->data, number, got <= 0);
	return 0;
}

void doorbell_relay_init(struct doorbell_relay *relay, sd_event *event,
		void (*rung)(void *data, uint32_t number, bool hung_up), void *data) {
	*relay = (struct doorbell_relay){.event = event, .rung = rung, .data = data};
	TAILQ_INIT(&relay->list);
}

void doorbell_relay_finish(struct doorbell_relay *relay) {
	struct relayed *relayed;
	while ((relayed = TAILQ_FIRST(&relay->list)) != NULL) {
		relayed_destroy(relayed);
	}
}

int doorbell_relay_add(struct doorbell_relay *relay, uint32_t number, int fd) {
	struct relayed *relayed = calloc(1, sizeof(*relayed));
	doorbell_relay_hang_up(relay, number);
	if (relayed == NULL) {
		gid_closer_close(fd);
		return -ENOMEM;
	}
	gid_socket_refuse_rights(fd);
	*relayed = (struct relayed){.relay = relay, .number = number, .fd = fd};
	int error = sd_event_add_io(relay->event, &relayed->io, fd, EPOLLIN, handle_io, relayed);
	if (error < 0) {
		gid_closer_close(fd);
		free(relayed);
		return error;
	}
	TAILQ_INSERT_TAIL(&relay->list, relayed, entry);
	return 0;
}

void doorbell_relay_ring(struct doorbell_relay *relay, uint32_t number) {
	const struct relayed *relayed = find(relay, number);
	if (relayed != NULL) {
		(void)send(relayed->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}

void doorbell_relay_hang_up(struct doorbell_relay *relay, uint32_t number) {
	struct relayed *relayed = find(relay, number);
	if (relayed != NULL) {
		relayed_destroy(relayed);
	}
}
