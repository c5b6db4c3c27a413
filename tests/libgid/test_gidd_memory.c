// SPDX-License-Identifier: MIT
/*
 * Slabs that are made without waiting, by a gidd that deals out memory of a window: it answers
 * late, never, twice, or with something else, or goes, or is sealed meanwhile. What the owner is
 * told, and that nothing is kept which nobody has.
 */
#include <dirent.h>
#include <drm_fourcc.h>
#include <gid/domain.h>
#include <gid/stream.h>
#include <sys/mman.h>

#include "false_gidd.h"
#include "slab_object.h"

#define PATIENCE_NS (UINT64_C(60) * 1000000000)
#define SOON_NS UINT64_C(20000000)
#define WINDOW_SIZE (UINT64_C(1) << 20)
#define PLACE 4096u	    /* in the window */
#define OTHER_PLACE 524288u /* that does not overlap it */
#define NUMBER 7u	    /* of the slab */
#define OTHER_NUMBER 8u

enum way {
	GIVES,
	NEVER, /* until the test says otherwise */
	GIVES_TWICE,
	GIVES_LESS,
	GIVES_BEYOND,  /* the window's end */
	GIVES_NOTHING, /* "done", without any memory or number */
	HAS_NO_WINDOW,
	REFUSES,
};

static atomic_int alloc_way, export_way;
static atomic_uint allocs, exports, unexports, frees;
static atomic_uint alloc_serial, export_serial, alloc_size;
static atomic_uint place = PLACE;
static atomic_int connection;
static int window = -1;

static bool give(int fd, uint32_t serial, uint64_t size) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_ALLOCATED, serial);
	message.allocated.offset = place;
	message.allocated.size = size;
	return gid_socket_send(fd, message.bytes, message.header.size, &window, 1) == 0;
}

static bool answer_alloc(int fd, uint32_t serial, uint64_t size) {
	switch ((enum way)alloc_way) {
	case GIVES:
		return give(fd, serial, size);
	case NEVER:
		return true;
	case GIVES_TWICE:
		return give(fd, serial, size) && give(fd, serial, size);
	case GIVES_LESS:
		return give(fd, serial, size - 4096);
	case GIVES_BEYOND:
		return give(fd, serial, WINDOW_SIZE);
	case GIVES_NOTHING:
		return false_gidd_answer(fd, serial, 0, 0);
	case HAS_NO_WINDOW:
		return false_gidd_answer(fd, serial, -ENOTSUP, 0);
	case REFUSES:
		return false_gidd_answer(fd, serial, -EDQUOT, 0);
	}
	return false;
}

static bool answer_export(int fd, uint32_t serial) {
	int way = export_way;
	return way == NEVER ||
			false_gidd_answer(fd, serial, way == REFUSES ? -EPERM : 0,
					way == GIVES_NOTHING ? 0 : NUMBER);
}

static bool hear(int fd, const union gid_wire_message *message, unsigned life) {
	uint32_t serial = message->header.serial;
	switch (message->header.type) {
	case GID_WIRE_HELLO:
		connection = fd;
		return false_gidd_greet(fd, serial);
	case GID_WIRE_ALLOC:
		alloc_serial = serial;
		alloc_size = (unsigned)gid_memory_round_up(message->alloc.size);
		allocs++;
		return answer_alloc(fd, serial, alloc_size);
	case GID_WIRE_EXPORT:
		export_serial = serial;
		exports++;
		return answer_export(fd, serial);
	case GID_WIRE_UNEXPORT:
		unexports++;
		return false_gidd_answer(fd, serial, 0, 0);
	case GID_WIRE_FREE:
		frees += message->allocated.offset == PLACE || message->allocated.offset == place;
		return false_gidd_answer(fd, serial, 0, 0);
	default:
		return false_gidd_answer(fd, serial, 0, 0);
	}
}

/* --- the owner -------------------------------------------------------------------------------- */

static struct gid_domain *domain;
static struct gid_layout layout;

struct heard {
	unsigned times;
	int error;
};

static void handle_made(void *data, int error, struct gid_slab *slab) {
	struct heard *heard = data;
	heard->times++;
	heard->error = error;
}

