// SPDX-License-Identifier: MIT
/*
 * A gidd that is of another kind, or does not do its part: greets as another one, takes nothing,
 * answers late or with something else. What the program is told, and what becomes of the
 * connection.
 */
#include <drm_fourcc.h>
#include <fcntl.h>
#include <gid/domain.h>
#include <gid/stream.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "false_gidd.h"
#include "tap.h"

#define PATIENCE_NS (UINT64_C(60) * 1000000000)
#define SOON_NS UINT64_C(20000000)
#define MS_NS 1000000
#define SLOW_WORDS 600 /* more than a queue has room for */

enum greeting {
	GREETS,
	GREETS_IN_NEWER_VERSION,
	GREETS_AS_ANOTHER,
	REFUSES_WITH_WORDS,
	REFUSES_WITHOUT_WORDS,
	ANSWERS_INSTEAD,
};

/* What it does while it takes nothing. */
enum stuck {
	IS_NOT,
	SAYS_NOTHING,
	SAYS_MUCH,
	SAYS_NONSENSE,
	SENDS_DESCRIPTORS,
	HANGS_UP,
	TAKES_ONE_BY_ONE, /* with a pause after each */
};

static atomic_int greeting, stuck;
static atomic_bool is_slow;	/* this program: between what it looks at */
static atomic_bool takes_again; /* as soon as this program waits for that */
static atomic_bool time_stands; /* for this program: no deadline passes */
static atomic_bool answers;
static atomic_uint hellos, words_taken;
static atomic_uint imports, imports_let_go;
static atomic_bool gives;    /* a slab to who imports, each time in other memory */
static atomic_bool unsealed; /* what it gives */
static uint32_t import_serials[16];
static char program[64];

/* Of libgid's own code, as it is linked here. */
uint64_t __wrap_gid_clock_now(void);
uint64_t __real_gid_clock_now(void);
int __wrap_gid_socket_wait(int fd, short events, uint64_t deadline);
int __real_gid_socket_wait(int fd, short events, uint64_t deadline);

uint64_t __wrap_gid_clock_now(void) {
	static uint64_t stood_at;
	if (!time_stands) {
		stood_at = __real_gid_clock_now();
	}
	return stood_at;
}

int __wrap_gid_socket_wait(int fd, short events, uint64_t deadline) {
	if (is_slow) {
		nanosleep(&(struct timespec){.tv_nsec = MS_NS}, NULL);
	}
	if (takes_again && (events & POLLOUT) != 0) {
		stuck = IS_NOT;
		takes_again = false;
		deadline = __real_gid_clock_now() + PATIENCE_NS;
	}
	return __real_gid_socket_wait(fd, events, deadline);
}

static bool say_revoked(int fd, uint32_t slab) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_REVOKED, 0);
	message.revoked.gid = gid_make(2, slab, 0, 0);
	return gid_socket_send(fd, message.bytes, message.header.size, NULL, 0) == 0;
}

static bool say_imported(int fd, uint32_t serial) {
	union gid_wire_message message;
	struct gid_layout layout;
	int memory = memfd_create("slab", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int seals = unsealed ? F_SEAL_WRITE : F_SEAL_SHRINK | F_SEAL_WRITE;
	static const char page[4096];
	if (pwrite(memory, page, sizeof(page), 0) < 0 || fcntl(memory, F_ADD_SEALS, seals) < 0) {
		return false;
	}
	gid_wire_begin(&message, GID_WIRE_IMPORTED, serial);
	message.imported.domain = 2;
	message.imported.slab = 7;
	message.imported.memory = GID_MEMORY_MEMFD;
	message.imported.slot_count = 1;
	message.imported.slot_size = 4096;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 16, 16, 64);
	gid_wire_put_layout(&message.imported.layout, &layout);
	bool said = gid_socket_send(fd, message.bytes, message.header.size, &memory, 1) == 0;
	close(memory);
	return said;
}

static void send_bell(int fd) {
	union gid_wire_message message;
	int bell = eventfd(0, EFD_CLOEXEC);
	gid_wire_begin(&message, GID_WIRE_DOORBELL, 0);
	message.doorbell.subscription = 1;
	gid_socket_send(fd, message.bytes, message.header.size, &bell, 1);
	close(bell);
}

