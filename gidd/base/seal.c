// SPDX-License-Identifier: MIT
#include "seal.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "closer.h"
#include "log.h"
#include "packet_stream.h"

#define S_US UINT64_C(1000000)

bool seal_is_on(const struct gidd *gidd) {
	return gidd->seal.since != 0;
}

bool seal_is_for(uint32_t uid) {
	return uid == 0 || uid == geteuid();
}

/* Made once, when the domain is sealed: the first look at the time zone reads files. */
static void write_text(struct gidd *gidd) {
	struct seal *seal = &gidd->seal;
	time_t since = (time_t)seal->since;
	struct tm utc;
	char when[32] = "";
	if (gmtime_r(&since, &utc) != NULL) {
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &utc);
	}
	snprintf(seal->text, sizeof(seal->text),
			"domain %s is sealed since %s UTC: nothing new is granted until "
			"`gidctl unseal`",
			gidd->self->name, when);
}

void seal_set(struct gidd *gidd, bool on, const char *who) {
	if (on == seal_is_on(gidd)) {
		return;
	}
	time_t now = time(NULL);
	gidd->seal.since = !on ? 0 : now > 0 ? (uint64_t)now : 1;
	if (on) {
		write_text(gidd);
	}
	/* While sealed, gidd allocates no queue: a peer that does not read loses its connection. */
	packet_stream_let_wait(!on);
	gid_closer_settle(on);
	gidd->seal.changed(gidd);
	log_info("%s by %s", on ? "sealed: nothing new is granted" : "unsealed", who);
}

static int handle_due(sd_event_source *source, uint64_t now, void *data) {
	seal_set(data, true, "the configuration (seal=)");
	return 0;
}

int seal_init(struct gidd *gidd) {
	return gidd->self->seal_s == 0
			? 0
			: sd_event_add_time_relative(gidd->event, &gidd->seal.due, CLOCK_MONOTONIC,
					  gidd->self->seal_s * S_US, 0, handle_due, gidd);
}

void seal_finish(struct gidd *gidd) {
	gidd->seal.due = sd_event_source_disable_unref(gidd->seal.due);
	packet_stream_let_wait(true);
	if (seal_is_on(gidd)) {
		gid_closer_settle(false);
	}
	gidd->seal.since = 0;
}

/* --- refusals --------------------------------------------------------------------------------- */

/* SUBSCRIBER and ACCEPT have no answer; the functions that handle them check the seal. */
static bool asks_for_more(const union gid_wire_message *message) {
	switch (message->header.type) {
	case GID_WIRE_EXPORT:
	case GID_WIRE_IMPORT:
	case GID_WIRE_ALLOC:
	case GID_WIRE_PUBLISH:
	case GID_WIRE_SUBSCRIBE:
		return true;
	case GID_WIRE_GRANT:
		return message->grant.allow != 0;
	default:
		return false;
	}
}

bool seal_refuses(struct peer *peer, const union gid_wire_message *message) {
	const struct gidd *gidd = peer->gidd;
	if (!seal_is_on(gidd) || !asks_for_more(message)) {
		return false;
	}
	peer_log(peer, LOG_LEVEL_WARNING, "refused: %s", gidd->seal.text);
	peer_result(peer, message->header.serial, -ESHUTDOWN, 0, "%s", gidd->seal.text);
	return true;
}

void seal_put(const struct gidd *gidd, union gid_wire_message *message) {
	gid_wire_begin(message, GID_WIRE_SEALED, 0);
	message->seal.on = seal_is_on(gidd);
	message->seal.since = gidd->seal.since;
}
