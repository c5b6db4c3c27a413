// SPDX-License-Identifier: MIT
/*
 * The hub, and the host's gidd behind it, with two guests that say anything in any order over their
 * streams of bytes: valid messages about few things, in the right epoch or not, broken ones, plain
 * bytes, hang-ups. A client of the host has a stream and a slab to be asked for, and asks for
 * theirs. Whatever happens, all that the hub says is right by the wire, and when the guests are
 * gone nothing is left of them.
 *
 * The input is a sequence of steps of a few bytes. Windows and sockets are made once.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "carrier.h"
#include "client.h"
#include "gidd.h"
#include "hub.h"
#include "log.h"
#include "socket.h"
#include "window.h"

#define GUESTS 2
#define HOST 3
#define STEPS_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char cockpit[] = "[domain open]\nnumber=1\nkind=guest\nwindow=1M\nlocal=*\n"
			      "[domain cluster]\nnumber=2\nkind=guest\nwindow=1M\nlocal=*\n"
			      "[domain host]\nnumber=3\nkind=host\nwindow=1M\nlocal=*\n"
			      "[share open cluster]\nstreams=movie\n"
			      "[share open host]\nstreams=*\n"
			      "[share host open]\nstreams=film\n";

static void demand(bool good) {
	if (!good) {
		__builtin_trap();
	}
}

struct input {
	const uint8_t *data;
	size_t size;
};

static uint32_t take(struct input *input, uint32_t below) {
	if (input->size == 0) {
		return 0;
	}
	input->size--;
	return *input->data++ % below;
}

/* --- the world -------------------------------------------------------------------------------- */

struct guest {
	int fd; /* our end, -1: hung up */
	uint32_t number;
	uint32_t epochs[HOST + 1]; /* by peer; 0: not joined */
	uint32_t asked;		   /* serial of the last request that came */
	uint8_t in[8192];
	size_t in_size;
};

static struct world {
	struct config config;
	struct gidd gidd;
	char runtime[64];
	struct guest guests[GUESTS];
	int client; /* of the host */
	uint64_t client_ring;
	uint32_t client_subscription;
} world;

static void settle(void) {
	for (int i = 0; i < 500 && sd_event_run(world.gidd.event, 0) > 0; i++) {
	}
}

static void remove_runtime(void) {
	char command[128];
	snprintf(command, sizeof(command), "rm -rf '%s'", world.runtime);
	(void)!system(command);
}

static void make_world(void) {
	FILE *file = fmemopen((void *)cockpit, sizeof(cockpit) - 1, "r");
	demand(config_read(&world.config, file, "cockpit", stderr) == 0);
	fclose(file);
	strcpy(world.runtime, "/tmp/gid-fuzz-XXXXXX");
	demand(mkdtemp(world.runtime) != NULL);
	atexit(remove_runtime);
	signal(SIGPIPE, SIG_IGN);
	struct gidd *gidd = &world.gidd;
	gidd->config = &world.config;
	gidd->self = config_domain_by_name(&world.config, "host");
	gidd->runtime = world.runtime;
	TAILQ_INIT(&gidd->clients);
	TAILQ_INIT(&gidd->links);
	registry_init(&gidd->registry);
	demand(sd_event_new(&gidd->event) >= 0);
	demand(carrier_open(gidd) == 0 && link_open_all(gidd) == 0);
	for (uint32_t i = 0; i < GUESTS; i++) {
		world.guests[i] = (struct guest){.fd = -1, .number = i + 1};
	}
	world.client = -1;
}

/* --- the host's client ------------------------------------------------------------------------ */

static void say(union gid_wire_message *message, const int *fds, uint32_t fd_count) {
	if (world.client >= 0) {
		gid_socket_send(world.client, message, message->header.size, fds, fd_count);
	}
}

static int open_window(void) {
	char path[128];
	snprintf(path, sizeof(path), "%s/window/host", world.runtime);
	return open(path, O_RDWR | O_CLOEXEC);
}

static void say_first(void) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_HELLO, 1);
	message.hello.version = GID_WIRE_VERSION;
	say(&message, NULL, 0);
	gid_wire_begin(&message, GID_WIRE_PUBLISH, 2);
	strcpy(message.publish.name, "film");
	say(&message, NULL, 0);
	gid_wire_begin(&message, GID_WIRE_ALLOC, 3); /* page, ring and a slab of one slot */
	message.alloc.size = 16 * 4096;
	say(&message, NULL, 0);
}

