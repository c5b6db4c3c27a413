// SPDX-License-Identifier: MIT
/*
 * The hub, and the host's gidd behind it, with two guests that say anything in any order over their
 * streams of bytes: valid messages about few things, in the right epoch or not, broken ones, plain
 * bytes, hang-ups. They write anything into their windows, and gidd looks at it, which parts them.
 * A client of the host has a stream and a slab to be asked for, asks for theirs, and says anything,
 * too. Whatever happens, all that the hub says is right by the wire, and when the guests are gone
 * nothing is left of them.
 *
 * The input is a sequence of steps of a few bytes. Windows and sockets are made once.
 */
#include "hub.h"

#include <signal.h>
#include <string.h>

#include "gidd_message.h"
#include "host_client.h"
#include "hub_guest.h"
#include "inside.h"
#include "link.h"
#include "link_ivshmem.h"
#include "remote.h"
#include "shm_window.h"
#include "slabs.h"

#define STEPS_MAX 200

static const char cockpit[] = "[domain open]\nnumber=1\nkind=guest\nwindow=1M\nlocal=*\n"
			      "[domain cluster]\nnumber=2\nkind=guest\nwindow=1M\nlocal=*\n"
			      "[domain host]\nnumber=3\nkind=host\nwindow=1M\nlocal=*\n"
			      "[share open cluster]\nstreams=movie\n"
			      "[share open host]\nstreams=*\n"
			      "[share host open]\nstreams=film\n";

static struct world {
	struct config config;
	struct gidd gidd;
	struct guest guests[GUESTS];
} world;

static void make_world(void) {
	struct gidd *gidd = &world.gidd;
	gidd_message_init();
	inside_init(gidd, &world.config, cockpit, "host");
	inside_make_runtime(gidd);
	signal(SIGPIPE, SIG_IGN);
	demand(remote_open(gidd) == 0);
	for (uint32_t i = 0; i < GUESTS; i++) {
		world.guests[i] = (struct guest){.fd = -1, .number = i + 1};
	}
}

/* As it does before each PING. */
static void look_at(const struct guest *guest) {
	struct link *link = link_find(&world.gidd, guest->number);
	if (link != NULL) {
		link_inspect(link);
	}
}

static void step(struct input *input) {
	uint32_t what = take(input, 32);
	struct guest *guest =
			&world.guests[take(input, 4) != 0 ? 0 : 1]; /* the host's peer mostly */
	if (what < 3) {
		guest_connect(guest, world.gidd.runtime);
		guest_join(guest, 1 + take(input, 4));
	} else if (what == 3) {
		guest_hang_up(guest);
	} else if (what == 4) {
		size_t size = take(input, 64);
		size = size < input->size ? size : input->size;
		guest_put(guest, input->data, size);
		input->data += size;
		input->size -= size;
	} else if (what < 8) {
		guest_greet(guest);
	} else if (what == 8) {
		host_client_connect(&world.gidd);
	} else if (what == 9) {
		host_client_hang_up();
	} else if (what < 12) {
		host_client_subscribe(1 + take(input, 3));
	} else if (what == 12) {
		link_ivshmem_rung(&world.gidd, 1 + take(input, 3));
	} else if (what < 16) {
		guest_write(guest, input);
	} else if (what == 16) {
		look_at(guest);
	} else if (what == 17) {
		host_client_end(1 + take(input, 3));
	} else if (what == 18) {
		guest_accept(guest);
	} else if (what == 19) {
		guest_subscribe(guest);
	} else if (what == 20) {
		guest_answer(guest);
	} else if (what < 24) {
		host_client_say(input);
	} else {
		guest_put_message(guest, input);
	}
	if (take(input, 4) != 0) {
		inside_settle(&world.gidd);
		host_client_listen();
		guest_listen(&world.guests[0]);
		guest_listen(&world.guests[1]);
	}
}

static void begin_joined(void) {
	host_client_connect(&world.gidd);
	for (int i = 0; i < GUESTS; i++) {
		/* Pairs that parted before wait for some time, which is spared here. */
		guest_connect(&world.guests[i], world.gidd.runtime);
		guest_clear(&world.guests[i]);
		guest_join(&world.guests[i], 9);
	}
	struct hub_pair *pair;
	inside_settle(&world.gidd);
	TAILQ_FOREACH(pair, &hub_of(world.gidd.transport)->pairs, entry) {
		sd_event_source_set_time_relative(pair->again, 0);
		pair->back_off_us = 1;
	}
	inside_settle(&world.gidd);
	for (int i = 0; i < GUESTS; i++) {
		host_client_listen();
		guest_listen(&world.guests[i]);
		guest_greet(&world.guests[i]);
		inside_settle(&world.gidd);
	}
}

/* Streams both ways between the host and its first guest. */
static void begin_live(void) {
	host_client_subscribe(1);
	for (int i = 0; i < 2; i++) {
		guest_subscribe(&world.guests[0]);
		guest_accept(&world.guests[0]);
		inside_settle(&world.gidd);
		host_client_listen();
		guest_listen(&world.guests[0]);
	}
}

static void end_all(void) {
	struct gidd *gidd = &world.gidd;
	struct link *link;
	for (int i = 0; i < GUESTS; i++) {
		guest_hang_up(&world.guests[i]);
	}
	inside_settle(&world.gidd);
	const struct slab *slab;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		demand(slab->owner != NULL && TAILQ_EMPTY(&slab->importers));
	}
	TAILQ_FOREACH(link, &gidd->links, entry) {
		demand(link->state == LINK_DOWN && TAILQ_EMPTY(&link->requests));
		demand(TAILQ_EMPTY(&link->peer.consuming) && TAILQ_EMPTY(&link->peer.imports));
	}
	host_client_hang_up();
	inside_settle(&world.gidd);
	inside_demand_empty(gidd);
	demand(shm_map_used(&SLIST_FIRST(&gidd->windows[HOST])->map) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (world.gidd.event == NULL) {
		make_world();
	}
	struct input input = {data, size};
	begin_joined();
	uint32_t begun = take(&input, 4);
	if (begun > 1) {
		guest_take_device(&world.guests[0]);
	}
	if (begun != 0) {
		begin_live();
	}
	for (int i = 0; i < STEPS_MAX && input.size > 0; i++) {
		step(&input);
	}
	end_all();
	return 0;
}
