// SPDX-License-Identifier: MIT
/*
 * The server of doorbell devices, with a client in the place of each QEMU: who gets what, who hears
 * whom, and what comes of those that go, talk, come twice or ring all the time.
 */
#include "ivshmem_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "closer.h"
#include "config_file.h"
#include "gidd.h"
#include "log.h"
#include "socket.h"
#include "tap.h"

#define OPEN 1u
#define CLUSTER 2u
#define HOST 3u
#define HUD 4u
#define PATIENCE_SECONDS 240
#define FDS_MAX 256
/* `open` shares with two, `cluster` with one: so many of their vectors each of these rings. */
#define POOL_OF_OPEN (GID_BELLS_POOL / 2)
#define POOL_OF_CLUSTER GID_BELLS_POOL
#define POOL_OF_HOST GID_BELLS_POOL
#define TO_HOST (1 + POOL_OF_CLUSTER) /* among what `open` rings */
#define OTHERS_OF_OPEN (2 + POOL_OF_CLUSTER + POOL_OF_HOST)
#define OWN_OF_OPEN (2 + 2 * POOL_OF_OPEN)

static const char cockpit[] = "[domain open]\nnumber=1\nkind=guest\nwindow=1M\n"
			      "[domain cluster]\nnumber=2\nkind=guest\nwindow=1M\n"
			      "[domain host]\nnumber=3\nkind=host\nwindow=1M\n"
			      "[domain hud]\nnumber=4\nwindow=1M\n"
			      "[domain deaf]\nnumber=5\nkind=guest\nwindow=1M\ndoorbell=off\n"
			      "[share open host]\nstreams=*\n"
			      "[share open cluster]\nstreams=*\n"
			      "[share open deaf]\nstreams=*\n"
			      "[share open hud]\nstreams=*\n";

static struct config config;
static struct gidd gidd;
static char runtime[64];
static uint64_t heard[GID_DOMAIN_MAX + 1];

static void count_heard(struct gidd *of, uint32_t domain) {
	heard[domain]++;
}

/* What a helper has closed is an event for the other end. */
static void settle(void) {
	do {
		while (gid_closer_pending() > 0) {
			nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
		}
		while (sd_event_run(gidd.event, 0) > 0) {
		}
	} while (gid_closer_pending() > 0);
}

static int count_fds(void) {
	while (gid_closer_pending() > 0) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;
	while (readdir(folder) != NULL) {
		count++;
	}
	closedir(folder);
	return count;
}

/* --- a machine -------------------------------------------------------------------------------- */

struct qemu {
	int socket;
	int memory;
	struct gid_wire_bells bells;
	uint32_t others, own;	  /* how many of the following */
	int64_t numbers[FDS_MAX]; /* of the others, in the order that they came */
	int to[FDS_MAX], vectors[FDS_MAX];
};

static int dial(const char *name) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/bell/%s.sock", runtime, name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -errno;
	}
	settle();
	return fd;
}

/* 1: a number came; 0: hung up; -EAGAIN: nothing is there. */
static int hear_number(int socket, int64_t *number, int *fd) {
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {number, sizeof(*number)};
	struct msghdr message = {.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control)};
	*fd = -1;
	ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got <= 0) {
		return got == 0 || errno == ECONNRESET ? 0 : -errno;
	}
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	if (header != NULL) {
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	}
	return got == sizeof(*number) ? 1 : -EPROTO;
}

/* As QEMU does when it begins. */
static bool qemu_connect(struct qemu *qemu, const char *name, uint32_t number) {
	int64_t said;
	int fd;
	*qemu = (struct qemu){.socket = dial(name), .memory = -1};
	bool good = hear_number(qemu->socket, &said, &fd) == 1 && said == 0 && fd < 0;
	good = good && hear_number(qemu->socket, &said, &fd) == 1 && said == number && fd < 0;
	good = good && hear_number(qemu->socket, &said, &qemu->memory) == 1 && said == -1;
	good = good &&
			pread(qemu->memory, &qemu->bells, sizeof(qemu->bells), 0) ==
					sizeof(qemu->bells);
	while (good && hear_number(qemu->socket, &said, &fd) == 1) {
		good = fd >= 0;
		if (said == number) {
			qemu->vectors[qemu->own++] = fd;
		} else {
			qemu->numbers[qemu->others] = said;
			qemu->to[qemu->others++] = fd;
		}
	}
	return good;
}

