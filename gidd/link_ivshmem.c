// SPDX-License-Identifier: MIT
/*
 * Two domains of different machines: messages by way of the hub, memory in windows.
 *
 * No descriptor crosses. Where a message has one of memory, that is in the sender's window, and the
 * receiver has a read-only descriptor of that window itself. Where it has a doorbell, each side
 * keeps one end of a socket pair, and rings go between them by the doorbell device where both hear
 * it, else as BELL messages. A ring of the device names no subscription, and is for all of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "carrier.h"
#include "link_ivshmem.h"
#include "log.h"
#include "socket.h"
#include "subscription.h"
#include "window.h"

#define FIRST_PINGS 5u /* before anything else, so that the clock is known from the start */
#define FIRST_PING_US 5000u
#define PING_US 1000000u /* at most; so that who is silent was asked ten times */
#define SILENCE_DEFAULT_S 10u
#define SILENCE_MAX_S 3600u

struct ivshmem *ivshmem_find(struct gidd *gidd, uint32_t domain) {
	struct link *link = link_find(gidd, domain);
	return link != NULL && link->kind->windows_only ? link->transport : NULL;
}

/* --- the clock, and whether anybody is there -------------------------------------------------- */

static void send_ping(struct ivshmem *ivshmem) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_PING, 0);
	message.ping.time = gid_socket_now();
	carrier_send(ivshmem->link, ivshmem->epoch, &message);
}

/* For the time, and by that whether it is there; again when that is due. */
static void ask(struct ivshmem *ivshmem) {
	uint64_t round_us = ivshmem->silence_us / 10 < PING_US ? ivshmem->silence_us / 10 : PING_US;
	ivshmem->round_us = ivshmem->pongs < FIRST_PINGS ? FIRST_PING_US : round_us;
	send_ping(ivshmem);
	sd_event_source_set_time_relative(ivshmem->ping, ivshmem->round_us);
	sd_event_source_set_enabled(ivshmem->ping, SD_EVENT_ONESHOT);
}

static int handle_ping_due(sd_event_source *source, uint64_t now, void *data) {
	struct ivshmem *ivshmem = data;
	if (!ivshmem->there) {
		return 0;
	}
	ivshmem->silent_us += ivshmem->round_us;
	if (ivshmem->silent_us > ivshmem->silence_us) {
		link_drop(ivshmem->link, "it says nothing any more");
		return 0;
	}
	suspect_look(ivshmem->link);
	ask(ivshmem);
	return 0;
}

static void answer_ping(struct ivshmem *ivshmem, const struct gid_wire_ping *ping) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_PONG, 0);
	message.pong.ping_time = ping->time;
	message.pong.time = gid_socket_now();
	carrier_send(ivshmem->link, ivshmem->epoch, &message);
}

static void begin_greeting(struct ivshmem *ivshmem) {
	ivshmem->greeting = true;
	link_connected(ivshmem->link);
	if (ivshmem->has_early) {
		int fds[GID_WIRE_FDS_MAX] = {-1, -1};
		ivshmem->has_early = false;
		link_message(ivshmem->link, &ivshmem->early, fds);
	}
}

static void handle_pong(struct ivshmem *ivshmem, const struct gid_wire_pong *pong) {
	uint64_t now = gid_socket_now();
	struct link *link = ivshmem->link;
	clock_add(&ivshmem->clock, pong->ping_time, now, pong->time);
	link->clock_known =
		clock_get(&ivshmem->clock, now, &link->clock_offset, &link->clock_error);
	ivshmem->pongs++;
	if (!ivshmem->greeting && ivshmem->pongs >= FIRST_PINGS) {
		begin_greeting(ivshmem);
	} else if (ivshmem->greeting) {
		subscription_tell_clock(link);
		suspect_answered(link, pong->ping_time);
	}
}

/* --- memory in place of descriptors ----------------------------------------------------------- */

static int dup_window(struct ivshmem *ivshmem) {
	const struct link *link = ivshmem->link;
	const struct window *window = window_find(link->peer.gidd, link->peer.domain);
	return window == NULL ? -1 : fcntl(window->fd, F_DUPFD_CLOEXEC, 0);
}

