// SPDX-License-Identifier: MIT
/** A program of this domain that is connected to its gidd. */
#ifndef GIDD_CLIENT_H
#define GIDD_CLIENT_H

#include "domain_set.h"
#include "gidd.h"
#include "packet_stream.h"

struct client {
	TAILQ_ENTRY(client) entry;
	struct peer peer;
	struct packet_stream stream;
	sd_event_source *patience; /* for HELLO; NULL once that came */
	uint64_t id;
	char program[64];
	pid_t pid;
	uid_t uid;
	char user[CONFIG_USER_MAX +
			1]; /* as its section has it, else its number; "": nobody asked */
	uint64_t used[QUOTA_COUNT];
	bool takes_sealed;    /* to be told whether the domain is sealed */
	bool takes_doorbells; /* eventfds past us, for its subscriptions to other machines */
	bool wants_report;    /* it has asked for one, and not got it yet */
	bool has_report;      /* it was sent one, and may not have read it yet */
	/* By the last reading of the configuration, of a stream of its: */
	bool lost_readers;		/* programs of some user */
	struct domain_set lost_domains; /* other domains */
	uint32_t report_serial;		/* of its request */
	uint64_t report_turn;		/* when it asked, among all requests for reports */
	struct slabs slabs;
	struct streams streams;
};

/* What is told of clients, from the event loop: see gidd->client_events. */
struct client_events {
	/* All but greetings. Descriptors that are kept are set to -1. */
	void (*message)(struct client *client, const union gid_wire_message *message,
			int fds[static GID_WIRE_FDS_MAX]);
	/* It is gone: everything that it had is to be cleaned up. */
	void (*gone)(struct client *client);
};

/* What the configuration lets its user do. */
bool client_may_publish(struct client *client, const char *stream);
bool client_may_read(struct client *client, const char *stream);
bool client_may_read_all(struct client *client);
bool client_may_import(struct client *client);
bool client_may_ask_for_status(struct client *client);
/* The user of the section that says so: its own name or number, or "*". */
const char *client_section_name(struct client *client);
/* Whether the client is to see in reports only what its user may read. */
bool client_sees_a_part(struct client *client);

/*
 * Whether all programs of its user together may have so much more; connections are counted with
 * this one. Returns 0, or -EDQUOT with a sentence.
 */
int client_check_user_quota(
		struct client *client, enum quota quota, uint64_t amount, char why[static 192]);

/* Tells all that take it whether the domain is sealed. */
void client_tell_sealed(struct gidd *gidd);

/* A connection came in on the domain's socket. Takes `fd` over. */
void client_create(struct gidd *gidd, int fd);
/* With everything that it had. */
void client_destroy(struct client *client);

#endif