static int begin(struct heard *heard, struct gid_slab **slab) {
	*heard = (struct heard){0};
	*slab = NULL;
	return gid_slab_create_async(
			domain, "movie", &layout, 0, 2, NULL, handle_made, heard, slab);
}

#define WAIT_FOR(condition)                                                                        \
	do {                                                                                       \
		uint64_t end = gid_clock_now() + PATIENCE_NS;                                      \
		while (!(condition) && gid_clock_now() < end) {                                    \
			false_gidd_wait(domain);                                                   \
		}                                                                                  \
	} while (0)

static unsigned count_descriptors(void) {
	unsigned count = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (folder != NULL && readdir(folder) != NULL) {
		count++;
	}
	closedir(folder);
	return count;
}

static bool has_nothing(struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.revoked && gid_slab_gid(slab, 1) == GID_NONE && gid_slab_take(slab) == -EAGAIN;
}

/* As long as gidd does not say more. */
static struct gid_slab *begin_in_vain(struct heard *heard) {
	struct gid_slab *slab;
	unsigned before = allocs;
	alloc_way = NEVER;
	int error = begin(heard, &slab);
	WAIT_FOR(allocs > before);
	tap_ok(error == 0 && heard->times == 0 && has_nothing(slab) &&
					gid_slab_renew(slab) == -EINPROGRESS,
			"nobody waits for it, and it has nothing so far: %d", error);
	alloc_way = GIVES;
	return slab;
}

static void demand_works(struct gid_slab *slab, const char *when) {
	int slot = gid_slab_take(slab);
	gid_id gid = slot < 0 ? GID_NONE : gid_slab_gid(slab, (uint32_t)slot);
	char *data = slot < 0 ? NULL : gid_slab_data(slab, (uint32_t)slot);
	if (data != NULL) {
		memset(data, 1, gid_layout_size(&layout));
	}
	tap_ok(data != NULL && gid_slab_of(gid) == NUMBER && gid_slab_is_current(slab, gid) &&
					gid_slab_renew(slab) == 0 && gid_slab_emptied(slab) == 0,
			"it is as any other slab %s", when);
}

/* --- the tests -------------------------------------------------------------------------------- */

static void test_late(void) {
	struct heard heard;
	struct gid_slab *slab = begin_in_vain(&heard);
	unsigned ended = unexports, freed = frees, asked = exports;
	give(connection, alloc_serial, alloc_size);
	WAIT_FOR(heard.times > 0);
	tap_ok(heard.times == 1 && heard.error == 0 && exports == asked + 1,
			"it is told once when it is there: %d", heard.error);
	demand_works(slab, "then");
	gid_slab_destroy(slab, true);
	WAIT_FOR(frees > freed);
	tap_ok(frees == freed + 1 && unexports == ended + 1, "and ends as one");
}

/* As an owner that gives up does, before and after it has memory. */
static void test_given_back(void) {
	struct heard heard, number;
	struct gid_slab *slab = begin_in_vain(&heard), *other;
	unsigned freed = frees, asked = exports, descriptors = count_descriptors();
	gid_slab_unref(slab);
	false_gidd_answer(connection, alloc_serial, -EDQUOT, 0);
	for (int i = 0; i < 10; i++) {
		false_gidd_wait(domain);
	}
	tap_ok(frees == freed && exports == asked && heard.times == 0,
			"a refusal that comes for nobody is nobody's");
	gid_slab_unref(begin_in_vain(&heard));
	give(connection, alloc_serial, alloc_size);
	WAIT_FOR(frees > freed && count_descriptors() == descriptors);
	tap_ok(frees == freed + 1 && exports == asked && heard.times == 0 &&
					count_descriptors() == descriptors,
			"memory that comes for nobody is given back, and no slab is made of it");
	export_way = NEVER;
	begin(&number, &other);
	WAIT_FOR(exports > asked);
	gid_slab_destroy(other, true);
	unsigned ended = unexports;
	freed = frees;
	false_gidd_answer(connection, export_serial, 0, NUMBER);
	WAIT_FOR(frees > freed);
	tap_ok(frees == freed + 1 && unexports == ended + 1 && number.times == 0,
			"so is a number, with its memory");
	export_way = GIVES;
}