/* The descriptors that the message would have come with on one machine. */
static int make_fds(struct ivshmem *ivshmem, const union gid_wire_message *message,
	int fds[static GID_WIRE_FDS_MAX]) {
	uint32_t type = message->header.type;
	if (type != GID_WIRE_SUBSCRIBE && type != GID_WIRE_ACCEPT && type != GID_WIRE_IMPORTED) {
		return 0;
	}
	fds[0] = dup_window(ivshmem);
	if (fds[0] < 0) {
		return -EMFILE;
	}
	if (type != GID_WIRE_SUBSCRIBE) {
		return 0;
	}
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
		return -errno;
	}
	fds[1] = pair[1];
	return bells_add(&ivshmem->bells, message->subscribe.subscription, pair[0]);
}

static void handle_message(struct ivshmem *ivshmem, const union gid_wire_message *message) {
	int fds[GID_WIRE_FDS_MAX] = {-1, -1};
	if (!ivshmem->greeting) {
		ivshmem->has_early = true;
		ivshmem->early = *message;
		return;
	}
	if (make_fds(ivshmem, message, fds) < 0) {
		link_drop(ivshmem->link, "gidd has no descriptor left");
	} else {
		link_message(ivshmem->link, message, fds);
	}
	gid_socket_close_fds(fds, GID_WIRE_FDS_MAX);
}

/* --- what the carrier brings ------------------------------------------------------------------ */

void ivshmem_receive(
	struct gidd *gidd, uint32_t domain, uint32_t epoch, const union gid_wire_message *message) {
	struct ivshmem *ivshmem = ivshmem_find(gidd, domain);
	if (ivshmem == NULL || !ivshmem->there || ivshmem->parting || epoch != ivshmem->epoch) {
		return;
	}
	ivshmem->silent_us = 0;
	switch (message->header.type) {
	case GID_WIRE_BELL:
		ivshmem_handle_bell(ivshmem, &message->bell);
		break;
	case GID_WIRE_DEVICE:
		ivshmem_handle_device(ivshmem, &message->device);
		break;
	case GID_WIRE_PING:
		answer_ping(ivshmem, &message->ping);
		break;
	case GID_WIRE_PONG:
		handle_pong(ivshmem, &message->pong);
		break;
	default:
		handle_message(ivshmem, message);
		break;
	}
}

void ivshmem_down(struct gidd *gidd, uint32_t domain, const char *why) {
	struct ivshmem *ivshmem = ivshmem_find(gidd, domain);
	if (ivshmem == NULL || !ivshmem->there) {
		return;
	}
	bool greeting = ivshmem->greeting;
	ivshmem->there = ivshmem->greeting = ivshmem->parting = ivshmem->has_early = false;
	sd_event_source_set_enabled(ivshmem->part, SD_EVENT_OFF);
	sd_event_source_set_enabled(ivshmem->ping, SD_EVENT_OFF);
	ivshmem->link->clock_known = false;
	ivshmem->device = 0;
	ivshmem->link->has_device = false;
	if (greeting) {
		link_lost(ivshmem->link, why);
	} else {
		snprintf(ivshmem->link->why, sizeof(ivshmem->link->why), "%s", why);
	}
	/* Clients hear from their doorbells that it is over, and give back what they lent. */
	bells_finish(&ivshmem->bells);
}

void ivshmem_up(struct gidd *gidd, uint32_t domain, uint32_t epoch) {
	struct ivshmem *ivshmem = ivshmem_find(gidd, domain);
	if (ivshmem == NULL) {
		return;
	}
	ivshmem_down(gidd, domain, "it began anew");
	ivshmem->there = true;
	ivshmem->epoch = epoch;
	ivshmem->pongs = 0;
	ivshmem->clock = (struct clock){0};
	ivshmem->silent_us = 0;
	const char *missing = window_find(gidd, domain) == NULL ? ivshmem->link->remote->name
		: window_find(gidd, gidd->self->number) == NULL ? gidd->self->name
								: NULL;
	if (missing != NULL) {
		char why[128];
		snprintf(why, sizeof(why), "the window of domain %s is not there", missing);
		link_drop(ivshmem->link, why);
		return;
	}
	ivshmem_send_device(ivshmem);
	ask(ivshmem);
}