static void use_memory(uint64_t offset) {
	union gid_wire_message message;
	int window = open_window();
	world.client_ring = offset + 4096;
	gid_wire_begin(&message, GID_WIRE_EXPORT, 4);
	message.export.memory = GID_MEMORY_WINDOW;
	message.export.offset = offset + 8 * 4096;
	message.export.slot_size = 4096;
	message.export.slot_count = 1;
	message.export.generations = offset + 9 * 4096;
	message.export.layout = (struct gid_wire_layout){.fourcc = 0x34325258,
		.width = 8,
		.height = 8,
		.plane_count = 1,
		.planes = {{0, 32}}};
	say(&message, &window, 1);
	close(window);
}

static void subscribe(uint32_t number) {
	union gid_wire_message message;
	int pair[2], fds[2] = {open_window(), -1};
	if (world.client_ring == 0 ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
		close(fds[0]);
		return;
	}
	fds[1] = pair[1];
	gid_wire_begin(&message, GID_WIRE_SUBSCRIBE, 5);
	message.subscribe.subscription = number;
	message.subscribe.credit = 1;
	message.subscribe.flags = GID_WIRE_WAIT;
	message.subscribe.window_offset = world.client_ring - 4096;
	strcpy(message.subscribe.domain_name, "open");
	strcpy(message.subscribe.name, "movie");
	say(&message, fds, 2);
	gid_socket_close_fds(fds, 2);
	close(pair[0]); /* hangs up: the guest is to hear of that */
}

static void hear(const union gid_wire_message *message) {
	union gid_wire_message answer;
	if (message->header.type == GID_WIRE_ALLOCATED) {
		use_memory(message->allocated.offset);
	} else if (message->header.type == GID_WIRE_RESULT && message->header.serial == 4) {
		gid_wire_begin(&answer, GID_WIRE_GRANT, 6);
		answer.grant.slab = message->result.value;
		answer.grant.domain = 1;
		answer.grant.allow = 1;
		if (message->result.error == 0) {
			say(&answer, NULL, 0);
		}
	} else if (message->header.type == GID_WIRE_SUBSCRIBER) {
		int window = open_window();
		gid_wire_begin(&answer, GID_WIRE_ACCEPT, 0);
		answer.subscribed.subscription = message->subscriber.subscription;
		answer.subscribed.window_offset = world.client_ring;
		say(&answer, &window, 1);
		close(window);
	}
}

static void listen_as_client(void) {
	union gid_wire_message message;
	int fds[GID_WIRE_FDS_MAX];
	uint32_t fd_count;
	const char *why;
	ssize_t size;
	while (world.client >= 0 &&
		(size = gid_socket_receive(
			 world.client, &message, sizeof(message), fds, &fd_count)) != -EAGAIN) {
		if (size <= 0) {
			gid_socket_close_fds(&world.client, 1);
			break;
		}
		demand(gid_wire_check(&message, (size_t)size, fd_count, &why) == 0);
		hear(&message);
		gid_socket_close_fds(fds, fd_count);
	}
}

static void connect_client(void) {
	int pair[2];
	if (world.client < 0) {
		demand(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
			       pair) == 0);
		client_create(&world.gidd, pair[1]);
		world.client = pair[0];
		world.client_ring = 0;
		say_first();
	}
}

/* --- guests ----------------------------------------------------------------------------------- */

static void hang_up(struct guest *guest) {
	gid_socket_close_fds(&guest->fd, 1);
	memset(guest->epochs, 0, sizeof(guest->epochs));
	guest->in_size = 0;
}

static void connect_guest(struct guest *guest) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (guest->fd >= 0) {
		return;
	}
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/hub/%s.sock", world.runtime,
		guest->number == 1 ? "open" : "cluster");
	guest->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	demand(connect(guest->fd, (struct sockaddr *)&address, sizeof(address)) == 0);
}