/* Until it is told otherwise, or the connection is gone. */
static bool take_nothing(int fd) {
	struct pollfd end = {.fd = fd};
	while (stuck != IS_NOT && !false_gidd.ends) {
		if (stuck == HANGS_UP) {
			return false;
		}
		if (stuck == TAKES_ONE_BY_ONE) {
			words_taken++;
			return nanosleep(&(struct timespec){.tv_nsec = 2 * MS_NS}, NULL) == 0;
		}
		if (stuck == SAYS_NONSENSE) {
			gid_socket_send(fd, "nonsense", 8, NULL, 0);
		}
		for (int i = 0; stuck == SAYS_MUCH && i < 50 && say_revoked(fd, 7); i++) {
		}
		for (int i = 0; stuck == SENDS_DESCRIPTORS && i < 50; i++) {
			send_bell(fd);
		}
		if (poll(&end, 1, 1) > 0) {
			return false;
		}
	}
	return true;
}

static bool greet(int fd, uint32_t serial) {
	union gid_wire_message message;
	hellos++;
	switch ((enum greeting)greeting) {
	case GREETS:
		break;
	case GREETS_IN_NEWER_VERSION:
		return false_gidd_greet_as(fd, serial, GID_WIRE_VERSION + 1, 1);
	case GREETS_AS_ANOTHER:
		return false_gidd_greet_as(fd, serial, GID_WIRE_VERSION, 2);
	case REFUSES_WITH_WORDS:
		gid_wire_begin(&message, GID_WIRE_RESULT, serial);
		message.result.error = -EACCES;
		strcpy(message.result.text, "not this program");
		return gid_socket_send(fd, message.bytes, message.header.size, NULL, 0) == 0;
	case REFUSES_WITHOUT_WORDS:
		return false_gidd_answer(fd, serial, -EACCES, 0);
	case ANSWERS_INSTEAD:
		return false_gidd_answer(fd, serial, 0, 0);
	}
	return false_gidd_greet(fd, serial);
}

static bool hear(int fd, const union gid_wire_message *message, unsigned life) {
	uint32_t serial = message->header.serial;
	switch (message->header.type) {
	case GID_WIRE_HELLO:
		memcpy(program, message->hello.name, sizeof(program));
		return greet(fd, serial);
	case GID_WIRE_HEARING: /* a word that takes no answer */
		return stuck == IS_NOT || take_nothing(fd);
	case GID_WIRE_UNIMPORT:
		imports_let_go++;
		return message->import.gid == gid_make(2, 7, 0, 0);
	case GID_WIRE_UNEXPORT: /* asks it to answer an import, late: which one is its number */
		return say_imported(fd, import_serials[message->unexport.slab]) &&
				false_gidd_answer(fd, serial, 0, 0);
	case GID_WIRE_IMPORT:
		import_serials[imports % 16] = serial;
		imports++;
		return gives ? say_imported(fd, serial)
			     : !answers || false_gidd_answer(fd, serial, 0, 7);
	default:
		return !answers || false_gidd_answer(fd, serial, 0, 7);
	}
}

static bool comes_back(struct gid_domain *domain) {
	uint64_t end = gid_clock_now() + PATIENCE_NS;
	do {
		false_gidd_wait(domain);
	} while (!gid_domain_is_connected(domain) && gid_clock_now() < end);
	return gid_domain_is_connected(domain);
}

static struct gid_domain *connect_now(void) {
	struct gid_domain *domain = NULL;
	if (gid_domain_connect("open", &domain) < 0) {
		tap_ok(false, "it is connected: %s", gid_domain_connect_error());
		exit(tap_finish());
	}
	return domain;
}

/* --- greetings -------------------------------------------------------------------------------- */

static void test_refused(void) {
	static const struct {
		enum greeting greeting;
		int error;
		const char *words;
	} refusals[] = {
			{GREETS_IN_NEWER_VERSION, -EPROTO, "another version"},
			{REFUSES_WITH_WORDS, -EACCES, "not this program"},
			{REFUSES_WITHOUT_WORDS, -EACCES, "no connection to gidd"},
			{ANSWERS_INSTEAD, -EPROTO, "before WELCOME"},
	};
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct gid_domain *domain;
		greeting = refusals[i].greeting;
		int error = gid_domain_connect("open", &domain);
		tap_ok(error == refusals[i].error, "a greeting of that kind is no connection: %d",
				error);
		tap_ok(strstr(gid_domain_connect_error(), refusals[i].words) != NULL,
				"it is said why: %s", gid_domain_connect_error());
	}
	greeting = GREETS;
}

