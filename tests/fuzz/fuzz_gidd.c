// SPDX-License-Identifier: MIT
/*
 * A whole gidd, with clients and links that do anything in any order: valid messages about the same
 * few slabs, streams and subscriptions, broken ones, hang-ups, returns. Whatever happens, all that
 * gidd says is right by the wire, and once all are gone it holds nothing.
 *
 * The input is a sequence of steps of a few bytes. Links are of a kind of our own.
 */
#include <fcntl.h>
#include <string.h>

#include "gidd_message.h"
#include "honest_peer.h"
#include "inside.h"
#include "link.h"
#include "local.h"
#include "log.h"
#include "reload.h"
#include "remote.h"
#include "slab_readers.h"
#include "socket.h"
#include "untaken.h"

#define CLIENTS 3
#define LINKS 2

/* --- links ------------------------------------------------------------------------------------ */

struct fuzz_link {
	struct link *link;
	bool connected, dropped;
	struct honest_peer peer;
};
static struct fuzz_link fuzz_links[LINKS];

static int fuzz_open(struct link *link) {
	struct fuzz_link *mine = &fuzz_links[link->remote->number == 1 ? 0 : 1];
	*mine = (struct fuzz_link){.link = link};
	link->kind_data = mine;
	return 0;
}

static void fuzz_send(struct link *link, const union gid_wire_message *message, const int *fds,
		uint32_t fd_count) {
	struct fuzz_link *mine = link->kind_data;
	demand(mine->connected);
	const char *why;
	demand(gid_wire_check(message, message->header.size, fd_count, &why) == 0);
	honest_peer_hear(&mine->peer, message);
	for (uint32_t i = 0; i < fd_count; i++) {
		demand(fcntl(fds[i], F_GETFD) >= 0);
	}
}

static void fuzz_drop(struct link *link, bool fault, const char *why) {
	struct fuzz_link *mine = link->kind_data;
	mine->dropped = true;
}

static void fuzz_close(struct link *link) {
	struct fuzz_link *mine = link->kind_data;
	mine->link = NULL;
}

LINK_KIND(kind_fuzz) = {
		.name = "fuzz",
		.open = fuzz_open,
		.send = fuzz_send,
		.drop = fuzz_drop,
		.close = fuzz_close,
};

/* --- the world -------------------------------------------------------------------------------- */

#define DOMAINS                                                                                    \
	"[domain open]\nnumber=1\n[domain hud]\nnumber=3\n"                                        \
	"[link open cluster]\nkind=fuzz\n[link cluster hud]\nkind=fuzz\n"

/* The first is what gidd begins with; it may read any of them later. */
static const char *const cockpits[] = {
		DOMAINS "[domain cluster]\nnumber=2\nlocal=secret\nslabs=6\nclients=4\nheld=90\n"
			"[share open cluster]\nstreams=movie camera/*\n"
			"[share cluster open]\nstreams=movie camera/*\nheld=100\n"
			"[share cluster hud]\nstreams=movie\n",
		DOMAINS "[domain cluster]\nnumber=2\nslabs=1\nclients=1\n"
			"[share open cluster]\nstreams=camera/*\n"
			"[share cluster hud]\nstreams=movie x\n",
		DOMAINS "[domain cluster]\nnumber=2\n[share cluster open]\nstreams=*\nheld=2\n",
		DOMAINS "[domain cluster]\nnumber=2\n[domain more]\nnumber=4\n",
		DOMAINS "[domain cluster]\nnumber=5\n",
};

static FILE *null_file;

struct world {
	struct config config;
	struct gidd gidd;
	int clients[CLIENTS]; /* our ends, -1: none */
	struct honest_peer peers[CLIENTS];
	bool deaf[CLIENTS]; /* it reads nothing for now */
};

static struct honest_peer *hearing;

static void hear(const union gid_wire_message *message) {
	honest_peer_hear(hearing, message);
}

