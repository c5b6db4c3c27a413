// SPDX-License-Identifier: MIT
#include "hub_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "inside.h"
#include "socket.h"
#include "wire_ring.h"

void guest_hang_up(struct guest *guest) {
	gid_socket_close_fds(&guest->fd, 1);
	memset(guest->epochs, 0, sizeof(guest->epochs));
	guest->in_size = 0;
}

static void open_window(struct guest *guest, const char *runtime) {
	char path[128];
	snprintf(path, sizeof(path), "%s/window/%s", runtime,
			guest->number == 1 ? "open/0.2-3" : "cluster/0.1");
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *data = mmap(NULL, WINDOW_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	demand(fd >= 0 && data != MAP_FAILED);
	close(fd);
	guest->window = data;
}

void guest_connect(struct guest *guest, const char *runtime) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *name = guest->number == 1 ? "open" : "cluster";
	if (guest->fd >= 0) {
		return;
	}
	if (guest->window == NULL) {
		open_window(guest, runtime);
	}
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/hub/%s.sock", runtime, name);
	guest->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	demand(connect(guest->fd, (struct sockaddr *)&address, sizeof(address)) == 0);
}

void guest_put(struct guest *guest, const void *data, size_t size) {
	if (guest->fd >= 0) {
		(void)!send(guest->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

static void put_envelope(struct guest *guest, uint32_t domain, uint32_t epoch,
		const union gid_wire_message *message) {
	struct gid_wire_envelope envelope = {
			GID_ENVELOPE_MAGIC, domain, epoch, message->header.size};
	guest_put(guest, &envelope, sizeof(envelope));
	guest_put(guest, message, message->header.size);
}

void guest_join(struct guest *guest, uint64_t nonce) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_JOIN, 0);
	message.join.version = GID_WIRE_VERSION;
	message.join.nonce = nonce;
	put_envelope(guest, 0, 0, &message);
}

void guest_greet(struct guest *guest) {
	union gid_wire_message message;
	if (guest->greeted == guest->epochs[HOST]) {
		return;
	}
	guest->greeted = guest->epochs[HOST];
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

/* Takes the first message, if all of it is there. */
static bool hear(struct guest *guest) {
	struct gid_wire_envelope envelope;
	union gid_wire_message message;
	const char *why;
	if (guest->in_size < sizeof(envelope)) {
		return false;
	}
	memcpy(&envelope, guest->in, sizeof(envelope));
	demand(gid_wire_envelope_is_valid(&envelope));
	size_t size = sizeof(envelope) + envelope.size;
	if (guest->in_size < size) {
		return false;
	}
	memcpy(&message, guest->in + sizeof(envelope), envelope.size);
	demand(gid_wire_check_remote(&message, envelope.size, envelope.domain == 0, &why) == 0);
	demand(envelope.domain <= HOST && envelope.domain != guest->number);
	if (message.header.type == GID_WIRE_PEER) {
		guest->epochs[message.peer.domain] = message.peer.up == 1 ? message.peer.epoch : 0;
	} else if (message.header.type == GID_WIRE_DEVICE) {
		guest->cookie = message.device.cookie;
	} else if (message.header.serial != 0) {
		guest->asked = message.header.serial;
	}
	if (message.header.type == GID_WIRE_SUBSCRIBE) {
		guest->offered = message.subscribe.subscription;
	}
	guest->in_size -= size;
	memmove(guest->in, guest->in + size, guest->in_size);
	return true;
}

void guest_listen(struct guest *guest) {
	while (guest->fd >= 0) {
		ssize_t got = read(guest->fd, guest->in + guest->in_size,
				sizeof(guest->in) - guest->in_size);
		if (got < 0) {
			return;
		}
		if (got == 0) {
			guest_hang_up(guest);
			return;
		}
		guest->in_size += (size_t)got;
		while (hear(guest)) {
		}
	}
}

static const uint32_t types[] = {GID_WIRE_HELLO, GID_WIRE_WELCOME, GID_WIRE_RESULT, GID_WIRE_IMPORT,
		GID_WIRE_IMPORTED, GID_WIRE_UNIMPORT, GID_WIRE_REVOKED, GID_WIRE_SUBSCRIBE,
		GID_WIRE_ACCEPT, GID_WIRE_SUBSCRIPTION_END, GID_WIRE_BELL, GID_WIRE_PING,
		GID_WIRE_PONG, GID_WIRE_DEVICE, GID_WIRE_VECTOR, GID_WIRE_PEER, GID_WIRE_PUNCH,
		GID_WIRE_OFFERS};

/* Where its rings, pages and slabs lie, one a place. */
#define PLACE (UINT64_C(5) * 4096)
#define RING_PLACE PLACE
#define PAGE_PLACE (2 * PLACE)

static uint64_t take_offset(struct input *input) {
	uint32_t page = take(input, 64);
	uint32_t number = page == 62 ? take(input, GID_WINDOWS_MAX + 1) : 0;
	return page == 63 ? INT64_MAX - 65535 : gid_wire_window_place(number, page * PLACE);
}

/* --- its memory ------------------------------------------------------------------------------- */

static void put_ring(uint8_t *at) {
	struct gid_wire_ring ring = {.magic = GID_RING_MAGIC, .entries = GID_RING_ENTRIES};
	memcpy(at, &ring, sizeof(ring));
}

/* Of rings and pages, and behind them. */
static uint64_t take_word_offset(struct input *input) {
	static const uint64_t words[] = {0, 8, offsetof(struct gid_wire_ring, tail),
			offsetof(struct gid_wire_ring, floor), offsetof(struct gid_wire_page, head),
			offsetof(struct gid_wire_page, release_tail), 24};
	return words[take(input, sizeof(words) / sizeof(words[0]))];
}

/* Mostly where what it shares honestly lies. */
static uint64_t take_written(struct input *input) {
	static const uint64_t places[] = {RING_PLACE, PAGE_PLACE, 0};
	uint32_t place = take(input, 4);
	return place < 3 ? places[place] : take_offset(input);
}

void guest_write(struct guest *guest, struct input *input) {
	uint64_t offset = take_written(input);
	if (guest->window == NULL || offset > WINDOW_SIZE - sizeof(struct gid_wire_ring)) {
		return;
	}
	guest->has_written = true;
	if (offset != 0 && take(input, 3) == 0) {
		put_ring(guest->window + offset);
		return;
	}
	static const uint64_t values[] = {0, 1, 2, 5, GID_RING_ENTRIES, GID_RING_MAGIC, UINT64_MAX};
	uint64_t value = values[take(input, sizeof(values) / sizeof(values[0]))];
	memcpy(guest->window + offset + take_word_offset(input), &value, sizeof(value));
}

void guest_clear(struct guest *guest) {
	if (guest->has_written) {
		memset(guest->window + PLACE, 0, WINDOW_SIZE - PLACE);
	}
	guest->has_written = false;
}

/* --- what an honest one says ------------------------------------------------------------------ */

void guest_accept(struct guest *guest) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_ACCEPT, 0);
	message.subscribed.subscription = guest->offered;
	message.subscribed.window_offset = RING_PLACE;
	if (guest->window != NULL && guest->offered != 0) {
		put_ring(guest->window + RING_PLACE);
		guest->has_written = true;
		guest->offered = 0;
		put_envelope(guest, HOST, guest->epochs[HOST], &message);
	}
}