/* Gids of before would be another domain's: such a gidd is never tried again. */
static void test_another_domain(void) {
	struct gid_domain *domain = connect_now();
	greeting = GREETS_AS_ANOTHER;
	false_gidd.life++;
	uint64_t end = gid_clock_now() + PATIENCE_NS;
	int heard = 0;
	while (heard >= 0 && gid_clock_now() < end) {
		nanosleep(&(struct timespec){.tv_nsec = MS_NS}, NULL);
		heard = gid_domain_dispatch(domain);
	}
	tap_ok(heard == -EPROTO, "one that comes back as another domain is none: %d", heard);
	tap_ok(strstr(gid_domain_error(domain), "another domain's number") != NULL,
			"it is said why: %s", gid_domain_error(domain));
	greeting = GREETS;
	unsigned before = hellos;
	for (int i = 0; i < 150; i++) {
		false_gidd_wait(domain);
	}
	tap_ok(hellos == before && gid_domain_dispatch(domain) == -EPROTO,
			"it is not greeted again");
	gid_domain_destroy(domain);
}

static void test_names(void) {
	char *name = program_invocation_short_name;
	program_invocation_short_name = "caf\xe9\n\x7f";
	struct gid_domain *domain = connect_now();
	tap_ok(strcmp(program, "caf???") == 0, "a program's name is one for a log: %s", program);
	program_invocation_short_name = name;
	gid_domain_destroy(domain);
}

static void test_seconds(void) {
	static const struct {
		const char *text;
		uint64_t seconds;
	} words[] = {
			{"3", 3},
			{"600", 600},
			{"601", GID_ANSWER_DEFAULT_S},
			{"0", GID_ANSWER_DEFAULT_S},
			{"3s", GID_ANSWER_DEFAULT_S},
			{"", GID_ANSWER_DEFAULT_S},
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		setenv("GID_ANSWER_SECONDS", words[i].text, 1);
		struct gid_domain *domain = connect_now();
		tap_ok(domain->answer_ns == words[i].seconds * 1000000000,
				"GID_ANSWER_SECONDS=%s is %llu s", words[i].text,
				(unsigned long long)(domain->answer_ns / 1000000000));
		gid_domain_destroy(domain);
	}
	setenv("GID_ANSWER_SECONDS", "20", 1);
}

/* --- it has no room for more ------------------------------------------------------------------ */

static int others[64];
static size_t other_count;

static void *have_others_leave(void *data) {
	nanosleep(&(struct timespec){.tv_nsec = 50 * MS_NS}, NULL);
	gid_socket_close_fds(others, (uint32_t)other_count);
	return NULL;
}

/* It is busy, as when many programs begin at one time. */
static void test_crowded(void) {
	struct gid_domain *domain = NULL;
	union gid_wire_message hello;
	pthread_t thread;
	int fd = gid_socket_connect(false_gidd.path, 0);
	gid_wire_begin(&hello, GID_WIRE_HELLO, 1);
	gid_socket_send(fd, &hello, sizeof(hello.hello), NULL, 0);
	gid_socket_wait(fd, POLLIN, gid_clock_now() + PATIENCE_NS); /* then it hears this one */
	others[other_count++] = fd;
	while (other_count < 64 && (fd = gid_socket_connect(false_gidd.path, 0)) >= 0) {
		others[other_count++] = fd;
	}
	tap_ok(fd == -ETIMEDOUT, "%zu programs wait to be greeted, and no more can", other_count);
	if (pthread_create(&thread, NULL, have_others_leave, NULL) != 0) {
		exit(1);
	}
	int error = gid_domain_connect("open", &domain);
	tap_ok(error == 0, "one more waits for its turn: %d, %s", error,
			gid_domain_connect_error());
	pthread_join(thread, NULL);
	gid_domain_destroy(domain);
}

/* --- it takes nothing ------------------------------------------------------------------------- */

static int post_word(struct gid_domain *domain) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_HEARING, 0);
	message.hearing.on = 1;
	return gid_domain_post(domain, &message, NULL, 0);
}

