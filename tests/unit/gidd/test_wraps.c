// SPDX-License-Identifier: MIT
/*
 * What gidd counts comes to its end one day: numbers of slabs and streams, serials of what it asks
 * another gidd. From then on it gives those again that nobody has, and never 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inside.h"
#include "link.h"
#include "local.h"
#include "memory.h"
#include "remote.h"
#include "slab_book.h"
#include "tap.h"
#include "untaken.h"

static const char cockpit[] =
		"[domain open]\nnumber=1\nlocal=*\n[domain cluster]\nnumber=2\n"
		"[share cluster open]\nstreams=*\n[link open cluster]\nkind=counted\n";

static struct gidd gidd;
static int client;

/* --- a link that notes under which serials it is asked ---------------------------------------- */

static struct link *the_link;
static uint32_t serials[16], asked;

static int counted_open(struct link *link) {
	the_link = link;
	return 0;
}

static void counted_send(struct link *link, const union gid_wire_message *message, const int *fds,
		uint32_t fd_count) {
	if (message->header.type == GID_WIRE_IMPORT && asked < 16) {
		serials[asked++] = message->header.serial;
	}
}

static void counted_drop(struct link *link, bool fault, const char *why) {
}

static void counted_close(struct link *link) {
}

LINK_KIND(kind_counted) = {
		.name = "counted",
		.open = counted_open,
		.send = counted_send,
		.drop = counted_drop,
		.close = counted_close,
};

static void bring_up(void) {
	union gid_wire_message hello;
	int none[GID_WIRE_FDS_MAX] = {-1, -1};
	gid_wire_begin(&hello, GID_WIRE_HELLO, 0);
	hello.hello.version = GID_WIRE_VERSION;
	hello.hello.domain = 2;
	link_connected(the_link);
	link_message(the_link, &hello, none);
}

/* --- a client --------------------------------------------------------------------------------- */

static struct gid_wire_result answer;

static void hear(const union gid_wire_message *message) {
	if (message->header.type == GID_WIRE_RESULT) {
		answer = message->result;
	}
}

/* The number that it gets, or the error. */
static int64_t ask(const union gid_wire_message *message, const int *fds, uint32_t fd_count) {
	answer = (struct gid_wire_result){.error = -1};
	inside_send(client, message, fds, fd_count);
	inside_settle(&gidd);
	inside_listen(&client, hear);
	return answer.error < 0 ? (int64_t)answer.error : (int64_t)answer.value;
}

static int64_t publish(const char *name) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_PUBLISH, 1);
	strcpy(message.publish.name, name);
	return ask(&message, NULL, 0);
}

static int make_memory(void) {
	int fd = memfd_create("wraps", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ftruncate(fd, 4096) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE) <
					0) {
		return -1;
	}
	int reader = gid_memory_reopen(fd);
	close(fd);
	return reader;
}

static int64_t export(uint32_t old_number) {
	union gid_wire_message message;
	int fd = make_memory();
	gid_wire_begin(&message, GID_WIRE_EXPORT, 1);
	message.export.slab = old_number;
	message.export.memory = GID_MEMORY_MEMFD;
	message.export.slot_size = 4096;
	message.export.slot_count = 1;
	message.export.layout = inside_layout;
	int64_t number = ask(&message, &fd, 1);
	close(fd);
	return number;
}

static void import(uint32_t slab) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_IMPORT, slab);
	message.import.gid = gid_make(2, slab, 0, 0);
	ask(&message, NULL, 0);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_streams(void) {
	gidd.stream_number = 0;
	tap_ok(publish("a") == 1, "the first stream is number 1");
	gidd.stream_number = UINT32_MAX - 1;
	tap_ok(publish("b") == UINT32_MAX, "there is a last number");
	tap_ok(publish("c") == 2, "after it come those that no stream has, and not 0");
	tap_ok(publish("d") == 3, "one after the other");
}

static void test_slabs(void) {
	gidd.slab_first = 0;
	gidd.slab_issued = 0;
	tap_ok(export(0) == 1, "the first slab is number 1");
	gidd.slab_issued = GID_SLAB_MAX - 1;
	tap_ok(export(0) == GID_SLAB_MAX, "there is a last number");
	tap_ok(export(0) == 2, "after it come those that no slab has, and not 0");
	tap_ok(export(5) == -EEXIST,
			"nobody gets an old one back: it may have been another's since");
	gidd.slab_issued = UINT32_MAX;
	bool again = false;
	for (int i = 0; i < 3; i++) {
		int64_t number = export(0);
		again |= number < 1 || number > GID_SLAB_MAX || export((uint32_t)number) != -EEXIST;
	}
	tap_ok(!again && export(77) == -EEXIST, "nor after 2^32 of them");
}

/* Of a run before: who had 1007 and 1008 may come back. */
static int put_book(void) {
	int fd = memfd_create("book", MFD_CLOEXEC);
	struct slab_book *book = slab_book_open(fd);
	slab_book_put(book, 1007, getuid());
	slab_book_put(book, 1008, getuid() + 1);
	slab_book_close(book);
	gidd.slab_book = slab_book_open(fd);
	return fd;
}

static void test_waited_for(void) {
	int fd = put_book();
	gidd.slab_first = 0;
	gidd.slab_issued = 1005;
	tap_ok(export(1008) == -EEXIST && export(1007) == 1007,
			"the number of a run before goes back to its own user");
	tap_ok(export(0) == 1006 && export(0) == 1009,
			"who is new gets none that somebody may come back for");
	slab_book_close(gidd.slab_book);
	gidd.slab_book = NULL;
	close(fd);
}

static void test_requests(void) {
	bring_up();
	the_link->serial = 0;
	import(1);
	the_link->serial = UINT32_MAX - 1;
	for (uint32_t slab = 2; slab < 5; slab++) {
		import(slab);
	}
	tap_ok(asked == 4 && serials[0] == 1, "another gidd is asked by serials from 1 on");
	tap_ok(serials[1] == UINT32_MAX && serials[2] == 2 && serials[3] == 3,
			"after the last come those that are not open, and not 0");
}

int main(void) {
	struct config config;
	inside_init(&gidd, &config, cockpit, "open");
	if (tap_ok(remote_open_links(&gidd) == 0 && the_link != NULL, "a gidd runs in here")) {
		union gid_wire_message hello;
		client = inside_connect(&gidd);
		gid_wire_begin(&hello, GID_WIRE_HELLO, 1);
		hello.hello.version = GID_WIRE_VERSION;
		inside_send(client, &hello, NULL, 0);
		inside_settle(&gidd);
		test_streams();
		test_slabs();
		test_waited_for();
		test_requests();
		close(client);
		inside_settle(&gidd);
		inside_demand_empty(&gidd);
	}
	remote_close(&gidd);
	local_close(&gidd);
	untaken_finish();
	sd_event_unref(gidd.event);
	config_finish(&config);
	return tap_finish();
}
