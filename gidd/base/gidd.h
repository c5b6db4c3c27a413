// SPDX-License-Identifier: MIT
/**
 * The daemon of one domain: what all its parts share.
 *
 * One thread, one event loop, nothing ever waits for a peer. Its layers are folders: core, link,
 * transport (between machines), machine, base. Calls go downwards, and what happens below is told
 * upwards by tables of events.
 */
#ifndef GIDD_GIDD_H
#define GIDD_GIDD_H

#include <systemd/sd-event.h>

#include "config.h"
#include "peer.h"

struct client;
struct client_events;
struct doorbell;
struct gidd;
struct link;
struct reload;
struct slab;
struct slab_request;
struct stream;
struct transport;
struct shm_own_windows;
struct shm_waiting;
struct shm_window;
struct withdraw_events;
SLIST_HEAD(shm_windows, shm_window);
TAILQ_HEAD(clients, client);
TAILQ_HEAD(links, link);
TAILQ_HEAD(slabs, slab);
TAILQ_HEAD(slab_requests, slab_request);
TAILQ_HEAD(streams, stream);

/* The sealed phase: see seal.h. */
struct seal {
	uint64_t since;			    /* seconds since 1970; 0: it is not sealed */
	sd_event_source *due;		    /* seal= of the configuration; NULL: there is none */
	char text[192];			    /* what is said to those who ask for more */
	void (*changed)(struct gidd *gidd); /* it is sealed now, or no more */
};

struct gidd {
	sd_event *event;
	const struct config *config;
	const struct config_domain *self;
	const char *runtime;   /* folder of the sockets */
	struct reload *reload; /* NULL: it reads no file */
	struct seal seal;

	struct clients clients;
	const struct client_events *client_events;
	uint64_t used[QUOTA_COUNT]; /* by all clients together */
	uint64_t client_count;	    /* ever */
	sd_event_source *report;    /* when the next one is due */
	uint64_t report_due_us;	    /* no report is made before */
	uint64_t report_requests;   /* ever */

	struct slabs slabs; /* of this domain, and of others as far as somebody here has them */
	struct slab_book *slab_book; /* who had which number before; NULL: that is not known */
	uint32_t slab_first;	     /* the first number that this run has given, from 0, */
	uint64_t slab_issued;	     /* and how many */
	struct slab_requests slab_requests;
	sd_event_source *revalidations[GID_DOMAIN_MAX + 1]; /* of other domains' slabs */
	struct streams streams;
	/* When other domains are told of them; off or NULL: they know already. */
	sd_event_source *offers;
	struct subscriptions subscriptions; /* in either direction */
	struct subscriptions over; /* whose doorbell is to be closed: the oldest one first, */
	sd_event_source *closing;  /* and when that is due; off or NULL: nothing waits */
	uint32_t stream_number, subscription_number;
	/* When deferred requests to producers are due; off or NULL: there are none. */
	sd_event_source *asks;

	struct links links;
	const struct withdraw_events *withdraw_events;
	sd_event_source *eviction;   /* NULL: no memory is to be emptied */
	struct transport *transport; /* of one that is joined to others by the hub, or is the hub */
	struct doorbell *doorbell;   /* NULL: rings go over the links */
	struct shm_windows windows[GID_DOMAIN_MAX + 1]; /* by domain; as far as they are open */
	struct shm_own_windows
			*own_windows; /* of our own windows; NULL: the hub has said nothing */
	struct shm_waiting *waiting;  /* requests for memory from before that, */
	sd_event_source *patience;    /* and their time limit; NULL: nobody waits */
};

#endif