static void test_takes_nothing(void) {
	static const struct {
		enum stuck stuck;
		int lost[3];
		const char *what;
	} ways[] = {
			{SAYS_NOTHING, {-ETIMEDOUT}, "says nothing"},
			{SAYS_MUCH, {-ETIMEDOUT}, "says ever more"},
			{SAYS_NONSENSE, {-EPROTO}, "says nonsense"},
			{SENDS_DESCRIPTORS, {-ENOBUFS}, "sends ever more descriptors"},
			/* Met in sending, in reading, or in reading before the kernel counts what
			 * was not taken. */
			{HANGS_UP, {-EPIPE, -ECONNRESET, -ENOTCONN}, "hangs up"},
	};
	struct gid_domain *domain = connect_now();
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		int error = 0;
		stuck = ways[i].stuck;
		is_slow = ways[i].stuck == SAYS_MUCH;
		time_stands = ways[i].lost[0] != -ETIMEDOUT;
		for (int sent = 0; sent < 1000000 && error == 0; sent++) {
			error = post_word(domain);
		}
		time_stands = false;
		bool is_told = false;
		for (int way = 0; way < 3; way++) {
			is_told |= ways[i].lost[way] != 0 && domain->lost == ways[i].lost[way];
		}
		tap_ok(error == -ENOTCONN && is_told,
				"one that takes nothing and %s is lost: %d, for %d", ways[i].what,
				error, domain->lost);
		stuck = IS_NOT;
		is_slow = false;
		tap_ok(comes_back(domain), "the next one is greeted");
	}
	takes_again = true;
	stuck = SAYS_NOTHING;
	int error = 0;
	for (int sent = 0; sent < 1000000 && error == 0 && takes_again; sent++) {
		error = post_word(domain);
	}
	tap_ok(error == 0 && !takes_again && gid_domain_is_connected(domain),
			"one that takes more after a while is not: %d", error);
	gid_domain_destroy(domain);
}

/* It is slow: the kernel tells of no room for longer than it may leave its queue full. */
static void test_takes_one_by_one(void) {
	struct gid_domain *domain = connect_now();
	int error = 0;
	unsigned sent = 0;
	stuck = TAKES_ONE_BY_ONE;
	time_stands = true;
	for (; sent < SLOW_WORDS && error == 0; sent++) {
		error = post_word(domain);
	}
	time_stands = false;
	tap_ok(error == 0 && words_taken < sent && gid_domain_is_connected(domain),
			"one that takes a word at a time is not lost: %d, %u of %u", error,
			(unsigned)words_taken, sent);
	stuck = IS_NOT;
	gid_domain_destroy(domain);
}

/* --- answers ---------------------------------------------------------------------------------- */

static int first_end, second_end;

static void end_with(void *data, int error, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX]) {
	*(int *)data = error;
}

static int ask_later(struct gid_domain *domain, uint32_t type, int *end) {
	union gid_wire_message message;
	gid_wire_begin(&message, type, 0);
	if (type == GID_WIRE_PUBLISH) {
		strcpy(message.publish.name, "movie");
	}
	*end = 1;
	return gid_domain_request_async(domain, &message, NULL, 0, end_with, end);
}

static void wait_for(struct gid_domain *domain, const int *end) {
	uint64_t late = gid_clock_now() + PATIENCE_NS;
	while (*end == 1 && gid_clock_now() < late) {
		nanosleep(&(struct timespec){.tv_nsec = MS_NS}, NULL);
		gid_domain_dispatch(domain);
	}
}

/* What may be another gidd's fault ends by itself; what can only be this one's ends the connection.
 */
static void test_unanswered_later(void) {
	struct gid_domain *domain = connect_now();
	uint64_t answer_ns = domain->answer_ns;
	domain->answer_ns = SOON_NS;
	ask_later(domain, GID_WIRE_IMPORT, &first_end);
	domain->answer_ns = answer_ns;
	ask_later(domain, GID_WIRE_IMPORT, &second_end);
	wait_for(domain, &first_end);
	tap_ok(first_end == -ETIMEDOUT && second_end == 1 && gid_domain_is_connected(domain),
			"an import that nobody answers ends alone: %d, %d", first_end, second_end);
	domain->answer_ns = SOON_NS;
	ask_later(domain, GID_WIRE_PUBLISH, &first_end);
	domain->answer_ns = answer_ns;
	wait_for(domain, &first_end);
	tap_ok(first_end == -ETIMEDOUT && domain->lost == -ETIMEDOUT &&
					!gid_domain_is_connected(domain),
			"a stream that gidd does not publish is the end of the connection: %d",
			first_end);
	wait_for(domain, &second_end);
	tap_ok(second_end == -ENOTCONN, "and of all else that was asked: %d", second_end);
	tap_ok(comes_back(domain), "the next one is greeted");
	gid_domain_destroy(domain);
}