static void listen_all(struct world *world) {
	for (int i = 0; i < CLIENTS; i++) {
		hearing = &world->peers[i];
		if (!world->deaf[i]) {
			inside_listen(&world->clients[i], hear);
		}
	}
}

static void settle(struct world *world) {
	inside_settle(&world->gidd);
	for (int i = 0; i < LINKS; i++) {
		struct fuzz_link *mine = &fuzz_links[i];
		if (mine->dropped) {
			mine->dropped = mine->connected = false;
			link_lost(mine->link, "dropped");
		}
	}
}

static void connect_client(struct world *world, int which, bool greets) {
	if (world->clients[which] >= 0) {
		return;
	}
	world->clients[which] = inside_connect(&world->gidd);
	world->peers[which] = (struct honest_peer){0};
	world->deaf[which] = false;
	if (greets) {
		union gid_wire_message hello;
		gid_wire_begin(&hello, GID_WIRE_HELLO, 1);
		hello.hello.version = GID_WIRE_VERSION;
		inside_send(world->clients[which], &hello, NULL, 0);
	}
}

static void connect_link(struct fuzz_link *mine, bool greets) {
	if (mine->connected) {
		return;
	}
	mine->connected = true;
	link_connected(mine->link);
	if (!greets) {
		return;
	}
	struct gidd *gidd = mine->link->peer.gidd;
	bool listens = gidd->self->number < mine->link->remote->number;
	union gid_wire_message message;
	int fds[2] = {-1, -1};
	gid_wire_begin(&message, listens ? GID_WIRE_HELLO : GID_WIRE_WELCOME, 0);
	message.hello.version = GID_WIRE_VERSION;
	message.hello.domain = mine->link->remote->number;
	strcpy(message.hello.name, mine->link->remote->name);
	link_message(mine->link, &message, fds);
}

