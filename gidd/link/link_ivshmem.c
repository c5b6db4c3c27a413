// SPDX-License-Identifier: MIT
/*
 * A link between domains of different machines: messages go through the hub, memory is in windows.
 *
 * No descriptor crosses. For a descriptor of memory, which lies in the sender's window, the
 * receiver uses its own read-only descriptor of that window. For a doorbell each side keeps one end
 * of a socket pair, and rings pass between them by the doorbell device if both ends hear it, else
 * as BELL messages. A ring of the device names no subscription: it counts for all of them.
 * Subscriptions that have vectors of their own ring past gidd (subscription_bells.h): only their
 * ends pass here.
 */
#include "link_ivshmem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "closer.h"
#include "doorbell.h"
#include "doorbell_device.h"
#include "doorbell_relay.h"
#include "link.h"
#include "log.h"
#include "peer_clock.h"
#include "shm_window.h"
#include "socket.h"

#define FIRST_PINGS 5u /* before anything else, to know the clock from the start */
#define FIRST_PING_US 5000u
#define PING_US 1000000u /* at most: a silent peer was asked ten times before it counts as gone */
#define SILENCE_DEFAULT_US (10 * UINT64_C(1000000))
#define SILENCE_MAX_S 3600

/* The link's section. */
struct settings {
	uint64_t silence_us; /* 0: not set */
};

static const struct ini_key keys[] = {
		CONFIG_LINK_KIND,
		{"silence", INI_NUMBER, INI_MEMBER(struct settings, silence_us), .least = 1,
				.most = SILENCE_MAX_S, .unit = 1000000},
};

struct ivshmem {
	struct link *link;
	bool there;    /* the hub has joined the two ends */
	bool greeting; /* link_connected() was called */
	bool parting, parting_for_fault;
	bool told; /* of the clock, since the last PING */
	uint32_t epoch, pongs;
	char why[192];
	sd_event_source *part, *ping;
	/*
	 * The limit for a silent peer, and how long it was silent. Counted in our own rounds, not
	 * by the clock: while this gidd gets no processor it cannot hear anybody.
	 */
	uint64_t silence_us, silent_us, round_us;
	struct doorbell_relay relay;
	uint64_t device; /* the cookie of the device that the other end hears; 0: none */
	struct peer_clock clock;
	/* HELLO, if it came during the first pings. */
	bool has_early;
	union gid_wire_message early;
};

/* The link of this kind to the domain, or NULL. */
static struct ivshmem *find(struct gidd *gidd, uint32_t domain) {
	struct link *link = link_find(gidd, domain);
	return link != NULL && link->kind->windows_only ? link->kind_data : NULL;
}

/* --- clock and liveness ----------------------------------------------------------------------- */

/* Sends a message to the other end, as long as the same epoch lasts. */
static void carry(struct ivshmem *ivshmem, const union gid_wire_message *message) {
	struct link *link = ivshmem->link;
	struct transport *transport = link->peer.gidd->transport;
	transport->kind->send(transport, link->peer.domain, ivshmem->epoch, message);
}

static void send_ping(struct ivshmem *ivshmem) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_PING, ++ivshmem->link->peer.gidd->transport->pings);
	message.ping.time = gid_clock_now();
	carry(ivshmem, &message);
}

/* Sends a ping, for the clock and for liveness, and arms the timer of the next. */
static void ask(struct ivshmem *ivshmem) {
	uint64_t round_us = ivshmem->silence_us / 10 < PING_US ? ivshmem->silence_us / 10 : PING_US;
	ivshmem->round_us = ivshmem->pongs < FIRST_PINGS ? FIRST_PING_US : round_us;
	ivshmem->told = false;
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
		link_drop(ivshmem->link, "it has been silent for too long");
		return 0;
	}
	link_tick(ivshmem->link, ivshmem->round_us);
	link_inspect(ivshmem->link);
	ask(ivshmem);
	return 0;
}

static void answer_ping(struct ivshmem *ivshmem, const struct gid_wire_ping *ping) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_PONG, 0);
	message.pong.ping_time = ping->time;
	message.pong.time = gid_clock_now();
	carry(ivshmem, &message);
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

/*
 * Once for each PING, however many answers come: each is a message to all clients that read from
 * there, which would not keep up.
 */
static void tell_clock(struct ivshmem *ivshmem) {
	if (!ivshmem->told) {
		ivshmem->told = true;
		ivshmem->link->events->clock(ivshmem->link);
	}
}