static int ask(struct gid_domain *domain, uint32_t type) {
	union gid_wire_message message, answer;
	gid_wire_begin(&message, type, 0);
	if (type == GID_WIRE_PUBLISH) {
		strcpy(message.publish.name, "movie");
	}
	return gid_domain_request(domain, &message, NULL, 0, &answer, NULL);
}

/* Also when this returns all that was said to gidd before has arrived there. */
static int have_imported(struct gid_domain *domain, uint32_t import) {
	union gid_wire_message message, answer;
	gid_wire_begin(&message, GID_WIRE_UNEXPORT, 0);
	message.unexport.slab = import;
	return gid_domain_request(domain, &message, NULL, 0, &answer, NULL);
}

static void test_unanswered(void) {
	struct gid_domain *domain = connect_now();
	uint64_t answer_ns = domain->answer_ns;
	const uint32_t import = imports;
	domain->answer_ns = SOON_NS;
	tap_ok(ask(domain, GID_WIRE_IMPORT) == -ETIMEDOUT && gid_domain_is_connected(domain),
			"an import that is waited for ends alone: %s", gid_domain_error(domain));
	answers = true;
	domain->answer_ns = answer_ns;
	tap_ok(have_imported(domain, import) == 0, "its answer comes later");
	for (uint64_t end = gid_clock_now() + PATIENCE_NS;
			imports_let_go == 0 && gid_clock_now() < end;) {
		false_gidd_wait(domain);
	}
	tap_ok(imports_let_go == 1, "nobody has that slab, and gidd is told so");
	tap_ok(ask(domain, GID_WIRE_PUBLISH) == 0, "what is asked afterwards is answered: %s",
			gid_domain_error(domain));
	tap_ok(ask(domain, GID_WIRE_IMPORT) == -EPROTO, "\"done\" is no answer to an import: %s",
			gid_domain_error(domain));
	answers = false;
	gid_domain_destroy(domain);
}

struct import {
	int times, error;
	struct gid_slab *slab;
};

static void end_import(void *data, gid_id gid, int error, struct gid_slab *slab) {
	*(struct import *)data = (struct import){((struct import *)data)->times + 1, error, slab};
}

/* The same slab is asked for again before the answer comes that nobody waits for, and is there when
 * that comes once more: then gidd counts it for us, and is not told otherwise. */
static void test_imported_late(void) {
	struct gid_domain *domain = connect_now();
	struct import wanted = {0}, other = {0};
	struct gid_slab *now = NULL;
	uint64_t answer_ns = domain->answer_ns;
	const uint32_t first = imports;
	const unsigned before = imports_let_go;
	answers = false;
	domain->answer_ns = SOON_NS;
	int error = ask(domain, GID_WIRE_IMPORT);
	domain->answer_ns = answer_ns;
	int begun = gid_slab_import_async(domain, gid_make(2, 7, 0, 0), end_import, &wanted, &now);
	gid_slab_import_async(domain, gid_make(2, 8, 0, 0), end_import, &other, &now);
	tap_ok(error == -ETIMEDOUT && begun == -EINPROGRESS && now == NULL,
			"what was given up is asked for again: %d, %d", error, begun);
	have_imported(domain, first);
	false_gidd_wait(domain);
	tap_ok(have_imported(domain, first + 1) == 0 && imports_let_go == before,
			"the late answer to the first is not declined");
	for (uint64_t end = gid_clock_now() + PATIENCE_NS;
			wanted.times == 0 && gid_clock_now() < end;) {
		false_gidd_wait(domain);
	}
	tap_ok(wanted.times == 1 && wanted.error == 0 && wanted.slab != NULL,
			"the second has the slab: %d, %s", wanted.error, gid_domain_error(domain));
	have_imported(domain, first);
	false_gidd_wait(domain);
	have_imported(domain, first);
	tap_ok(imports_let_go == before && wanted.slab != NULL &&
					gid_slab_view(wanted.slab, 0) != NULL,
			"nor is one that comes when it is there");
	gid_slab_unref(wanted.slab);
	gid_domain_destroy(domain);
}

