// SPDX-License-Identifier: MIT
#include "gidd_message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "inside.h"

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

void gidd_message_init(void) {
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
		GID_WIRE_UNEXPORT, GID_WIRE_GRANT, GID_WIRE_IMPORT, GID_WIRE_IMPORTED,
		GID_WIRE_UNIMPORT, GID_WIRE_REVOKED, GID_WIRE_PUBLISH, GID_WIRE_UNPUBLISH,
		GID_WIRE_SUBSCRIBE, GID_WIRE_SUBSCRIBER, GID_WIRE_ACCEPT, GID_WIRE_SUBSCRIBED,
		GID_WIRE_SUBSCRIPTION_END, GID_WIRE_STATUS, GID_WIRE_REPORT, GID_WIRE_ALLOC,
		GID_WIRE_ALLOCATED, GID_WIRE_FREE, GID_WIRE_CLOCK, GID_WIRE_BELL, GID_WIRE_PING,
		GID_WIRE_JOIN, GID_WIRE_PEER, GID_WIRE_DOORBELL, GID_WIRE_HEARING, GID_WIRE_VECTOR,
		GID_WIRE_WITHDRAW, GID_WIRE_PUNCHED, GID_WIRE_OWN_WINDOW, GID_WIRE_OFFERS,
		GID_WIRE_SEAL, GID_WIRE_SEALED};

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
	*layout = inside_layout;
}

static void fill(union gid_wire_message *m, struct input *input) {
	switch ((enum gid_wire_type)m->header.type) {
	case GID_WIRE_HELLO:
	case GID_WIRE_WELCOME:
		m->hello.version = take(input, 16) == 0 ? GID_WIRE_VERSION - 1 : GID_WIRE_VERSION;
		m->hello.domain = take(input, 4);
		strcpy(m->hello.name, "fuzz");
		break;
	case GID_WIRE_RESULT:
		m->result.error = take(input, 2) == 0 ? 0 : -ENOENT;
		m->result.value = take(input, 2);
		break;
	case GID_WIRE_EXPORT:
		fill_slab(&m->export.slab, &m->export.memory, &m->export.slot_count,
				&m->export.slot_size, &m->export.generations, &m->export.layout,
				input);
		break;
	case GID_WIRE_IMPORTED:
		fill_slab(&m->imported.slab, &m->imported.memory, &m->imported.slot_count,
				&m->imported.slot_size, &m->imported.generations,
				&m->imported.layout, input);
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
	case GID_WIRE_UNIMPORT:
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
		m->subscribe.flags = take(input, 4) | (take(input, 4) == 0 ? GID_WIRE_LIVE : 0);
		strcpy(m->subscribe.domain_name,
				((const char *[]){"", "open", "cluster", "hud"})[take(input, 4)]);
		put_name(m->subscribe.name, input);
		break;
	case GID_WIRE_SUBSCRIBER:
		m->subscriber.subscription = take_number(input);
		m->subscriber.stream = 1 + take(input, 4);
		m->subscriber.domain = 1 + take(input, 4);
		m->subscriber.credit = 1;
		m->subscriber.flags = take(input, 4) == 0 ? 0 : GID_WIRE_LIVE;
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
		m->alloc.readers = take(input, 4);
		if (m->alloc.readers == GID_WIRE_READERS_STREAM) {
			strcpy(m->alloc.name, names[take(input, 4)]);
		} else if (m->alloc.readers == GID_WIRE_READERS_DOMAIN) {
			m->alloc.domain = take(input, 5);
		}
		break;
	case GID_WIRE_WITHDRAW:
		m->withdraw.gid = take(input, 2) == 0 ? 0 : take_gid(input);
		strcpy(m->withdraw.owner, take(input, 4) == 0 ? "hud" : "open");
		if (m->withdraw.gid == 0) {
			strcpy(m->withdraw.reader,
					((const char *[]){"", "cluster", "hud",
							"x"})[take(input, 4)]);
			strcpy(m->withdraw.name, take(input, 3) == 0 ? "*" : names[take(input, 4)]);
		}
		break;
	case GID_WIRE_ALLOCATED:
	case GID_WIRE_FREE:
	case GID_WIRE_PUNCH:
	case GID_WIRE_PUNCHED:
		m->allocated.offset = (1 + take(input, 8)) * UINT64_C(4096);
		m->allocated.size = (1 + take(input, 4)) * UINT64_C(4096);
		break;
	case GID_WIRE_OWN_WINDOW:
		m->own_window.number = take(input, 8);
		m->own_window.more = take(input, 2);
		m->own_window.size = GID_WINDOW_MIN << take(input, 3);
		m->own_window.filled = take(input, 2) * GID_WINDOW_MIN;
		m->own_window.readers[0] = (uint8_t)take(input, 16);
		break;
	case GID_WIRE_CLOCK:
	case GID_WIRE_JOIN:
	case GID_WIRE_JOINED:
	case GID_WIRE_PEER:
		m->peer.domain = 1 + take(input, 4);
		break;
	case GID_WIRE_DOORBELL:
	case GID_WIRE_HEARING:
		m->hearing.subscription = take_number(input);
		m->hearing.on = take(input, 2);
		break;
	case GID_WIRE_VECTOR:
		m->vector.subscription = take_number(input);
		m->vector.vector = 1 + take(input, GID_BELLS_POOL);
		break;
	case GID_WIRE_OFFERS:
		m->offers.count = take(input, GID_WIRE_OFFERS_MAX + 1);
		m->offers.more = take(input, 2);
		for (uint32_t i = 0; i < m->offers.count; i++) {
			strcpy(m->offers.names[i], names[i % 4]);
		}
		break;
	case GID_WIRE_SEALED:
		m->seal.since = 1;
		m->seal.on = 1;
		break;
	case GID_WIRE_SEAL:
		m->seal.on = take(input, 2);
		break;
	case GID_WIRE_REPORT:
	case GID_WIRE_STATUS:
	case GID_WIRE_BELL:
	case GID_WIRE_PING:
	case GID_WIRE_PONG:
	case GID_WIRE_DEVICE:
	case GID_WIRE_TYPE_END:
		break;
	}
}

uint32_t gidd_message_fds(const union gid_wire_message *message, int fds[2]) {
	uint32_t size, fd_count = 0, type = message->header.type;
	bool slab = type == GID_WIRE_EXPORT || type == GID_WIRE_IMPORTED;
	bool live = type == GID_WIRE_SUBSCRIBER ||
			(type == GID_WIRE_SUBSCRIBE &&
					(message->subscribe.flags & GID_WIRE_LIVE) != 0);
	gid_wire_shape(type, &size, &fd_count);
	fds[0] = files[slab ? FILE_SLAB : FILE_SHARED];
	fds[1] = files[live ? FILE_SHARED : FILE_BELL];
	return fd_count;
}

uint32_t gidd_message_make(union gid_wire_message *message, int fds[2], struct input *input) {
	uint32_t type = types[take(input, sizeof(types) / sizeof(types[0]))];
	gid_wire_begin(message, type, take(input, 8));
	fill(message, input);
	uint32_t fd_count = gidd_message_fds(message, fds);
	uint32_t odd = take(input, 16);
	if (odd < FILE_COUNT) {
		fds[0] = files[odd];
	}
	return fd_count;
}