static void qemu_end(struct qemu *qemu) {
	gid_socket_close_fds(&qemu->socket, 1);
	gid_socket_close_fds(&qemu->memory, 1);
	gid_socket_close_fds(qemu->to, qemu->others);
	gid_socket_close_fds(qemu->vectors, qemu->own);
	settle();
}

static bool is_connected(const struct qemu *qemu) {
	int64_t number;
	int fd;
	settle();
	return hear_number(qemu->socket, &number, &fd) == -EAGAIN;
}

static uint64_t take(int fd) {
	uint64_t value = 0;
	return read(fd, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

static void ring(int fd) {
	(void)eventfd_write(fd, 1);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_what_a_machine_gets(void) {
	struct qemu open, cluster;
	struct stat one, other;
	tap_ok(qemu_connect(&open, "open", OPEN), "QEMU is told what it asks for");
	tap_ok(open.others == OTHERS_OF_OPEN && open.numbers[0] == CLUSTER &&
					open.numbers[TO_HOST - 1] == CLUSTER &&
					open.numbers[TO_HOST] == HOST &&
					open.numbers[open.others - 1] == HOST,
			"it can ring those that it shares something with, by their numbers");
	tap_ok(open.own == OWN_OF_OPEN && gid_wire_bells_is_valid(&open.bells) &&
					open.bells.count == 2 && open.bells.pool == POOL_OF_OPEN &&
					open.bells.domain == OPEN &&
					open.bells.domains[0] == CLUSTER &&
					open.bells.domains[1] == HOST,
			"and has a vector for each, and a memory that says so");
	tap_ok(open.bells.cookie == doorbell_cookie(&gidd), "with the hub's cookie");
	tap_ok(qemu_connect(&cluster, "cluster", CLUSTER) && cluster.others == 1 + POOL_OF_OPEN &&
					cluster.numbers[0] == OPEN &&
					cluster.own == 1 + POOL_OF_CLUSTER,
			"who shares nothing with the host has nothing to ring it with");
	fstat(open.memory, &one);
	fstat(cluster.memory, &other);
	tap_ok(one.st_ino != other.st_ino && one.st_size == 4096,
			"no two machines have the same memory");
	tap_ok(ftruncate(open.memory, 1) < 0, "which stays as large as it is");
	tap_ok(dial("hud") < 0 && dial("deaf") < 0 && dial("host") < 0,
			"what is no guest, or has doorbell=off, gets no device");

	ring(open.to[0]);
	tap_ok(take(cluster.vectors[0]) == 1 && take(open.vectors[0]) == 0 &&
					take(open.vectors[1]) == 0,
			"a ring comes to who was rung and to nobody else");
	ring(cluster.to[0]);
	tap_ok(take(open.vectors[0]) == 1 && take(open.vectors[1]) == 0,
			"by the vector of who rang");
	tap_ok(doorbell_ring(&gidd, OPEN) && take(open.vectors[1]) == 1, "the host rings a guest");
	tap_ok(!doorbell_ring(&gidd, HUD) && !doorbell_ring(&gidd, 5) && !doorbell_ring(&gidd, 77),
			"and not who has no device");
	tap_ok(!doorbell_ring(&gidd, CLUSTER), "or shares nothing with it");
	qemu_end(&open);
	qemu_end(&cluster);
}

/* What a ring of any descriptor that one machine has comes to is one vector of the other. */
static void test_pools(void) {
	struct qemu open, cluster;
	qemu_connect(&open, "open", OPEN);
	qemu_connect(&cluster, "cluster", CLUSTER);
	bool each = true, none = true;
	for (uint32_t i = 0; i <= POOL_OF_OPEN; i++) {
		ring(cluster.to[i]);
		/* Those of the first who rings it lie before those of the second. */
		each &= take(open.vectors[i == 0 ? 0 : 1 + i]) == 1;
		for (uint32_t j = 0; j < open.own; j++) {
			none &= take(open.vectors[j]) == 0;
		}
	}
	tap_ok(each && none, "each vector of a pool is rung by one descriptor of one machine");
	struct doorbell_vector vectors[POOL_OF_HOST + 1];
	uint32_t taken = 0;
	while (taken <= POOL_OF_HOST && doorbell_take(&gidd, OPEN, 7, &vectors[taken]) == 0) {
		taken++;
	}
	tap_ok(taken == POOL_OF_HOST, "the host gives out each vector of its pool once");
	ring(open.to[TO_HOST + vectors[3].index]);
	tap_ok(take(vectors[3].fd) == 1 && take(vectors[2].fd) == 0 && take(vectors[4].fd) == 0,
			"and the guest rings just that one");
	doorbell_give_back(&gidd, &vectors[5]);
	struct doorbell_vector again;
	tap_ok(doorbell_take(&gidd, OPEN, 8, &again) == -ENOSPC,
			"one that a user's client had goes to no other user");
	tap_ok(doorbell_take(&gidd, OPEN, 7, &again) == 0 && again.fd == vectors[5].fd,
			"but to the same one");
	tap_ok(doorbell_take(&gidd, CLUSTER, 7, &again) < 0 &&
					doorbell_take(&gidd, 77, 7, &again) < 0,
			"there is none for who shares nothing with the host");
	for (uint32_t i = 0; i < taken; i++) {
		doorbell_give_back(&gidd, &vectors[i]);
	}

	int fd;
	tap_ok(doorbell_open_ringer(&gidd, OPEN, 2, 7, &fd) == 0,
			"the host rings a vector that the guest names");
	ring(fd);
	tap_ok(take(open.vectors[2 + POOL_OF_OPEN + 1]) == 1,
			"which is one of those that only the host rings");
	tap_ok(doorbell_open_ringer(&gidd, OPEN, 2, 8, &fd) < 0, "one user's and no other's");
	tap_ok(doorbell_open_ringer(&gidd, OPEN, 0, 7, &fd) < 0 &&
					doorbell_open_ringer(&gidd, OPEN, POOL_OF_OPEN + 1, 7,
							&fd) < 0 &&
					doorbell_open_ringer(&gidd, CLUSTER, 1, 7, &fd) < 0,
			"and none that is not there");

	memset(heard, 0, sizeof(heard));
	doorbell_take(&gidd, OPEN, 7, &again);
	ring(open.to[TO_HOST + again.index]);
	settle();
	tap_ok(heard[OPEN] == 0, "gidd does not hear what its clients do");
	tap_ok(doorbell_relay(&gidd, &again) == 0, "until it hears it in their place");
	settle();
	tap_ok(heard[OPEN] == 1, "what was rung before, too");
	for (int i = 0; i < 20000; i++) {
		ring(open.to[TO_HOST + again.index]);
	}
	settle();
	tap_ok(heard[OPEN] >= 2 && heard[OPEN] <= 3, "then 20000 rings are one");
	doorbell_give_back(&gidd, &again);
	qemu_end(&open);
	qemu_end(&cluster);
}

static void test_hearing(void) {
	struct qemu open;
	qemu_connect(&open, "open", OPEN);
	settle();
	memset(heard, 0, sizeof(heard));
	ring(open.to[TO_HOST]);
	settle();
	tap_ok(heard[OPEN] == 1 && heard[CLUSTER] == 0, "the host hears who rang");
	for (int i = 0; i < 20000; i++) {
		ring(open.to[TO_HOST]);
	}
	settle();
	tap_ok(heard[OPEN] >= 2 && heard[OPEN] <= 3, "20000 rings at once are heard as one (%llu)",
			(unsigned long long)heard[OPEN] - 1);
	uint64_t before = heard[OPEN];
	(void)take(open.to[TO_HOST]); /* the descriptor is its own, too */
	ring(open.to[TO_HOST]);
	settle();
	tap_ok(heard[OPEN] == before + 1, "whatever it does with the descriptor");
	qemu_end(&open);
	qemu_connect(&open, "open", OPEN);
	before = heard[OPEN];
	ring(open.to[TO_HOST]);
	settle();
	tap_ok(heard[OPEN] == before + 1, "gone and back, it is heard again");
	qemu_end(&open);
}

/* Judged by the time that it took, however slow the machine. */
static void test_storm(void) {
	struct qemu open;
	qemu_connect(&open, "open", OPEN);
	memset(heard, 0, sizeof(heard));
	uint64_t begin = gid_clock_now() / 1000, now = begin, rings = 0;
	while (now - begin < 300000) {
		ring(open.to[TO_HOST]);
		rings++;
		sd_event_run(gidd.event, 0);
		now = gid_clock_now() / 1000;
	}
	uint64_t most = ((now - begin) / DOORBELL_BURST_US + 2) * DOORBELL_BURST;
	tap_ok(heard[OPEN] <= most, "a storm of %llu rings is heard %llu times, at most %llu",
			(unsigned long long)rings, (unsigned long long)heard[OPEN],
			(unsigned long long)most);
	uint64_t before = heard[OPEN];
	ring(open.to[TO_HOST]);
	alarm(PATIENCE_SECONDS);
	while (heard[OPEN] == before) {
		sd_event_run(gidd.event, UINT64_MAX);
	}
	alarm(0);
	tap_ok(true, "and the last one is not lost");
	qemu_end(&open);
}

static void test_a_full_descriptor(void) {
	struct qemu open;
	qemu_connect(&open, "open", OPEN);
	(void)take(open.vectors[1]);
	fcntl(open.vectors[1], F_SETFL, 0); /* for the host as well: it is one description */
	(void)eventfd_write(open.vectors[1], UINT64_MAX - 1);
	alarm(PATIENCE_SECONDS);
	tap_ok(doorbell_ring(&gidd, OPEN), "the host rings a full doorbell and is not held up");
	alarm(0);
	(void)take(open.vectors[1]);
	tap_ok(doorbell_ring(&gidd, OPEN) && take(open.vectors[1]) == 1, "and rings it again");
	qemu_end(&open);
}

static void test_who_misbehaves(void) {
	struct qemu open, cluster, second;
	qemu_connect(&open, "open", OPEN);
	qemu_connect(&cluster, "cluster", CLUSTER);
	(void)!send(open.socket, "hello", 5, MSG_NOSIGNAL);
	tap_ok(!is_connected(&open) && is_connected(&cluster),
			"who says something is cut off, and nobody else");
	qemu_end(&open);
	qemu_connect(&open, "open", OPEN);
	tap_ok(qemu_connect(&second, "open", OPEN) && !is_connected(&open) && is_connected(&second),
			"who comes in now has replaced the one before");
	(void)take(cluster.vectors[0]);
	ring(second.to[0]);
	tap_ok(take(cluster.vectors[0]) == 1, "and rings as that did");
	qemu_end(&open);
	qemu_end(&second);

	int before = count_fds(), deaf[64];
	for (int i = 0; i < 64; i++) {
		deaf[i] = dial("open");
	}
	tap_ok(count_fds() <= before + 66, "64 that do not read cost the hub one connection");
	for (int i = 0; i < 64; i++) {
		close(deaf[i]);
	}
	settle();
	bool good = true;
	for (int i = 0; i < 300; i++) {
		good &= qemu_connect(&open, "open", OPEN) && open.others == OTHERS_OF_OPEN &&
				open.own == OWN_OF_OPEN;
		qemu_end(&open);
	}
	settle();
	tap_ok(good, "300 that come and go are told the same, each number once");
	tap_ok(count_fds() <= before, "and nothing is left of them");
	qemu_end(&cluster);
}

static void remove_runtime(void) {
	char command[128];
	snprintf(command, sizeof(command), "rm -rf '%s'", runtime);
	(void)!system(command);
}

int main(void) {
	FILE *file = fmemopen((void *)cockpit, sizeof(cockpit) - 1, "r");
	strcpy(runtime, "/tmp/gid-bell-XXXXXX");
	if (config_read(&config, file, "cockpit", stderr) < 0 || mkdtemp(runtime) == NULL) {
		return 1;
	}
	fclose(file);
	atexit(remove_runtime);
	log_init("test", LOG_LEVEL_WARNING, false);
	gidd.config = &config;
	gidd.self = config_domain_by_name(&config, "host");
	gidd.runtime = runtime;
	int before = count_fds();
	sd_event_new(&gidd.event);
	tap_ok(ivshmem_server_open(&gidd, count_heard, &gidd.doorbell) == 0 &&
					gidd.doorbell != NULL,
			"it begins");
	test_what_a_machine_gets();
	test_pools();
	test_hearing();
	test_storm();
	test_a_full_descriptor();
	test_who_misbehaves();
	doorbell_close(&gidd);
	sd_event_unref(gidd.event);
	tap_ok(count_fds() == before, "it ends, and leaves no descriptor");
	config_finish(&config);
	return tap_finish();
}