/* gidd has looked at it, too; but what is mapped is this program's to be careful with. */
static void test_imported_unsealed(void) {
	struct gid_domain *domain = connect_now();
	struct import wanted = {0};
	struct gid_slab *now = NULL;
	const uint32_t first = imports;
	const unsigned before = imports_let_go;
	gid_slab_import_async(domain, gid_make(2, 7, 0, 0), end_import, &wanted, &now);
	unsealed = true;
	have_imported(domain, first);
	for (uint64_t end = gid_clock_now() + PATIENCE_NS;
			imports_let_go == before && gid_clock_now() < end;) {
		false_gidd_wait(domain);
	}
	unsealed = false;
	tap_ok(wanted.times == 1 && wanted.error == -EPERM && wanted.slab == NULL,
			"memory that somebody can shrink is not imported: %d, %s", wanted.error,
			gid_domain_error(domain));
	tap_ok(imports_let_go == before + 1, "and gidd is told that nobody has it");
	gid_domain_destroy(domain);
}

static void count_revoked(void *data, struct gid_slab *slab) {
	++*(int *)data;
}

/* While gidd was away the number went to another one's slab. */
static void test_imported_before(void) {
	struct gid_domain *domain = connect_now();
	struct gid_slab *slab = NULL;
	const unsigned before = imports_let_go;
	int revoked = 0;
	gives = answers = true;
	tap_ok(gid_slab_import(domain, gid_make(2, 7, 0, 0), &slab) == 0 &&
					gid_slab_on_revoked(slab, count_revoked, &revoked) == 0,
			"a slab: %s", gid_domain_error(domain));
	false_gidd.life++;
	for (uint64_t end = gid_clock_now() + PATIENCE_NS; revoked == 0 && gid_clock_now() < end;) {
		false_gidd_wait(domain);
	}
	tap_ok(revoked == 1, "other memory is not what was imported");
	/* Answered after all that was said before. */
	tap_ok(ask(domain, GID_WIRE_PUBLISH) == 0 && imports_let_go == before + 1,
			"and gidd is told that nobody has that: %u", imports_let_go - before);
	gives = answers = false;
	gid_slab_unref(slab);
	gid_domain_destroy(domain);
}

/* Slabs that this program does not have; one has the number of its own slab. */
static void test_others_are_revoked(void) {
	struct gid_domain *domain = connect_now();
	struct gid_layout layout;
	struct gid_slab *slab = NULL;
	struct gid_slab_info info;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 16, 16, 64);
	answers = true;
	if (!tap_ok(gid_slab_create(domain, &layout, 0, 1, NULL, &slab) == 0, "a slab: %s",
			    gid_domain_error(domain))) {
		return;
	}
	stuck = SAYS_MUCH;
	post_word(domain);
	int heard = 0;
	for (uint64_t end = gid_clock_now() + PATIENCE_NS; heard < 10 && gid_clock_now() < end;) {
		heard += gid_domain_dispatch(domain);
	}
	stuck = IS_NOT;
	gid_slab_get_info(slab, &info);
	tap_ok(heard >= 10 && !info.revoked && gid_slab_take(slab) == 0,
			"what is taken from another domain is not taken from this one");
	gid_slab_destroy(slab, false);
	answers = false;
	gid_domain_destroy(domain);
}

/* --- what gidd is not asked ------------------------------------------------------------------- */