static void test_twice(void) {
	struct heard heard;
	struct gid_slab *slab;
	unsigned before = count_descriptors();
	alloc_way = GIVES_TWICE;
	begin(&heard, &slab);
	WAIT_FOR(heard.times > 0);
	demand_works(slab, "if its memory is given twice");
	for (int i = 0; i < 10; i++) {
		false_gidd_wait(domain);
	}
	tap_ok(heard.times == 1, "which is told once");
	gid_slab_destroy(slab, false);
	WAIT_FOR(count_descriptors() == before);
	tap_ok(count_descriptors() == before, "the other descriptor is closed");
}

/* gidd has heard all that was said until now. */
static void wait_heard(void) {
	tap_ok(gid_domain_seal(domain, false) == 0, "gidd answers");
}

static void test_other_answers(void) {
	static const struct {
		enum way way;
		int error;
		unsigned frees; /* what cannot be used goes back */
		const char *what;
	} ways[] = {
			{GIVES_LESS, -EPROTO, 2, "less memory"},
			{GIVES_BEYOND, -ERANGE, 2, "memory beyond the window's end"},
			{GIVES_NOTHING, -EPROTO, 0, "no memory"},
			{REFUSES, -EDQUOT, 0, "a refusal"},
	};
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct heard heard;
		struct gid_slab *slab, *waited = NULL;
		wait_heard();
		unsigned before = count_descriptors(), freed = frees;
		alloc_way = ways[i].way;
		begin(&heard, &slab);
		WAIT_FOR(heard.times > 0);
		tap_ok(heard.times == 1 && heard.error == ways[i].error && has_nothing(slab),
				"%s is told: %d, %s", ways[i].what, heard.error,
				gid_domain_error(domain));
		int error = gid_slab_create(domain, &layout, 0, 2, NULL, &waited);
		tap_ok(error == ways[i].error && waited == NULL, "also to who waits for it: %d",
				error);
		wait_heard();
		tap_ok(frees == freed + ways[i].frees, "what was given went back: %u of %u",
				frees - freed, ways[i].frees);
		alloc_way = GIVES;
		tap_ok(gid_slab_renew(slab) == -EAGAIN, "it is not asked again at once");
		slab->refused -= 1000000000;
		tap_ok(gid_slab_renew(slab) == -EINPROGRESS, "but a second later");
		WAIT_FOR(heard.times > 1);
		demand_works(slab, "in the end");
		gid_slab_destroy(slab, false);
		WAIT_FOR(count_descriptors() == before);
		tap_ok(count_descriptors() == before, "and nothing is left");
	}
}

static void test_numbers(void) {
	struct heard heard, second;
	struct gid_slab *slab, *other;
	export_way = GIVES_NOTHING;
	begin(&heard, &slab);
	WAIT_FOR(heard.times > 0);
	tap_ok(heard.times == 1 && heard.error == -EPROTO && has_nothing(slab),
			"no number is none: %d, %s", heard.error, gid_domain_error(domain));
	gid_slab_unref(slab);
	export_way = GIVES;
	begin(&heard, &slab);
	WAIT_FOR(heard.times > 0);
	begin(&second, &other);
	WAIT_FOR(second.times > 0);
	tap_ok(heard.error == 0 && second.error == -EPROTO && has_nothing(other),
			"nor is one that another slab has: %d", second.error);
	demand_works(slab, "beside that");
	gid_slab_unref(other);
	gid_slab_destroy(slab, false);
}

static bool is_revoked(struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.revoked;
}

/* Its owner makes it anew, as often as that is needed. */
static void test_not_taken_again(void) {
	struct heard heard;
	struct gid_slab *slab;
	begin(&heard, &slab);
	WAIT_FOR(heard.times > 0);
	for (unsigned time = 1; time <= 2; time++) {
		export_way = REFUSES;
		false_gidd.life++;
		WAIT_FOR(is_revoked(slab));
		export_way = GIVES;
		int error = gid_slab_renew(slab);
		WAIT_FOR(heard.times > time);
		tap_ok(error == -EINPROGRESS && heard.error == 0 && !is_revoked(slab) &&
						gid_slab_emptied(slab) == time,
				"what a gidd that came back refuses is made anew: %d, %d", error,
				heard.error);
	}
	gid_slab_destroy(slab, false);
}