static void handle_pong(struct ivshmem *ivshmem, const struct gid_wire_pong *pong) {
	uint64_t now = gid_clock_now();
	struct link *link = ivshmem->link;
	peer_clock_add(&ivshmem->clock, pong->ping_time, now, pong->time);
	link->clock_known = peer_clock_get(
			&ivshmem->clock, now, &link->clock_offset, &link->clock_error);
	ivshmem->pongs++;
	if (!ivshmem->greeting && ivshmem->pongs >= FIRST_PINGS) {
		begin_greeting(ivshmem);
	} else if (ivshmem->greeting) {
		tell_clock(ivshmem);
		link_pong(link, pong->ping_time);
	}
}

/* --- doorbells -------------------------------------------------------------------------------- */

/* Whether both ends hear the same device. */
static bool has_device(const struct ivshmem *ivshmem) {
	return ivshmem->device != 0 && ivshmem->device == doorbell_cookie(ivshmem->link->peer.gidd);
}

static void handle_client_rang(void *data, uint32_t number, bool hung_up) {
	struct ivshmem *ivshmem = data;
	struct link *link = ivshmem->link;
	if (!hung_up && !link->events->should_ring(link, number)) {
		return;
	}
	if (!hung_up && has_device(ivshmem) && doorbell_ring(link->peer.gidd, link->peer.domain)) {
		link->rings.by_device++;
		return;
	}
	link->rings.by_message += !hung_up;
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_BELL, 0);
	message.bell.subscription = number;
	message.bell.hung_up = hung_up;
	carry(ivshmem, &message);
}

static void handle_bell(struct ivshmem *ivshmem, const struct gid_wire_bell *bell) {
	struct link *link = ivshmem->link;
	if (bell->hung_up == 1) {
		doorbell_relay_hang_up(&ivshmem->relay, bell->subscription);
	} else {
		link->heard.by_message++;
		link->events->rung(link, bell->subscription);
	}
}

void link_ivshmem_rung(struct gidd *gidd, uint32_t domain) {
	struct ivshmem *ivshmem = find(gidd, domain);
	if (ivshmem != NULL && ivshmem->there) {
		ivshmem->link->heard.by_device++;
		ivshmem->link->events->rung(ivshmem->link, 0);
	}
}

static void send_device(struct ivshmem *ivshmem) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_DEVICE, GID_WIRE_TAKES_VECTORS);
	message.device.cookie = doorbell_cookie(ivshmem->link->peer.gidd);
	if (message.device.cookie != 0) {
		carry(ivshmem, &message);
	}
}

static void handle_device(struct ivshmem *ivshmem, const struct gid_wire_device *device) {
	struct link *link = ivshmem->link;
	ivshmem->device = device->cookie;
	link->has_device = has_device(ivshmem);
	link->takes_vectors = link->has_device && device->header.serial == GID_WIRE_TAKES_VECTORS;
	peer_log(&link->peer, LOG_LEVEL_INFO, "doorbells go %s",
			link->has_device ? "by the device"
					 : "over the link: the devices are not of one hub");
}

/* --- memory in place of descriptors ----------------------------------------------------------- */

/* Finds the places in windows that the message names: up to two, all in one window. */
static uint32_t find_places(union gid_wire_message *message, uint64_t *places[static 2]) {
	switch ((enum gid_wire_type)message->header.type) {
	case GID_WIRE_SUBSCRIBE:
		places[0] = &message->subscribe.window_offset;
		return 1;
	case GID_WIRE_ACCEPT:
		places[0] = &message->subscribed.window_offset;
		return 1;
	case GID_WIRE_IMPORTED:
		places[0] = &message->imported.offset;
		places[1] = &message->imported.generations;
		return 2;
	default:
		return 0;
	}
}

/* Replaces the descriptor with the number of our window. */
static void put_window(struct ivshmem *ivshmem, union gid_wire_message *message, const int *fds) {
	struct gidd *gidd = ivshmem->link->peer.gidd;
	uint64_t *places[2];
	uint32_t count = find_places(message, places);
	const struct shm_window *window =
			count == 0 ? NULL : shm_window_of(gidd, gidd->self->number, fds[0]);
	for (uint32_t i = 0; window != NULL && i < count; i++) {
		*places[i] = shm_window_place(window, *places[i]);
	}
}

/*
 * Takes a descriptor of the other end's window, and turns places into offsets in it. 0: done, or
 * the message names none; -ENOENT: there is no such window here; -EMFILE.
 */
static int take_window(struct ivshmem *ivshmem, union gid_wire_message *message, int *fd) {
	const struct link *link = ivshmem->link;
	uint64_t *places[2];
	uint32_t count = find_places(message, places);
	if (count == 0) {
		return 0;
	}
	uint32_t number = gid_wire_window_number(*places[0]);
	const struct shm_window *window =
			shm_window_find(link->peer.gidd, link->peer.domain, number);
	for (uint32_t i = 0; i < count; i++) {
		if (window == NULL || !shm_window_offset(window, *places[i], places[i])) {
			return -ENOENT;
		}
	}
	*fd = fcntl(window->fd, F_DUPFD_CLOEXEC, 0);
	return *fd < 0 ? -EMFILE : 0;
}

