// SPDX-License-Identifier: MIT
/*
 * A whole gidd, with clients and links that do anything in any order: valid messages about the same
 * few slabs, streams and subscriptions, broken ones, hang-ups, returns. Whatever happens, all that
 * gidd says is right by the wire, and once all are gone it holds nothing.
 *
 * The input is a sequence of steps of a few bytes. Links are of a kind of our own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "gidd.h"
#include "link.h"
#include "log.h"
#include "socket.h"

#define CLIENTS 3
#define LINKS 2
#define XRGB8888 0x34325258u /* DRM_FORMAT_XRGB8888 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool good) {
	if (!good) {
		__builtin_trap();
	}
}

/* --- the input -------------------------------------------------------------------------------- */

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

/* --- descriptors to choose from, made once ---------------------------------------------------- */

enum file { FILE_SLAB, FILE_SHARED, FILE_WRITABLE, FILE_SMALL, FILE_BELL, FILE_COUNT };
static int files[FILE_COUNT];

static int make_memfd(size_t size, bool sealed) {
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	demand(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE;
	if (!sealed) {
		return fd;
	}
	char path[64];
	demand(fcntl(fd, F_ADD_SEALS, seals) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int reader = open(path, O_RDONLY | O_CLOEXEC);
	demand(reader >= 0);
	close(fd);
	return reader;
}

static void make_files(void) {
	int pair[2];
	demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	files[FILE_SLAB] = make_memfd(8192 + 64, true);
	files[FILE_SHARED] = make_memfd(16384, true);
	files[FILE_WRITABLE] = make_memfd(16384, false);
	files[FILE_SMALL] = make_memfd(16, true);
	files[FILE_BELL] = pair[0];
}

/* --- messages --------------------------------------------------------------------------------- */

static const char *const names[] = {"movie", "camera/rear", "secret", "x"};

static const uint32_t types[] = {GID_WIRE_HELLO, GID_WIRE_WELCOME, GID_WIRE_RESULT, GID_WIRE_EXPORT,
	GID_WIRE_UNEXPORT, GID_WIRE_GRANT, GID_WIRE_IMPORT, GID_WIRE_IMPORTED, GID_WIRE_REVOKED,
	GID_WIRE_PUBLISH, GID_WIRE_UNPUBLISH, GID_WIRE_SUBSCRIBE, GID_WIRE_SUBSCRIBER,
	GID_WIRE_ACCEPT, GID_WIRE_SUBSCRIBED, GID_WIRE_SUBSCRIPTION_END, GID_WIRE_STATUS,
	GID_WIRE_REPORT, GID_WIRE_ALLOC, GID_WIRE_ALLOCATED, GID_WIRE_FREE, GID_WIRE_CLOCK,
	GID_WIRE_BELL, GID_WIRE_PING, GID_WIRE_JOIN, GID_WIRE_PEER};

/* One of the few numbers that things have here: 1 to 4, with gidd's bit or without. */
static uint32_t take_number(struct input *input) {
	uint32_t value = take(input, 16);
	return (1 + value % 4) | (value >= 8 ? GID_WIRE_LOWER_SIDE : 0);
}

static gid_id take_gid(struct input *input) {
	uint32_t value = take(input, 64);
	return gid_make(1 + value % 3, 1 + value / 3 % 5, 0, 0);
}

static void put_name(char field[64], struct input *input) {
	strcpy(field, names[take(input, 4)]);
}

static void fill_slab(uint32_t *slab, uint32_t *memory, uint32_t *slots, uint64_t *slot_size,
	uint64_t *table, struct gid_wire_layout *layout, struct input *input) {
	uint32_t value = take(input, 64);
	*slab = value % 8;
	*memory = value >= 60 ? GID_MEMORY_DMABUF : GID_MEMORY_MEMFD;
	*slots = *memory == GID_MEMORY_DMABUF ? 1 : 2;
	*slot_size = 4096;
	*table = *memory == GID_MEMORY_DMABUF ? 0 : 8192;
	*layout = (struct gid_wire_layout){
		.fourcc = XRGB8888, .width = 8, .height = 8, .plane_count = 1, .planes = {{0, 32}}};
}

static void fill(union gid_wire_message *m, struct input *input) {
	switch ((enum gid_wire_type)m->header.type) {
	case GID_WIRE_HELLO:
	case GID_WIRE_WELCOME:
		m->hello.version = take(input, 16) == 0 ? 2 : GID_WIRE_VERSION;
		m->hello.domain = take(input, 4);
		strcpy(m->hello.name, "fuzz");
		break;
	case GID_WIRE_RESULT:
		m->result.error = take(input, 2) == 0 ? 0 : -ENOENT;
		m->result.value = take(input, 2);
		break;
	case GID_WIRE_EXPORT:
		fill_slab(&m->export.slab, &m->export.memory, &m->export.slot_count,
			&m->export.slot_size, &m->export.generations, &m->export.layout, input);
		break;
	case GID_WIRE_IMPORTED:
		fill_slab(&m->imported.slab, &m->imported.memory, &m->imported.slot_count,
			&m->imported.slot_size, &m->imported.generations, &m->imported.layout,
			input);
		m->imported.slab += m->imported.slab == 0;
		m->imported.domain = 1 + take(input, 3);
		break;
	case GID_WIRE_UNEXPORT:
		m->unexport.slab = 1 + take(input, 6);
		break;
	case GID_WIRE_GRANT:
		m->grant.slab = 1 + take(input, 6);
		m->grant.domain = 1 + take(input, 4);
		m->grant.allow = take(input, 2);
		break;
	case GID_WIRE_IMPORT:
		m->import.gid = take_gid(input);
		break;
	case GID_WIRE_REVOKED:
		m->revoked.gid = take_gid(input);
		break;
	case GID_WIRE_PUBLISH:
		put_name(m->publish.name, input);
		break;
	case GID_WIRE_UNPUBLISH:
		m->unpublish.stream = 1 + take(input, 4);
		break;
	case GID_WIRE_SUBSCRIBE:
		m->subscribe.subscription = take_number(input);
		m->subscribe.domain = take(input, 4);
		m->subscribe.credit = 1 + take(input, 63);
		m->subscribe.flags = take(input, 4);
		strcpy(m->subscribe.domain_name,
			((const char *[]){"", "open", "cluster", "hud"})[take(input, 4)]);
		put_name(m->subscribe.name, input);
		break;
	case GID_WIRE_SUBSCRIBER:
		m->subscriber.subscription = take_number(input);
		m->subscriber.domain = 1;
		m->subscriber.credit = 1;
		break;
	case GID_WIRE_ACCEPT:
	case GID_WIRE_SUBSCRIBED:
		m->subscribed.subscription = take_number(input);
		break;
	case GID_WIRE_SUBSCRIPTION_END:
		m->subscription_end.subscription = take_number(input);
		m->subscription_end.reason = -(int32_t)take(input, 64);
		break;
	case GID_WIRE_ALLOC:
		m->alloc.size = 1 + take(input, 64) * UINT64_C(1024);
		break;
	case GID_WIRE_ALLOCATED:
	case GID_WIRE_FREE:
		m->allocated.offset = (1 + take(input, 8)) * UINT64_C(4096);
		m->allocated.size = (1 + take(input, 4)) * UINT64_C(4096);
		break;
	case GID_WIRE_CLOCK:
	case GID_WIRE_JOIN:
	case GID_WIRE_JOINED:
	case GID_WIRE_PEER:
		m->peer.domain = 1 + take(input, 4);
		break;
	case GID_WIRE_REPORT:
	case GID_WIRE_STATUS:
	case GID_WIRE_BELL:
	case GID_WIRE_PING:
	case GID_WIRE_PONG:
	case GID_WIRE_TYPE_END:
		break;
	}
}

/* A message with its descriptors, mostly of the right kinds. */
static uint32_t make_message(union gid_wire_message *message, int fds[2], struct input *input) {
	uint32_t size, fd_count = 0;
	uint32_t type = types[take(input, sizeof(types) / sizeof(types[0]))];
	gid_wire_begin(message, type, take(input, 8));
	fill(message, input);
	gid_wire_shape(type, &size, &fd_count);
	bool slab = type == GID_WIRE_EXPORT || type == GID_WIRE_IMPORTED;
	uint32_t odd = take(input, 16);
	fds[0] = files[slab ? FILE_SLAB : FILE_SHARED];
	fds[1] = files[FILE_BELL];
	if (odd < FILE_COUNT) {
		fds[0] = files[odd];
	}
	return fd_count;
}

/* --- what gidd says --------------------------------------------------------------------------- */

static void demand_valid(const union gid_wire_message *message, size_t size, uint32_t fd_count) {
	const char *why;
	demand(gid_wire_check(message, size, fd_count, &why) == 0);
}

struct fuzz_link {
	struct link *link;
	bool connected, dropped;
	struct gid_wire_import asked; /* last: what an answer would be about */
};
static struct fuzz_link fuzz_links[LINKS];

static int fuzz_open(struct link *link) {
	struct fuzz_link *mine = &fuzz_links[link->remote->number == 1 ? 0 : 1];
	*mine = (struct fuzz_link){.link = link};
	link->transport = mine;
	return 0;
}

static void fuzz_send(struct link *link, const union gid_wire_message *message, const int *fds,
	uint32_t fd_count) {
	struct fuzz_link *mine = link->transport;
	demand(mine->connected);
	demand_valid(message, message->header.size, fd_count);
	if (message->header.type == GID_WIRE_IMPORT) {
		mine->asked = message->import;
	}
	for (uint32_t i = 0; i < fd_count; i++) {
		demand(fcntl(fds[i], F_GETFD) >= 0);
	}
}

static void fuzz_drop(struct link *link, const char *why) {
	struct fuzz_link *mine = link->transport;
	mine->dropped = true;
}

static void fuzz_close(struct link *link) {
	struct fuzz_link *mine = link->transport;
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

static const char cockpit[] =
	"[domain open]\nnumber=1\n"
	"[domain cluster]\nnumber=2\nlocal=secret\nslabs=6\nclients=4\nheld=90\n"
	"[domain hud]\nnumber=3\n"
	"[share open cluster]\nstreams=movie camera/*\n"
	"[share cluster open]\nstreams=movie camera/*\nheld=100\n"
	"[share cluster hud]\nstreams=movie\n"
	"[link open cluster]\nkind=fuzz\n[link cluster hud]\nkind=fuzz\n";

struct world {
	struct config config;
	struct gidd gidd;
	int clients[CLIENTS]; /* our ends, -1: none */
};

static void settle(struct world *world) {
	for (int i = 0; i < 200 && sd_event_run(world->gidd.event, 0) > 0; i++) {
	}
	for (int i = 0; i < LINKS; i++) {
		struct fuzz_link *mine = &fuzz_links[i];
		if (mine->dropped) {
			mine->dropped = mine->connected = false;
			link_lost(mine->link, "dropped");
		}
	}
}

/* Reads all that gidd said to a client; hangs up where gidd did. */
static void listen_to_gidd(struct world *world, int which) {
	union gid_wire_message message;
	int fds[GID_WIRE_FDS_MAX];
	uint32_t fd_count;
	ssize_t size;
	int *client = &world->clients[which];
	while (*client >= 0 &&
		(size = gid_socket_receive(*client, &message, sizeof(message), fds, &fd_count)) !=
			-EAGAIN) {
		if (size <= 0) {
			close(*client);
			*client = -1;
			break;
		}
		demand_valid(&message, (size_t)size, fd_count);
		gid_socket_close_fds(fds, fd_count);
	}
}

static void connect_client(struct world *world, int which, bool greets) {
	int pair[2];
	if (world->clients[which] >= 0) {
		return;
	}
	demand(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
	client_create(&world->gidd, pair[1]);
	world->clients[which] = pair[0];
	union gid_wire_message hello;
	gid_wire_begin(&hello, GID_WIRE_HELLO, 1);
	hello.hello.version = GID_WIRE_VERSION;
	if (greets) {
		gid_socket_send(pair[0], &hello, hello.header.size, NULL, 0);
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

static void send_on_link(struct fuzz_link *mine, struct input *input) {
	union gid_wire_message message;
	int fds[2], own[2] = {-1, -1};
	const char *why;
	uint32_t fd_count = make_message(&message, fds, input);
	if (message.header.type == GID_WIRE_IMPORTED && take(input, 8) != 0) {
		message.header.serial = mine->asked.header.serial;
		message.imported.domain = gid_domain_of(mine->asked.gid);
		message.imported.slab = gid_slab_of(mine->asked.gid);
	}
	if (!mine->connected || mine->dropped ||
		gid_wire_check(&message, message.header.size, fd_count, &why) < 0) {
		return;
	}
	for (uint32_t i = 0; i < fd_count; i++) {
		own[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
	}
	link_message(mine->link, &message, own);
	gid_socket_close_fds(own, 2);
}

static void send_as_client(struct world *world, int which, struct input *input) {
	union gid_wire_message message;
	int fds[2];
	uint32_t fd_count = make_message(&message, fds, input);
	if (world->clients[which] >= 0) {
		gid_socket_send(
			world->clients[which], &message, message.header.size, fds, fd_count);
	}
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
	} else if (what < 16) {
		send_on_link(mine, input);
	} else {
		send_as_client(world, which, input);
	}
	/* Sometimes several things happen before gidd looks. */
	if (take(input, 4) != 0) {
		settle(world);
		for (int i = 0; i < CLIENTS; i++) {
			listen_to_gidd(world, i);
		}
	}
}

static void init_world(struct world *world) {
	FILE *file = fmemopen((void *)cockpit, sizeof(cockpit) - 1, "r");
	demand(config_read(&world->config, file, "cockpit", stderr) == 0);
	fclose(file);
	struct gidd *gidd = &world->gidd;
	*gidd = (struct gidd){.config = &world->config};
	gidd->self = config_domain_by_name(&world->config, "cluster");
	TAILQ_INIT(&gidd->clients);
	TAILQ_INIT(&gidd->links);
	registry_init(&gidd->registry);
	gidd->registry.slab_first = 0;
	demand(sd_event_new(&gidd->event) >= 0);
	demand(link_open_all(gidd) == 0);
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
	link_close_all(gidd);
	demand(TAILQ_EMPTY(&gidd->registry.slabs) && TAILQ_EMPTY(&gidd->registry.streams));
	demand(TAILQ_EMPTY(&gidd->registry.subscriptions));
	for (enum quota quota = 0; quota < QUOTA_COUNT; quota++) {
		demand(gidd->used[quota] == 0);
	}
	sd_event_unref(gidd->event);
	config_finish(&world->config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct world world;
	struct input input = {data, size};
	if (files[FILE_SLAB] == 0) {
		make_files();
		log_init("gidd", (enum log_level) - 1);
	}
	init_world(&world);
	while (input.size > 0) {
		step(&world, &input);
	}
	finish_world(&world);
	return 0;
}
