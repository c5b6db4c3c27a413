// SPDX-License-Identifier: MIT
/*
 * Listens to doorbells. A peer may ring as often as it likes: rings beyond what any stream needs
 * are delayed and merged.
 */
#include "doorbell_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "log.h"

/* Listens to one other domain. */
struct ear {
	TAILQ_ENTRY(ear) entry;
	struct doorbell *doorbell;
	uint32_t vector, domain;
	sd_event_source *io, *unmute;
	uint64_t since_us; /* the time of the burst's first ring */
	uint32_t burst;
};

struct doorbell {
	struct gidd *gidd;
	doorbell_heard heard;
	uint64_t cookie;
	const struct doorbell_kind *kind;
	void *data;
	TAILQ_HEAD(, ear) ears;
};

static uint64_t now_us(const struct ear *ear) {
	uint64_t now = 0;
	sd_event_now(ear->doorbell->gidd->event, CLOCK_MONOTONIC, &now);
	return now;
}

static void mute(struct ear *ear, bool mute) {
	ear->doorbell->kind->mute(ear->doorbell->data, ear->vector, mute);
	/*
	 * Rings meanwhile have left the descriptor readable: the event source sees that when on
	 * again.
	 */
	sd_event_source_set_enabled(ear->io, mute ? SD_EVENT_OFF : SD_EVENT_ON);
}

static int handle_unmute(sd_event_source *source, uint64_t now, void *data) {
	mute(data, false);
	return 0;
}

/*
 * Edge-triggered, so that nobody has to read: other processes hold the same file description, and
 * could empty it first, so that a read would block.
 */
static int handle_io(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct ear *ear = data;
	uint64_t now = now_us(ear);
	if (now - ear->since_us > DOORBELL_BURST_US) {
		ear->since_us = now;
		ear->burst = 0;
	}
	if (++ear->burst > DOORBELL_BURST) {
		mute(ear, true);
		sd_event_source_set_time_relative(ear->unmute, DOORBELL_BURST_US);
		sd_event_source_set_enabled(ear->unmute, SD_EVENT_ONESHOT);
		return 0;
	}
	ear->doorbell->heard(ear->doorbell->gidd, ear->domain);
	return 0;
}

static void ear_destroy(struct ear *ear) {
	TAILQ_REMOVE(&ear->doorbell->ears, ear, entry);
	sd_event_source_disable_unref(ear->io);
	sd_event_source_disable_unref(ear->unmute);
	free(ear);
}

int doorbell_listen(struct doorbell *doorbell, uint32_t vector, uint32_t domain, int fd) {
	sd_event *event = doorbell->gidd->event;
	struct ear *ear = calloc(1, sizeof(*ear));
	if (ear == NULL) {
		return -ENOMEM;
	}
	*ear = (struct ear){.doorbell = doorbell, .vector = vector, .domain = domain};
	TAILQ_INSERT_TAIL(&doorbell->ears, ear, entry);
	int error = sd_event_add_io(event, &ear->io, fd, EPOLLIN | EPOLLET, handle_io, ear);
	if (error >= 0) {
		error = sd_event_add_time_relative(event, &ear->unmute, CLOCK_MONOTONIC, 0,
				DOORBELL_BURST_US / 10, handle_unmute, ear);
	}
	if (error >= 0) {
		error = sd_event_source_set_enabled(ear->unmute, SD_EVENT_OFF);
	}
	if (error < 0) {
		ear_destroy(ear);
	}
	return error < 0 ? error : 0;
}

struct doorbell *doorbell_create(struct gidd *gidd, doorbell_heard heard, uint64_t cookie,
		const struct doorbell_kind *kind, void *data) {
	struct doorbell *doorbell = calloc(1, sizeof(*doorbell));
	if (doorbell != NULL) {
		*doorbell = (struct doorbell){
				.gidd = gidd,
				.heard = heard,
				.cookie = cookie,
				.kind = kind,
				.data = data,
		};
		TAILQ_INIT(&doorbell->ears);
	}
	return doorbell;
}

void doorbell_destroy(struct doorbell *doorbell) {
	struct ear *ear;
	while ((ear = TAILQ_FIRST(&doorbell->ears)) != NULL) {
		ear_destroy(ear);
	}
	doorbell->kind->close(doorbell->data);
	free(doorbell);
}

/* --- the doorbell of the domain --------------------------------------------------------------- */

void doorbell_close(struct gidd *gidd) {
	if (gidd->doorbell != NULL) {
		doorbell_destroy(gidd->doorbell);
		gidd->doorbell = NULL;
	}
}

uint64_t doorbell_cookie(const struct gidd *gidd) {
	return gidd->doorbell == NULL ? 0 : gidd->doorbell->cookie;
}

bool doorbell_ring(struct gidd *gidd, uint32_t domain) {
	struct doorbell *doorbell = gidd->doorbell;
	return doorbell != NULL && doorbell->kind->ring(doorbell->data, domain) == 0;
}

/* --- rings that bypass gidd ------------------------------------------------------------------- */

int doorbell_take(struct gidd *gidd, uint32_t domain, uid_t user, struct doorbell_vector *vector) {
	struct doorbell *doorbell = gidd->doorbell;
	return doorbell == NULL ? -ENOTSUP
				: doorbell->kind->take(doorbell->data, domain, user, vector);
}

void doorbell_give_back(struct gidd *gidd, const struct doorbell_vector *vector) {
	struct doorbell *doorbell = gidd->doorbell;
	struct ear *ear;
	if (doorbell == NULL) {
		return;
	}
	TAILQ_FOREACH(ear, &doorbell->ears, entry) {
		if (ear->vector == vector->number) {
			ear_destroy(ear);
			break;
		}
	}
	doorbell->kind->give_back(doorbell->data, vector);
}

int doorbell_relay(struct gidd *gidd, const struct doorbell_vector *vector) {
	struct doorbell *doorbell = gidd->doorbell;
	return doorbell == NULL
			? -ENOTSUP
			: doorbell_listen(doorbell, vector->number, vector->domain, vector->fd);
}

int doorbell_open_ringer(struct gidd *gidd, uint32_t domain, uint32_t index, uid_t user, int *fd) {
	struct doorbell *doorbell = gidd->doorbell;
	return doorbell == NULL
			? -ENOTSUP
			: doorbell->kind->open_ringer(doorbell->data, domain, index, user, fd);
}

void doorbell_close_ringer(struct gidd *gidd, uint32_t domain, uint32_t index, int fd) {
	if (gidd->doorbell != NULL) {
		gidd->doorbell->kind->close_ringer(gidd->doorbell->data, domain, index, fd);
	}
}
