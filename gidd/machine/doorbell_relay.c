// SPDX-License-Identifier: MIT
#include "doorbell_relay.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

#include "doorbell.h"

/* How many ends of subscriptions that are over may stay open. */
#define ENDED_MAX 64u

struct relayed {
	TAILQ_ENTRY(relayed) entry; /* those that ended are in the order in which they did */
	bool ended;
	struct doorbell_relay *relay;
	uint32_t number;
	struct gid_doorbell bell;
	sd_event_source *io;
	sd_event_source *poll; /* used while the doorbell cannot be relied on */
};

static void destroy(struct relayed *relayed, void (*finish)(struct gid_doorbell *bell)) {
	relayed->relay->ended -= relayed->ended;
	TAILQ_REMOVE(&relayed->relay->list, relayed, entry);
	sd_event_source_disable_unref(relayed->io);
	sd_event_source_disable_unref(relayed->poll);
	finish(&relayed->bell);
	free(relayed);
}

static void relayed_destroy(struct relayed *relayed) {
	destroy(relayed, gid_doorbell_finish);
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

static void listen(struct relayed *relayed) {
	struct doorbell_relay *relay = relayed->relay;
	uint32_t number = relayed->number;
	int heard = gid_doorbell_silence(&relayed->bell, UINT64_MAX);
	if (heard < 0) {
		relayed_destroy(relayed);
	} else if (heard > 0) { /* one ring too many is better than a lost one */
		sd_event_source_set_time_relative(relayed->poll, GID_DOORBELL_POLL_NS / 1000);
		sd_event_source_set_enabled(relayed->poll, SD_EVENT_ONESHOT);
	}
	relay->rung(relay->data, number, heard < 0);
}

static int handle_io(sd_event_source *source, int fd, uint32_t events, void *data) {
	listen(data);
	return 0;
}

static int handle_poll(sd_event_source *source, uint64_t time, void *data) {
	listen(data);
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

int doorbell_relay_add(
		struct doorbell_relay *relay, uint32_t number, const struct gid_doorbell *bell) {
	struct relayed *relayed = calloc(1, sizeof(*relayed));
	doorbell_relay_hang_up(relay, number);
	if (relayed == NULL) {
		return -ENOMEM;
	}
	*relayed = (struct relayed){.relay = relay, .number = number, .bell = *bell};
	uint32_t events = EPOLLIN | (bell->taken ? EPOLLET : 0);
	int error = sd_event_add_io(
			relay->event, &relayed->io, bell->fd, events, handle_io, relayed);
	if (error >= 0) {
		error = sd_event_add_time(relay->event, &relayed->poll, CLOCK_MONOTONIC, 0, 0,
				handle_poll, relayed);
	}
	if (error < 0) {
		sd_event_source_disable_unref(relayed->io);
		free(relayed);
		return error;
	}
	sd_event_source_set_enabled(relayed->poll, SD_EVENT_OFF);
	TAILQ_INSERT_TAIL(&relay->list, relayed, entry);
	return 0;
}

void doorbell_relay_ring(struct doorbell_relay *relay, uint32_t number) {
	const struct relayed *relayed = find(relay, number);
	if (relayed != NULL) {
		gid_doorbell_ring(&relayed->bell);
	}
}

void doorbell_relay_hang_up(struct doorbell_relay *relay, uint32_t number) {
	struct relayed *relayed = find(relay, number);
	if (relayed != NULL) {
		relayed_destroy(relayed);
	}
}

static struct relayed *find_ended(struct doorbell_relay *relay) {
	struct relayed *relayed;
	TAILQ_FOREACH(relayed, &relay->list, entry) {
		if (relayed->ended) {
			break;
		}
	}
	return relayed;
}

void doorbell_relay_end(struct doorbell_relay *relay, uint32_t number) {
	struct relayed *relayed = find(relay, number);
	if (relayed == NULL || relayed->ended) {
		return;
	}
	relayed->ended = true;
	TAILQ_REMOVE(&relay->list, relayed, entry);
	TAILQ_INSERT_TAIL(&relay->list, relayed, entry);
	if (++relay->ended > ENDED_MAX) {
		relayed_destroy(find_ended(relay));
	}
}

void doorbell_relay_let_go(struct doorbell_relay *relay, uint32_t number) {
	struct relayed *relayed = find(relay, number);
	if (relayed != NULL) {
		destroy(relayed, gid_doorbell_let_go);
	}
}