static void put(struct guest *guest, const void *data, size_t size) {
	if (guest->fd >= 0) {
		(void)!send(guest->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

static void put_envelope(struct guest *guest, uint32_t domain, uint32_t epoch,
	const union gid_wire_message *message) {
	struct gid_wire_envelope envelope = {
		GID_ENVELOPE_MAGIC, domain, epoch, message->header.size};
	put(guest, &envelope, sizeof(envelope));
	put(guest, message, message->header.size);
}

static void join(struct guest *guest, uint64_t nonce) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_JOIN, 0);
	message.join.version = GID_WIRE_VERSION;
	message.join.nonce = nonce;
	put_envelope(guest, 0, 0, &message);
}

/* As an honest gidd: so that what comes after it is looked at. */
static void greet(struct guest *guest) {
	union gid_wire_message message;
	for (int i = 0; i < 5; i++) {
		gid_wire_begin(&message, GID_WIRE_PONG, 0);
		put_envelope(guest, HOST, guest->epochs[HOST], &message);
	}
	gid_wire_begin(&message, GID_WIRE_WELCOME, 0);
	message.welcome.version = GID_WIRE_VERSION;
	message.welcome.domain = guest->number;
	strcpy(message.welcome.name, "guest");
	put_envelope(guest, HOST, guest->epochs[HOST], &message);
}

static void listen_as_guest(struct guest *guest) {
	ssize_t got;
	while (guest->fd >= 0 &&
		(got = read(guest->fd, guest->in + guest->in_size,
			 sizeof(guest->in) - guest->in_size)) != -1) {
		struct gid_wire_envelope envelope;
		union gid_wire_message message;
		const char *why;
		if (got == 0) {
			hang_up(guest);
			return;
		}
		guest->in_size += (size_t)got;
		while (guest->in_size >= sizeof(envelope)) {
			memcpy(&envelope, guest->in, sizeof(envelope));
			demand(gid_wire_envelope_is_valid(&envelope));
			size_t size = sizeof(envelope) + envelope.size;
			if (guest->in_size < size) {
				break;
			}
			memcpy(&message, guest->in + sizeof(envelope), envelope.size);
			demand(gid_wire_check_remote(
				       &message, envelope.size, envelope.domain == 0, &why) == 0);
			demand(envelope.domain <= HOST && envelope.domain != guest->number);
			if (message.header.type == GID_WIRE_PEER) {
				guest->epochs[message.peer.domain] =
					message.peer.up == 1 ? message.peer.epoch : 0;
			} else if (message.header.serial != 0) {
				guest->asked = message.header.serial;
			}
			guest->in_size -= size;
			memmove(guest->in, guest->in + size, guest->in_size);
		}
	}
}

static const uint32_t types[] = {GID_WIRE_HELLO, GID_WIRE_WELCOME, GID_WIRE_RESULT, GID_WIRE_IMPORT,
	GID_WIRE_IMPORTED, GID_WIRE_REVOKED, GID_WIRE_SUBSCRIBE, GID_WIRE_ACCEPT,
	GID_WIRE_SUBSCRIPTION_END, GID_WIRE_BELL, GID_WIRE_PING, GID_WIRE_PONG, GID_WIRE_PEER};

static uint64_t take_offset(struct input *input) {
	uint32_t page = take(input, 64);
	return page == 63 ? INT64_MAX - 65535 : page * UINT64_C(5) * 4096;
}

static void fill(union gid_wire_message *m, struct guest *guest, struct input *input) {
	uint32_t number = 1 + take(input, 3);
	switch ((enum gid_wire_type)m->header.type) {
	case GID_WIRE_HELLO:
	case GID_WIRE_WELCOME:
		m->hello.version = GID_WIRE_VERSION;
		m->hello.domain = number;
		strcpy(m->hello.name, "fuzz");
		break;
	case GID_WIRE_RESULT:
		m->header.serial = guest->asked;
		m->result.error = take(input, 2) == 0 ? 0 : -ENOENT;
		break;
	case GID_WIRE_IMPORT:
	case GID_WIRE_REVOKED:
		m->import.gid = gid_make(number, 1 + take(input, 4), 0, 0);
		break;
	case GID_WIRE_IMPORTED:
		m->header.serial = guest->asked;
		m->imported.domain = guest->number;
		m->imported.slab = number;
		m->imported.memory = GID_MEMORY_WINDOW;
		m->imported.slot_count = 1;
		m->imported.slot_size = 4096;
		m->imported.offset = take_offset(input);
		m->imported.generations = m->imported.offset + 4096;
		m->imported.layout = (struct gid_wire_layout){.fourcc = 0x34325258,
			.width = 8,
			.height = 8,
			.plane_count = 1,
			.planes = {{0, 32}}};
		break;
	case GID_WIRE_SUBSCRIBE:
		m->subscribe.subscription =
			number | (take(input, 4) != 0 ? GID_WIRE_LOWER_SIDE : 0);
		m->subscribe.domain = 1 + take(input, 3);
		m->subscribe.credit = 1;
		m->subscribe.flags = take(input, 4);
		m->subscribe.window_offset = take_offset(input);
		strcpy(m->subscribe.name, take(input, 2) == 0 ? "film" : "movie");
		break;
	case GID_WIRE_ACCEPT:
		m->subscribed.subscription = number;
		m->subscribed.window_offset = take_offset(input);
		break;
	case GID_WIRE_SUBSCRIPTION_END:
	case GID_WIRE_BELL:
		m->bell.subscription = number | (take(input, 2) != 0 ? GID_WIRE_LOWER_SIDE : 0);
		m->bell.hung_up = m->header.type == GID_WIRE_BELL ? take(input, 2) : 0;
		break;
	case GID_WIRE_PEER:
		m->peer.domain = number;
		m->peer.epoch = guest->epochs[number];
		m->peer.up = take(input, 4) == 0;
		break;
	default:
		break;
	}
}

static void put_message(struct guest *guest, struct input *input) {
	union gid_wire_message message;
	uint32_t type = types[take(input, sizeof(types) / sizeof(types[0]))];
	uint32_t to = type == GID_WIRE_PEER ? 0 : take(input, 8) == 0 ? 3 - guest->number : HOST;
	gid_wire_begin(&message, type, type == GID_WIRE_IMPORT || type == GID_WIRE_SUBSCRIBE);
	fill(&message, guest, input);
	put_envelope(guest, to, guest->epochs[to] + (take(input, 32) == 0), &message);
}

static void step(struct input *input) {
	uint32_t what = take(input, 32);
	struct guest *guest =
		&world.guests[take(input, 4) != 0 ? 0 : 1]; /* the host's peer mostly */
	if (what < 3) {
		connect_guest(guest);
		join(guest, 1 + take(input, 4));
	} else if (what == 3) {
		hang_up(guest);
	} else if (what == 4) {
		size_t size = take(input, 64);
		size = size < input->size ? size : input->size;
		put(guest, input->data, size);
		input->data += size;
		input->size -= size;
	} else if (what < 8) {
		greet(guest);
	} else if (what == 8) {
		connect_client();
	} else if (what == 9) {
		gid_socket_close_fds(&world.client, 1);
	} else if (what < 12) {
		subscribe(1 + take(input, 3));
	} else {
		put_message(guest, input);
	}
	if (take(input, 4) != 0) {
		settle();
		listen_as_client();
		listen_as_guest(&world.guests[0]);
		listen_as_guest(&world.guests[1]);
	}
}

/* --- one input -------------------------------------------------------------------------------- */

static void begin_joined(void) {
	connect_client();
	for (int i = 0; i < GUESTS; i++) {
		/* Pairs that parted before wait for some time, which is spared here. */
		connect_guest(&world.guests[i]);
		join(&world.guests[i], 9);
	}
	struct hub_pair *pair;
	settle();
	TAILQ_FOREACH(pair, &world.gidd.hub->pairs, entry) {
		sd_event_source_set_time_relative(pair->again, 0);
		pair->back_off_us = 1;
	}
	settle();
	for (int i = 0; i < GUESTS; i++) {
		listen_as_client();
		listen_as_guest(&world.guests[i]);
		greet(&world.guests[i]);
		settle();
	}
}

static void end_all(void) {
	struct gidd *gidd = &world.gidd;
	struct link *link;
	for (int i = 0; i < GUESTS; i++) {
		hang_up(&world.guests[i]);
	}
	settle();
	const struct slab *slab;
	TAILQ_FOREACH(slab, &gidd->registry.slabs, entry) {
		demand(slab->owner != NULL && TAILQ_EMPTY(&slab->importers));
	}
	TAILQ_FOREACH(link, &gidd->links, entry) {
		demand(link->state == LINK_DOWN && TAILQ_EMPTY(&link->requests));
		demand(TAILQ_EMPTY(&link->peer.consuming) && TAILQ_EMPTY(&link->peer.imports));
	}
	gid_socket_close_fds(&world.client, 1);
	settle();
	demand(TAILQ_EMPTY(&gidd->clients) && TAILQ_EMPTY(&gidd->registry.slabs));
	demand(TAILQ_EMPTY(&gidd->registry.streams) && TAILQ_EMPTY(&gidd->registry.subscriptions));
	demand(window_map_used(&gidd->windows[HOST]->map) == 0);
	for (enum quota quota = 0; quota < QUOTA_COUNT; quota++) {
		demand(gidd->used[quota] == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (world.gidd.event == NULL) {
		make_world();
	}
	struct input input = {data, size};
	begin_joined();
	for (int i = 0; i < STEPS_MAX && input.size > 0; i++) {
		step(&input);
	}
	end_all();
	return 0;
}