/* Makes the descriptors with which the message would come on one machine. */
static int make_fds(struct ivshmem *ivshmem, union gid_wire_message *message,
		int fds[static GID_WIRE_FDS_MAX]) {
	int error = take_window(ivshmem, message, &fds[0]);
	if (error < 0 || message->header.type != GID_WIRE_SUBSCRIBE) {
		return error;
	}
	struct gid_doorbell bell;
	error = gid_doorbell_create(&bell, &fds[1]);
	if (error < 0) {
		return error;
	}
	error = doorbell_relay_add(&ivshmem->relay, message->subscribe.subscription, &bell);
	if (error < 0) {
		gid_doorbell_finish(&bell);
	}
	return error;
}

static void handle_message(struct ivshmem *ivshmem, const union gid_wire_message *message) {
	int fds[GID_WIRE_FDS_MAX] = {-1, -1};
	union gid_wire_message copy = *message;
	if (!ivshmem->greeting) {
		ivshmem->has_early = true;
		ivshmem->early = *message;
		return;
	}
	int error = make_fds(ivshmem, &copy, fds);
	if (error == -ENOENT) {
		link_fault(ivshmem->link, "its memory is in no window that is shared with us");
	} else if (error < 0) {
		link_drop(ivshmem->link, "gidd has no descriptor left");
	} else {
		link_message(ivshmem->link, &copy, fds);
	}
	gid_socket_close_fds(fds, GID_WIRE_FDS_MAX);
}

/* --- events of the transport ------------------------------------------------------------------ */