static void test_no_window(void) {
	struct heard heard;
	struct gid_slab *slab;
	struct gid_slab_info info;
	alloc_way = HAS_NO_WINDOW;
	begin(&heard, &slab);
	WAIT_FOR(heard.times > 0);
	gid_slab_get_info(slab, &info);
	tap_ok(heard.error == 0 && info.memory == GID_MEMORY_MEMFD,
			"without a window it is a memfd: %d", heard.error);
	demand_works(slab, "there");
	unsigned ended = unexports;
	gid_slab_destroy(slab, false);
	WAIT_FOR(unexports > ended);
	alloc_way = GIVES;
}

static void test_waited_for(void) {
	struct gid_slab *slab = NULL;
	unsigned ended = unexports;
	int error = gid_slab_create(domain, &layout, 0, 2, NULL, &slab);
	if (tap_ok(error == 0, "who waits has it at once: %d", error)) {
		demand_works(slab, "at once");
	}
	gid_slab_destroy(slab, false);
	tap_ok(unexports == ended + 1, "and waits for its end");
}

/* --- leaving its memory ------------------------------------------------------------------------
 */

static void say_revoked(gid_id gid) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_REVOKED, 0);
	message.revoked.gid = gid;
	gid_socket_send(connection, message.bytes, message.header.size, NULL, 0);
}

static bool is_there(struct gid_slab *slab, gid_id gid) {
	return gid_slab_is_current(slab, gid) && gid_slab_gid(slab, 0) == gid &&
			strcmp(gid_slab_data(slab, 0), "a picture") == 0;
}

/* It has to leave its memory, and gidd does not say yet where to. */
static struct gid_slab *begin_to_leave(gid_id *gid) {
	struct gid_slab *slab = NULL;
	unsigned asked = allocs + 1;
	alloc_way = export_way = GIVES;
	place = PLACE;
	gid_slab_create(domain, &layout, 0, 2, NULL, &slab);
	strcpy(gid_slab_data(slab, 0), "a picture");
	*gid = gid_slab_gid(slab, 0);
	alloc_way = export_way = NEVER;
	place = OTHER_PLACE;
	say_revoked(*gid);
	WAIT_FOR(allocs > asked);
	tap_ok(is_there(slab, *gid) && gid_domain_is_connected(domain),
			"nobody waits for other memory of a slab");
	return slab;
}

static void get_memory(void) {
	unsigned asked = exports;
	give(connection, alloc_serial, alloc_size);
	WAIT_FOR(exports > asked);
}

static void test_leaves(void) {
	gid_id gid, now;
	struct gid_slab *slab = begin_to_leave(&gid);
	get_memory();
	tap_ok(is_there(slab, gid) && gid_domain_is_connected(domain),
			"nor for a number: it is where it was until then");
	unsigned ended = unexports;
	false_gidd_answer(connection, export_serial, 0, OTHER_NUMBER);
	WAIT_FOR(gid_slab_gid(slab, 0) != gid && unexports > ended);
	now = gid_slab_gid(slab, 0);
	tap_ok(gid_slab_of(now) == OTHER_NUMBER && is_there(slab, now) &&
					!gid_slab_is_current(slab, gid) &&
					slab->info.offset == OTHER_PLACE &&
					gid_slab_emptied(slab) == 0,
			"then it is there, as it was");
	gid_slab_destroy(slab, false);
}

static void test_emptied_meanwhile(void) {
	gid_id gid;
	struct gid_slab *slab = begin_to_leave(&gid);
	say_revoked(gid);
	get_memory();
	false_gidd_answer(connection, export_serial, 0, OTHER_NUMBER);
	WAIT_FOR(gid_slab_gid(slab, 0) != gid);
	tap_ok(gid_slab_emptied(slab) == 1, "what gidd emptied before is told");
	say_revoked(gid);
	WAIT_FOR(gid_slab_emptied(slab) > 1);
	tap_ok(gid_slab_emptied(slab) == 2, "also where that is heard afterwards");
	gid_slab_destroy(slab, false);
}