void guest_subscribe(struct guest *guest) {
	union gid_wire_message message;
	if (guest->subscribed == guest->epochs[HOST]) {
		return;
	}
	guest->subscribed = guest->epochs[HOST];
	gid_wire_begin(&message, GID_WIRE_SUBSCRIBE, 1);
	message.subscribe.subscription = 77 | GID_WIRE_LOWER_SIDE;
	message.subscribe.domain = HOST;
	message.subscribe.credit = 1;
	message.subscribe.window_offset = PAGE_PLACE;
	strcpy(message.subscribe.name, "film");
	put_envelope(guest, HOST, guest->epochs[HOST], &message);
}

void guest_take_device(struct guest *guest) {
	union gid_wire_message message;
	if (guest->cookie == 0) {
		return;
	}
	gid_wire_begin(&message, GID_WIRE_DEVICE, GID_WIRE_TAKES_VECTORS);
	message.device.cookie = guest->cookie;
	put_envelope(guest, HOST, guest->epochs[HOST], &message);
}

void guest_answer(struct guest *guest) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_PONG, 0);
	message.pong.ping_time = gid_clock_now();
	put_envelope(guest, HOST, guest->epochs[HOST], &message);
}

/* --- what any other does ---------------------------------------------------------------------- */

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
	case GID_WIRE_UNIMPORT:
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
		m->imported.layout = inside_layout;
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
		m->subscribed.subscription = take(input, 4) == 0 ? number : guest->offered;
		m->subscribed.window_offset = take_offset(input);
		break;
	case GID_WIRE_SUBSCRIPTION_END:
	case GID_WIRE_BELL:
		m->bell.subscription = take(input, 4) == 0
				? guest->offered
				: number | (take(input, 2) != 0 ? GID_WIRE_LOWER_SIDE : 0);
		m->bell.hung_up = m->header.type == GID_WIRE_BELL ? take(input, 2) : 0;
		break;
	case GID_WIRE_PING:
		m->header.serial = take(input, 4); /* also one that goes back */
		break;
	case GID_WIRE_PONG:
		m->pong.ping_time = take(input, 2) == 0 ? 0 : gid_clock_now();
		break;
	case GID_WIRE_VECTOR:
		m->vector.subscription = take(input, 4) == 0
				? guest->offered
				: number | (take(input, 2) != 0 ? GID_WIRE_LOWER_SIDE : 0);
		m->vector.vector = 1 + take(input, GID_BELLS_POOL);
		break;
	case GID_WIRE_DEVICE:
		m->header.serial = take(input, 2);
		m->device.cookie = take(input, 4) == 0 ? 1 : guest->cookie + (guest->cookie == 0);
		break;
	case GID_WIRE_PEER:
		m->peer.domain = number;
		m->peer.epoch = guest->epochs[number];
		m->peer.up = take(input, 4) == 0;
		m->peer.fault = take(input, 2);
		break;
	case GID_WIRE_PUNCH:
		m->allocated.offset = take_offset(input) & ~UINT64_C(4095);
		m->allocated.size = (1 + take(input, 4)) * UINT64_C(4096);
		break;
	default:
		break;
	}
}

void guest_put_message(struct guest *guest, struct input *input) {
	union gid_wire_message message;
	uint32_t type = types[take(input, sizeof(types) / sizeof(types[0]))];
	uint32_t to = type == GID_WIRE_PEER || type == GID_WIRE_PUNCH ? 0
			: take(input, 8) == 0			      ? 3 - guest->number
								      : HOST;
	gid_wire_begin(&message, type, type == GID_WIRE_IMPORT || type == GID_WIRE_SUBSCRIBE);
	fill(&message, guest, input);
	put_envelope(guest, to, guest->epochs[to] + (take(input, 32) == 0), &message);
}