static void handle_receive(struct gidd *gidd, uint32_t domain, uint32_t epoch,
		const union gid_wire_message *message) {
	struct ivshmem *ivshmem = find(gidd, domain);
	if (ivshmem == NULL || !ivshmem->there || ivshmem->parting || epoch != ivshmem->epoch) {
		return;
	}
	ivshmem->silent_us = 0;
	switch (message->header.type) {
	case GID_WIRE_BELL:
		handle_bell(ivshmem, &message->bell);
		break;
	case GID_WIRE_DEVICE:
		handle_device(ivshmem, &message->device);
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

static void go_down(struct ivshmem *ivshmem, const char *why) {
	if (!ivshmem->there) {
		return;
	}
	bool greeting = ivshmem->greeting;
	ivshmem->there = ivshmem->greeting = ivshmem->parting = ivshmem->has_early = false;
	sd_event_source_set_enabled(ivshmem->part, SD_EVENT_OFF);
	sd_event_source_set_enabled(ivshmem->ping, SD_EVENT_OFF);
	ivshmem->link->clock_known = false;
	ivshmem->device = 0;
	ivshmem->link->has_device = ivshmem->link->takes_vectors = false;
	if (greeting) {
		link_lost(ivshmem->link, why);
	} else {
		snprintf(ivshmem->link->why, sizeof(ivshmem->link->why), "%s", why);
	}
	/* Clients learn from their doorbells that it is over, and release what they hold. */
	doorbell_relay_finish(&ivshmem->relay);
}

static void handle_down(struct gidd *gidd, uint32_t domain, const char *why) {
	const struct link *link;
	TAILQ_FOREACH(link, &gidd->links, entry) {
		if (link->kind->windows_only && (domain == 0 || link->peer.domain == domain)) {
			go_down(link->kind_data, why);
		}
	}
}

static void handle_up(struct gidd *gidd, uint32_t domain, uint32_t epoch) {
	struct ivshmem *ivshmem = find(gidd, domain);
	if (ivshmem == NULL) {
		return;
	}
	go_down(ivshmem, "it started again");
	ivshmem->there = true;
	ivshmem->epoch = epoch;
	ivshmem->pongs = 0;
	ivshmem->clock = (struct peer_clock){0};
	ivshmem->silent_us = 0;
	struct domain_set alone =
			config_reader_alone(gidd->config, gidd->self, ivshmem->link->remote);
	const char *missing = !shm_window_open_all(gidd, domain)    ? ivshmem->link->remote->name
			: shm_window_find_for(gidd, &alone) == NULL ? gidd->self->name
								    : NULL;
	if (missing != NULL) {
		char why[128];
		snprintf(why, sizeof(why), "the window of domain %s is not there", missing);
		link_drop(ivshmem->link, why);
		return;
	}
	send_device(ivshmem);
	ask(ivshmem);
}

static void handle_fault(struct gidd *gidd, uint32_t domain, const char *why) {
	struct link *link = link_find(gidd, domain);
	if (link != NULL) {
		link_note_fault(link, why);
	}
}

static void handle_unreachable(struct gidd *gidd, const char *why) {
	struct link *link;
	TAILQ_FOREACH(link, &gidd->links, entry) {
		if (link->kind->windows_only) {
			snprintf(link->why, sizeof(link->why), "%s", why);
		}
	}
}

const struct transport_events link_ivshmem_events = {
		.up = handle_up,
		.down = handle_down,
		.receive = handle_receive,
		.fault = handle_fault,
		.unreachable = handle_unreachable,
};

/* --- the kind --------------------------------------------------------------------------------- */

static int handle_part(sd_event_source *source, void *data) {
	struct ivshmem *ivshmem = data;
	struct gidd *gidd = ivshmem->link->peer.gidd;
	gidd->transport->kind->part(gidd->transport, ivshmem->link->peer.domain, ivshmem->epoch,
			ivshmem->parting_for_fault, ivshmem->why);
	return 0;
}

static void ivshmem_drop(struct link *link, bool fault, const char *why) {
	struct ivshmem *ivshmem = link->kind_data;
	if (ivshmem->there && !ivshmem->parting) {
		ivshmem->parting = true;
		ivshmem->parting_for_fault = fault;
		snprintf(ivshmem->why, sizeof(ivshmem->why), "%s", why);
		sd_event_source_set_enabled(ivshmem->part, SD_EVENT_ONESHOT);
	}
}

/* Relays the doorbell of a subscribing client. `fd` stays the caller's. */
static int relay_client(struct ivshmem *ivshmem, uint32_t number, int fd) {
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0) {
		return -errno;
	}
	struct gid_doorbell bell;
	uint64_t giver = gid_closer_charge(0); /* the sender of this message is charged */
	gid_closer_charge(giver);
	int error = gid_doorbell_take(&bell, copy, giver);
	if (error == 0) {
		error = doorbell_relay_add(&ivshmem->relay, number, &bell);
	}
	if (error < 0) {
		gid_closer_close(copy);
	}
	return error;
}

static void ivshmem_send(struct link *link, const union gid_wire_message *message, const int *fds,
		uint32_t fd_count) {
	struct ivshmem *ivshmem = link->kind_data;
	if (message->header.type == GID_WIRE_SUBSCRIBE) {
		if (relay_client(ivshmem, message->subscribe.subscription, fds[1]) < 0) {
			link_drop(link, "gidd has no descriptor left");
			return;
		}
	}
	if (!ivshmem->parting) {
		union gid_wire_message placed = *message;
		put_window(ivshmem, &placed, fds);
		carry(ivshmem, &placed);
	}
}

static void ivshmem_ring(struct link *link, uint32_t number) {
	struct ivshmem *ivshmem = link->kind_data;
	doorbell_relay_ring(&ivshmem->relay, number);
}

static void ivshmem_forget(struct link *link, uint32_t number, bool waits) {
	struct ivshmem *ivshmem = link->kind_data;
	if (waits) {
		doorbell_relay_let_go(&ivshmem->relay, number);
	} else {
		doorbell_relay_end(&ivshmem->relay, number);
	}
}

static void ivshmem_close(struct link *link) {
	struct ivshmem *ivshmem = link->kind_data;
	sd_event_source_disable_unref(ivshmem->part);
	sd_event_source_disable_unref(ivshmem->ping);
	doorbell_relay_finish(&ivshmem->relay);
	free(ivshmem);
}

static int ivshmem_open(struct link *link) {
	struct gidd *gidd = link->peer.gidd;
	const struct settings *settings = link->config != NULL ? link->config->settings : NULL;
	bool is_set = settings != NULL && settings->silence_us > 0;
	struct ivshmem *ivshmem = calloc(1, sizeof(*ivshmem));
	if (ivshmem == NULL) {
		return -ENOMEM;
	}
	link->kind_data = ivshmem;
	ivshmem->link = link;
	ivshmem->silence_us = is_set ? settings->silence_us : SILENCE_DEFAULT_US;
	/* A machine that may be silent for so long may also greet as slowly. */
	if (link->greeting_max_us < ivshmem->silence_us) {
		link->greeting_max_us = ivshmem->silence_us;
	}
	doorbell_relay_init(&ivshmem->relay, gidd->event, handle_client_rang, ivshmem);
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
		.keys = {INI_KEY_TABLE("a link of kind ivshmem", keys), sizeof(struct settings)},
		.windows_only = true,
		.open = ivshmem_open,
		.send = ivshmem_send,
		.drop = ivshmem_drop,
		.ring = ivshmem_ring,
		.forget = ivshmem_forget,
		.close = ivshmem_close,
};