/* Its owner destroys it before it has other memory, or a number of that. */
static void test_ends_as_it_leaves(void) {
	gid_id gid;
	struct gid_slab *slab = begin_to_leave(&gid);
	unsigned asked = exports, freed = frees;
	gid_slab_destroy(slab, false);
	WAIT_FOR(frees > freed);
	give(connection, alloc_serial, alloc_size);
	WAIT_FOR(frees > freed + 1);
	tap_ok(exports == asked && frees == freed + 2, "memory that comes for none is given back");
	slab = begin_to_leave(&gid);
	get_memory();
	gid_slab_destroy(slab, false);
	unsigned ended = unexports;
	false_gidd_answer(connection, export_serial, 0, OTHER_NUMBER);
	WAIT_FOR(unexports > ended);
	tap_ok(unexports == ended + 1, "and so is a number");
}

static void test_does_not_leave(void) {
	gid_id gid;
	struct gid_slab *slab = begin_to_leave(&gid);
	alloc_way = export_way = GIVES;
	place = PLACE;
	false_gidd.life++;
	WAIT_FOR(slab->info.revoked);
	tap_ok(slab->info.revoked, "where gidd goes meanwhile, its owner loses it");
	WAIT_FOR(gid_domain_is_connected(domain));
	gid_slab_destroy(slab, false);
}

/* Who waits is not held up by who does not; the end of the connection is that of both. */
static void test_beside_another(void) {
	struct heard heard;
	uint64_t answer_ns = domain->answer_ns;
	struct gid_slab *slab = begin_in_vain(&heard), *waited = NULL;
	uint32_t serial = alloc_serial;
	int error = gid_slab_create(domain, &layout, 0, 2, NULL, &waited);
	tap_ok(error == 0 && heard.times == 0, "who waits has it before who asked first: %d",
			error);
	gid_slab_destroy(waited, false);
	give(connection, serial, alloc_size);
	WAIT_FOR(heard.times > 0);
	demand_works(slab, "after that");
	gid_slab_destroy(slab, false);
	slab = begin_in_vain(&heard);
	waited = NULL;
	alloc_way = NEVER;
	domain->answer_ns = SOON_NS;
	error = gid_slab_create(domain, &layout, 0, 2, NULL, &waited);
	tap_ok(error == -ETIMEDOUT && waited == NULL && !gid_domain_is_connected(domain),
			"who waits for one that never answers is told: %d", error);
	WAIT_FOR(heard.times > 0);
	tap_ok(heard.error == -ENOTCONN, "and so is who does not wait: %d", heard.error);
	gid_slab_unref(slab);
	alloc_way = GIVES;
	domain->answer_ns = answer_ns;
	WAIT_FOR(gid_domain_is_connected(domain));
}

static void test_never(void) {
	struct heard heard;
	struct gid_slab *slab;
	uint64_t answer_ns = domain->answer_ns;
	unsigned asked = allocs;
	domain->answer_ns = SOON_NS; /* which may be before gidd has heard of it */
	alloc_way = NEVER;
	int error = begin(&heard, &slab);
	tap_ok(error == 0 && heard.times == 0 && has_nothing(slab), "one is asked: %d", error);
	WAIT_FOR(heard.times > 0);
	tap_ok(heard.times == 1 && heard.error == -ETIMEDOUT && has_nothing(slab) &&
					!gid_domain_is_connected(domain),
			"one that never answers is left: %d", heard.error);
	gid_slab_unref(slab);
	slab = NULL;
	error = begin(&heard, &slab);
	domain->answer_ns = answer_ns;
	WAIT_FOR(gid_domain_is_connected(domain)); /* gidd has heard all that was said before */
	tap_ok(error == -ENOTCONN && allocs == asked + 1, "nor asked then: %d", error);
	alloc_way = GIVES;
}

/* Nobody has heard of it yet. */
static void test_just_gone(void) {
	struct heard heard;
	struct gid_slab *slab;
	struct pollfd socket_end = {.fd = domain->socket, .events = POLLIN};
	false_gidd.life++;
	bool gone = poll(&socket_end, 1, (int)(PATIENCE_NS / 1000000)) == 1;
	int error = begin(&heard, &slab);
	tap_ok(gone && error == -ENOTCONN && slab == NULL && heard.times == 0,
			"one that has just gone is not asked: %d", error);
	WAIT_FOR(gid_domain_is_connected(domain));
}