static void link_say(struct fuzz_link *mine, const union gid_wire_message *message, const int *fds,
		uint32_t fd_count) {
	int own[2] = {-1, -1};
	const char *why;
	if (!mine->connected || mine->dropped ||
			gid_wire_check(message, message->header.size, fd_count, &why) < 0) {
		return;
	}
	for (uint32_t i = 0; i < fd_count; i++) {
		own[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
	}
	link_message(mine->link, message, own);
	gid_socket_close_fds(own, 2);
}

static void send_on_link(struct fuzz_link *mine, struct input *input) {
	union gid_wire_message message;
	int fds[2];
	uint32_t fd_count = gidd_message_make(&message, fds, input);
	if (message.header.type == GID_WIRE_IMPORTED && take(input, 8) != 0) {
		message.header.serial = mine->peer.asked.header.serial;
		message.imported.domain = gid_domain_of(mine->peer.asked.gid);
		message.imported.slab = gid_slab_of(mine->peer.asked.gid);
	}
	link_say(mine, &message, fds, fd_count);
}

static void link_speak(struct fuzz_link *mine, struct input *input) {
	union gid_wire_message message;
	int fds[2];
	honest_link_speak(&mine->peer, mine->link->remote->number, input, &message);
	link_say(mine, &message, fds, gidd_message_fds(&message, fds));
}

static void client_speak(struct world *world, int which, struct input *input) {
	union gid_wire_message message;
	int fds[2];
	honest_client_speak(&world->peers[which], input, &message);
	inside_send(world->clients[which], &message, fds, gidd_message_fds(&message, fds));
}

static void send_as_client(struct world *world, int which, struct input *input) {
	union gid_wire_message message;
	int fds[2];
	uint32_t fd_count = gidd_message_make(&message, fds, input);
	inside_send(world->clients[which], &message, fds, fd_count);
}

static void read_again(struct world *world, struct input *input) {
	struct config fresh;
	uint32_t which = take(input, sizeof(cockpits) / sizeof(cockpits[0]));
	inside_read_config(&fresh, cockpits[which]);
	bool has_more = config_domain_by_name(&world->config, "more") != NULL;
	int error = config_update(&world->config, &fresh, "cockpit", null_file);
	/* The last has another number, and domains never go. */
	demand((error == 0) == (which != 4 && (!has_more || which == 3)));
	if (error == 0) {
		slab_take_from_clients(&world->gidd, &fresh);
		reload_apply(&world->gidd, "fuzzing");
	}
	config_finish(&fresh);
}

static void step(struct world *world, struct input *input) {
	uint32_t what = take(input, 32);
	struct fuzz_link *mine = &fuzz_links[what % LINKS];
	int which = (int)(what % CLIENTS);
	if (what < 3) {
		connect_client(world, which, take(input, 8) != 0);
	} else if (what < 5) {
		connect_link(mine, take(input, 8) != 0);
	} else if (what == 5 && mine->connected) {
		mine->connected = mine->dropped = false;
		link_lost(mine->link, "lost");
	} else if (what == 6 && world->clients[which] >= 0) {
		gid_socket_close_fds(&world->clients[which], 1);
	} else if (what == 7) {
		read_again(world, input);
	} else if (what == 8) {
		world->deaf[which] = take(input, 2) != 0;
	} else if (what < 14) {
		send_on_link(mine, input);
	} else if (what < 16) {
		link_speak(mine, input);
	} else if (what < 19) {
		client_speak(world, which, input);
	} else {
		send_as_client(world, which, input);
	}
	/* Sometimes several things happen before gidd looks. */
	if (take(input, 4) != 0) {
		settle(world);
		listen_all(world);
	}
}

/*
 * A stream and a slab of the first client, which others have, and both of another domain's, which
 * the second one has.
 */
static void begin_live(struct world *world) {
	static const uint8_t said[][5] = {{0, 2}, {0, 0}, {0, 1, 0}, {0, 1, 2}, {1, 6, 1, 0},
			{1, 3, 0, 0, 1}, {0, 5}, {1, 3, 1, 0, 0}, {1, 6, 0, 0}};
	static const uint8_t links[][2] = {{0, 0}, {1, 0}};
	for (int i = 0; i < LINKS; i++) {
		connect_link(&fuzz_links[i], true);
	}
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		client_speak(world, said[i][0], &(struct input){&said[i][1], 4});
		settle(world);
		listen_all(world);
	}
	for (size_t i = 0; i < 6; i++) {
		link_speak(&fuzz_links[0], &(struct input){links[i % 2], 2});
		settle(world);
		listen_all(world);
		client_speak(world, 0, &(struct input){(const uint8_t[]){5}, 1});
		settle(world);
		listen_all(world);
	}
}

static void init_world(struct world *world) {
	struct gidd *gidd = &world->gidd;
	inside_init(gidd, &world->config, cockpits[0], "cluster");
	gidd->slab_first = 0;
	demand(remote_open_links(gidd) == 0);
	for (int i = 0; i < CLIENTS; i++) {
		world->clients[i] = -1;
		connect_client(world, i, true);
	}
}

static void finish_world(struct world *world) {
	struct gidd *gidd = &world->gidd;
	gid_socket_close_fds(world->clients, CLIENTS);
	settle(world);
	demand(TAILQ_EMPTY(&gidd->clients));
	local_close(gidd);
	remote_close(gidd);
	untaken_finish();
	inside_demand_empty(gidd);
	sd_event_unref(gidd->event);
	config_finish(&world->config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct world world;
	static bool begun;
	struct input input = {data, size};
	if (!begun) {
		begun = true;
		gidd_message_init();
		null_file = fopen("/dev/null", "w");
		log_init("gidd", (enum log_level) - 1, false);
	}
	init_world(&world);
	if (take(&input, 4) != 0) {
		begin_live(&world);
	}
	while (input.size > 0) {
		step(&world, &input);
	}
	finish_world(&world);
	return 0;
}
