// SPDX-License-Identifier: MIT
#include "bell.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct bell {
	TAILQ_ENTRY(bell) entry;
	struct bells *bells;
	uint32_t number;
	int fd;
	sd_event_source *io;
};

static void bell_destroy(struct bell *bell) {
	TAILQ_REMOVE(&bell->bells->list, bell, entry);
	sd_event_source_disable_unref(bell->io);
	close(bell->fd);
	free(bell);
}

static struct bell *find(struct bells *bells, uint32_t number) {
	struct bell *bell;
	TAILQ_FOREACH(bell, &bells->list, entry) {
		if (bell->number == number) {
			return bell;
		}
	}
	return NULL;
}

static int handle_io(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct bell *bell = data;
	struct bells *bells = bell->bells;
	uint32_t number = bell->number;
	char bytes[64];
	ssize_t got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
		return 0;
	}
	if (got <= 0) {
		bell_destroy(bell);
	}
	bells->rung(bells->data, number, got <= 0);
	return 0;
}

void bells_init(struct bells *bells, sd_event *event,
	void (*rung)(void *data, uint32_t number, bool hung_up), void *data) {
	*bells = (struct bells){.event = event, .rung = rung, .data = data};
	TAILQ_INIT(&bells->list);
}

void bells_finish(struct bells *bells) {
	struct bell *bell;
	while ((bell = TAILQ_FIRST(&bells->list)) != NULL) {
		bell_destroy(bell);
	}
}

int bells_add(struct bells *bells, uint32_t number, int fd) {
	struct bell *bell = calloc(1, sizeof(*bell));
	bells_hang_up(bells, number);
	if (bell == NULL) {
		close(fd);
		return -ENOMEM;
	}
	*bell = (struct bell){.bells = bells, .number = number, .fd = fd};
	int error = sd_event_add_io(bells->event, &bell->io, fd, EPOLLIN, handle_io, bell);
	if (error < 0) {
		close(fd);
		free(bell);
		return error;
	}
	TAILQ_INSERT_TAIL(&bells->list, bell, entry);
	return 0;
}

void bells_ring(struct bells *bells, uint32_t number) {
	const struct bell *bell = find(bells, number);
	if (bell != NULL) {
		(void)send(bell->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}

void bells_hang_up(struct bells *bells, uint32_t number) {
	struct bell *bell = find(bells, number);
	if (bell != NULL) {
		bell_destroy(bell);
	}
}