static void test_another_gidd(void) {
	struct heard heard, number;
	struct gid_slab *slab = begin_in_vain(&heard), *other;
	unsigned asked = exports;
	export_way = NEVER;
	begin(&number, &other);
	WAIT_FOR(exports > asked);
	export_way = GIVES;
	false_gidd.life++;
	WAIT_FOR(heard.times > 0 && number.times > 0);
	tap_ok(heard.error == -ENOTCONN && number.error == -ENOTCONN && has_nothing(slab) &&
					has_nothing(other),
			"one that goes has given neither memory nor number: %d, %d", heard.error,
			number.error);
	WAIT_FOR(gid_domain_is_connected(domain));
	slab->refused -= 1000000000;
	tap_ok(gid_slab_renew(slab) == -EINPROGRESS, "the next one is asked");
	WAIT_FOR(heard.times > 1);
	demand_works(slab, "with that");
	gid_slab_destroy(slab, false);
	gid_slab_destroy(other, false);
}

static void say_sealed(bool on) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SEALED, 0);
	message.seal.on = on;
	message.seal.since = on ? 1234 : 0;
	gid_socket_send(connection, message.bytes, message.header.size, NULL, 0);
}

static void test_sealed(void) {
	struct heard heard, second;
	struct gid_slab *slab = begin_in_vain(&heard), *other;
	uint32_t serial = alloc_serial;
	struct gid_slab *without = begin_in_vain(&second);
	unsigned freed = frees, asked = exports, descriptors = count_descriptors();
	say_sealed(true);
	give(connection, serial, alloc_size);
	false_gidd_answer(connection, alloc_serial, -ENOTSUP, 0);
	WAIT_FOR(heard.times > 0 && second.times > 0);
	WAIT_FOR(frees > freed && count_descriptors() == descriptors);
	tap_ok(heard.error == -ESHUTDOWN && has_nothing(slab) && exports == asked &&
					frees == freed + 1 && count_descriptors() == descriptors,
			"what comes after the seal is not mapped, but given back: %d", heard.error);
	tap_ok(second.error == -ESHUTDOWN && has_nothing(without),
			"nor is a memfd made after it, where there is no window: %d", second.error);
	gid_slab_unref(without);
	unsigned before = allocs;
	slab->refused -= 1000000000;
	tap_ok(begin(&heard, &other) == -ESHUTDOWN && gid_slab_renew(slab) == -EAGAIN &&
					allocs == before,
			"nor is anything asked for");
	struct gid_producer *producer = NULL;
	tap_ok(gid_producer_create(domain, "movie", NULL, &producer) == -ESHUTDOWN &&
					producer == NULL,
			"nor is a stream begun");
	gid_slab_unref(slab);
	say_sealed(false);
	WAIT_FOR(gid_domain_sealed_since(domain) == 0);
}

/* The one of all other tests stays. */
static void test_domain_ends(void) {
	struct gid_domain *stays = domain;
	struct heard heard;
	struct gid_slab *slab;
	false_gidd.life++; /* it has one connection at a time */
	WAIT_FOR(!gid_domain_is_connected(domain));
	alloc_way = NEVER;
	if (tap_ok(gid_domain_connect("open", &domain) == 0 && begin(&heard, &slab) == 0,
			    "another connection: %s", gid_domain_connect_error())) {
		gid_domain_destroy(domain);
		tap_ok(heard.times == 0 && has_nothing(slab) && gid_slab_renew(slab) == -EINVAL,
				"it may end meanwhile, and what it made is not made anew");
		gid_slab_unref(slab);
	}
	domain = stays;
}

static void test(struct gid_domain *connected) {
	domain = connected;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 64, 48, 64);
	test_late();
	test_given_back();
	test_twice();
	test_other_answers();
	test_numbers();
	test_not_taken_again();
	test_no_window();
	test_waited_for();
	test_leaves();
	test_emptied_meanwhile();
	test_ends_as_it_leaves();
	test_does_not_leave();
	test_beside_another();
	test_never();
	test_just_gone();
	test_another_gidd();
	test_sealed();
	test_domain_ends();
}

int main(void) {
	setenv("GID_ANSWER_SECONDS", "20", 1);
	window = memfd_create("window", MFD_CLOEXEC);
	if (ftruncate(window, WINDOW_SIZE) < 0) {
		return 1;
	}
	false_gidd.window = WINDOW_SIZE;
	int result = false_gidd_test(hear, test);
	close(window);
	return result;
}