/* --- the kind --------------------------------------------------------------------------------- */

static int handle_part(sd_event_source *source, void *data) {
	struct ivshmem *ivshmem = data;
	carrier_part(ivshmem->link, ivshmem->epoch, ivshmem->parting_for_fault, ivshmem->why);
	return 0;
}

static void ivshmem_drop(struct link *link, bool fault, const char *why) {
	struct ivshmem *ivshmem = link->transport;
	if (ivshmem->there && !ivshmem->parting) {
		ivshmem->parting = true;
		ivshmem->parting_for_fault = fault;
		snprintf(ivshmem->why, sizeof(ivshmem->why), "%s", why);
		sd_event_source_set_enabled(ivshmem->part, SD_EVENT_ONESHOT);
	}
}

static void ivshmem_send(struct link *link, const union gid_wire_message *message, const int *fds,
	uint32_t fd_count) {
	struct ivshmem *ivshmem = link->transport;
	if (message->header.type == GID_WIRE_SUBSCRIBE) {
		int bell = fcntl(fds[1], F_DUPFD_CLOEXEC, 0);
		if (bell < 0 ||
			bells_add(&ivshmem->bells, message->subscribe.subscription, bell) < 0) {
			link_drop(link, "gidd has no descriptor left");
			return;
		}
	}
	if (!ivshmem->parting) {
		carrier_send(link, ivshmem->epoch, message);
	}
}

static void ivshmem_close(struct link *link) {
	struct ivshmem *ivshmem = link->transport;
	sd_event_source_disable_unref(ivshmem->part);
	sd_event_source_disable_unref(ivshmem->ping);
	bells_finish(&ivshmem->bells);
	free(ivshmem);
}

/* `silence=SECONDS` is all that there is to be set. */
static int read_settings(const struct config_link *config, uint64_t *silence_us) {
	const struct config_setting *setting;
	*silence_us = SILENCE_DEFAULT_S * UINT64_C(1000000);
	if (config == NULL) {
		return 0;
	}
	TAILQ_FOREACH(setting, &config->settings, entry) {
		char *end;
		unsigned long seconds = strtoul(setting->value, &end, 10);
		if (strcmp(setting->key, "silence") != 0) {
			log_error("line %u: a link of kind ivshmem has no \"%s\"", setting->line,
				setting->key);
			return -EINVAL;
		}
		if (*end != '\0' || seconds < 1 || seconds > SILENCE_MAX_S) {
			log_error("line %u: silence=%s is not a number of seconds from 1 to %u",
				setting->line, setting->value, SILENCE_MAX_S);
			return -EINVAL;
		}
		*silence_us = seconds * UINT64_C(1000000);
	}
	return 0;
}

static int ivshmem_open(struct link *link) {
	struct gidd *gidd = link->peer.gidd;
	uint64_t silence_us;
	if (read_settings(link->config, &silence_us) < 0) {
		return -EINVAL;
	}
	struct ivshmem *ivshmem = calloc(1, sizeof(*ivshmem));
	if (ivshmem == NULL) {
		return -ENOMEM;
	}
	link->transport = ivshmem;
	ivshmem->link = link;
	ivshmem->silence_us = silence_us;
	bells_init(&ivshmem->bells, gidd->event, ivshmem_client_rang, ivshmem);
	int error = sd_event_add_defer(gidd->event, &ivshmem->part, handle_part, ivshmem);
	if (error >= 0) {
		error = sd_event_source_set_enabled(ivshmem->part, SD_EVENT_OFF);
	}
	if (error >= 0) {
		error = sd_event_add_time_relative(gidd->event, &ivshmem->ping, CLOCK_MONOTONIC, 0,
			FIRST_PING_US, handle_ping_due, ivshmem);
	}
	if (error >= 0) {
		error = sd_event_source_set_enabled(ivshmem->ping, SD_EVENT_OFF);
	}
	if (error < 0) {
		ivshmem_close(link);
		return error;
	}
	return 0;
}

LINK_KIND(kind_ivshmem) = {
	.name = "ivshmem",
	.windows_only = true,
	.open = ivshmem_open,
	.send = ivshmem_send,
	.drop = ivshmem_drop,
	.close = ivshmem_close,
};