static void test_revoke_words(void) {
	static const char long_name[] = "a-name-of-more-than-the-sixty-three-characters-that-any-"
					"name-can-have";
	struct gid_domain *domain = connect_now();
	gid_id gid = gid_make(1, 1, 0, 0);
	tap_ok(gid_domain_revoke(domain, long_name, "movie", gid, NULL) == -EINVAL &&
					gid_domain_revoke(domain, "open", long_name, gid, NULL) ==
							-EINVAL &&
					gid_domain_revoke(domain, "open", "movie", gid,
							long_name) == -EINVAL,
			"names that are too long name nobody: %s", gid_domain_error(domain));
	tap_ok(gid_domain_revoke(domain, "o p", "movie", gid, NULL) == -EINVAL &&
					strstr(gid_domain_error(domain), "a domain's name") != NULL,
			"nor does what is no name: %s", gid_domain_error(domain));
	tap_ok(gid_domain_revoke(domain, "open", "movie", gid, "") == -EINVAL &&
					strstr(gid_domain_error(domain),
							"reader's name is empty") != NULL,
			"an empty name is not all readers: %s", gid_domain_error(domain));
	tap_ok(gid_domain_revoke(domain, "open", NULL, gid, "") == -EINVAL &&
					gid_domain_revoke(domain, "open", "", gid, NULL) ==
							-EINVAL &&
					gid_domain_revoke(domain, "", "movie", gid, NULL) ==
							-EINVAL,
			"nor of a slab, nor one of a stream, nor of an owner: %s",
			gid_domain_error(domain));
	gid_domain_destroy(domain);
}

/* Empty ones, and those that are longer than any. */
static void test_names_that_are_none(void) {
	char long_text[GID_DESCRIPTION_MAX + 2];
	struct gid_layout layout = {.fourcc = DRM_FORMAT_XRGB8888,
			.width = 8,
			.height = 8,
			.plane_count = 1,
			.planes = {{.stride = 32}}};
	struct gid_domain *domain = connect_now(), *other = NULL;
	memset(long_text, 'a', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	const char *names[] = {"", long_text};
	for (size_t i = 0; i < 2; i++) {
		struct gid_producer *producer = NULL;
		struct gid_consumer *consumer = NULL;
		struct gid_slab *slab = NULL;
		gid_id gid = GID_NONE;
		const char *name = names[i];
		tap_ok(gid_domain_connect(name, &other) == -EINVAL &&
						strstr(gid_domain_connect_error(),
								"not a domain's name") != NULL,
				"no domain: %.99s", gid_domain_connect_error());
		tap_ok(gid_producer_create(domain, name, NULL, &producer) == -EINVAL &&
						gid_consumer_create(domain, NULL, name, NULL,
								&consumer) == -EINVAL &&
						gid_consumer_create(domain, name, "movie", NULL,
								&consumer) == -EINVAL,
				"no stream, and no owner of one: %s", gid_domain_error(domain));
		tap_ok(gid_slab_create_for_stream(domain, name, &layout, 0, 1, NULL, &slab) ==
						-EINVAL,
				"nor one that memory is for: %s", gid_domain_error(domain));
		tap_ok(gid_parse(name, &gid) == -EINVAL && !gid_name_is_valid(name), "nor a gid");
	}
	struct gid_slab *slab = NULL;
	tap_ok(gid_slab_create(domain, &layout, 0, 1, long_text, &slab) == -EINVAL,
			"nor is it a description: %s", gid_domain_error(domain));
	gid_domain_destroy(domain);
}

static void test_timeline_nowhere(void) {
	struct gid_domain *domain = connect_now();
	struct gid_producer *producer = NULL;
	answers = true;
	setenv("GID_TIMELINE", "/nonexistent/timeline", 1);
	tap_ok(gid_producer_create(domain, "movie", NULL, &producer) == 0,
			"a timeline that cannot be written is no reason to show nothing");
	tap_ok(strncmp(gid_domain_error(domain), "GID_TIMELINE=/nonexistent/timeline: ", 36) == 0,
			"but it is told of: %s", gid_domain_error(domain));
	unsetenv("GID_TIMELINE");
	gid_producer_destroy(producer);
	answers = false;
	gid_domain_destroy(domain);
}

int main(void) {
	setenv("GID_ANSWER_SECONDS", "20", 1);
	if (!tap_ok(false_gidd_start(hear), "a gidd")) {
		return tap_finish();
	}
	test_refused();
	test_another_domain();
	test_names();
	test_seconds();
	test_crowded();
	test_takes_nothing();
	test_takes_one_by_one();
	test_unanswered_later();
	test_unanswered();
	test_imported_late();
	test_imported_unsealed();
	test_imported_before();
	test_others_are_revoked();
	test_revoke_words();
	test_names_that_are_none();
	test_timeline_nowhere();
	false_gidd_stop();
	return tap_finish();
}
