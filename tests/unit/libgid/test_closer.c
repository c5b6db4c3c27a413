// SPDX-License-Identifier: MIT
/*
 * Closing while nothing is to be started or allocated: until the last one who said so is gone. And
 * while nothing can be started, as the user has as many threads as he may have.
 * Closes that do not end hold up nobody else's, without memory and in a child of fork(), too.
 */
#include "closer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "doorbell.h"
#include "socket.h"
#include "tap.h"
#include "thread.h"

#define GIVER 7u
#define OF_ONE_MAX 4u /* as closer.c has it, as the next */
#define SPARES 64u
#define LATE_MS 2000u

static unsigned allocations;
static bool no_memory;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

/* Of libgid's own code, as it is linked here. */
void *__wrap_malloc(size_t size) {
	__atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
	return no_memory ? NULL : __real_malloc(size);
}

static bool no_threads;

int __real_gid_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *), void *data);
int __wrap_gid_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *), void *data);

int __wrap_gid_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *), void *data) {
	return no_threads ? -EAGAIN : __real_gid_thread_start(thread, stack, run, data);
}

/* A file whose close does not end, as of somebody's FUSE file system, while the gate is shut. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opens = PTHREAD_COND_INITIALIZER, news = PTHREAD_COND_INITIALIZER;
static bool shut, is_slow[1024];
static unsigned held_up;

int __real_close(int fd);
int __wrap_close(int fd);

int __wrap_close(int fd) {
	pthread_mutex_lock(&gate);
	held_up += is_slow[fd];
	pthread_cond_signal(&news);
	while (shut && is_slow[fd]) {
		pthread_cond_wait(&opens, &gate);
	}
	held_up -= is_slow[fd];
	is_slow[fd] = false;
	pthread_mutex_unlock(&gate);
	return __real_close(fd);
}

static void set_gate(bool to) {
	pthread_mutex_lock(&gate);
	shut = to;
	pthread_cond_broadcast(&opens);
	pthread_mutex_unlock(&gate);
}

static void wait_until_held_up(unsigned count) {
	pthread_mutex_lock(&gate);
	while (held_up < count) {
		pthread_cond_wait(&news, &gate);
	}
	pthread_mutex_unlock(&gate);
}

static unsigned count_threads(void) {
	unsigned count = 0;
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	while ((entry = readdir(folder)) != NULL) {
		count += entry->d_name[0] != '.';
	}
	closedir(folder);
	return count;
}

static void wait_ms(unsigned ms) {
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void wait_until_left(unsigned count) {
	while (gid_closer_pending() > count) {
		wait_ms(1);
	}
}

static void wait_until_closed(void) {
	wait_until_left(0);
}

/* How often memory is asked for to close one descriptor that may hold whoever closes it up. */
static unsigned allocations_of_one(void) {
	wait_until_closed();
	unsigned before = allocations;
	gid_closer_close(eventfd(0, EFD_CLOEXEC));
	wait_until_closed();
	return allocations - before;
}

static void test_settled(void) {
	uint32_t helpers;
	size_t stacks = gid_closer_settled_stacks(&helpers);
	tap_ok(helpers > 1 && stacks % helpers == 0, "%u helpers, each with a stack", helpers);
	tap_ok(allocations_of_one() == 1, "what is to be closed takes a piece of memory");
	unsigned others = count_threads() - 1; /* with a sanitizer it has one, too */
	gid_closer_settle(true);
	tap_ok(count_threads() == others + helpers, "all helpers are there before they are needed");
	tap_ok(allocations_of_one() == 0, "it takes none while nothing new is begun");
	gid_closer_settle(true);
	gid_closer_settle(false);
	tap_ok(allocations_of_one() == 0, "nor while one of two domains is sealed");
	gid_closer_settle(false);
	tap_ok(allocations_of_one() == 1, "but once none is");
	gid_closer_settle(false);
	tap_ok(allocations_of_one() == 1, "who never said so takes nothing back");
	gid_closer_settle(true);
	tap_ok(allocations_of_one() == 0, "and it can be said again");
	tap_ok(count_threads() == others + helpers, "by the same helpers");
	gid_closer_settle(false);
}

static bool is_open(int fd) {
	return fcntl(fd, F_GETFD) >= 0;
}

/* Returns the last one's descriptor. */
static int give_slow(unsigned count) {
	uint64_t before = gid_closer_charge(GIVER);
	int fd = -1;
	for (unsigned i = 0; i < count; i++) {
		fd = eventfd(0, EFD_CLOEXEC);
		is_slow[fd] = true;
		gid_closer_close(fd);
	}
	gid_closer_charge(before);
	return fd;
}

/* The gate stays shut: OF_ONE_MAX closes are left that hold helpers up, and two that wait. */
static void test_one_giver(void) {
	set_gate(true);
	give_slow(OF_ONE_MAX + 2);
	wait_until_held_up(OF_ONE_MAX);
	int other = eventfd(0, EFD_CLOEXEC);
	gid_closer_close(other);
	wait_until_left(OF_ONE_MAX + 2);
	tap_ok(!is_open(other), "what another one gave is closed");
	tap_ok(held_up == OF_ONE_MAX && gid_closer_pending_of(GIVER) == OF_ONE_MAX + 2,
			"though one's hold up as many helpers as they may, and more wait");
	tap_ok(!gid_closer_is_stuck(GIVER), "who has only begun is not stuck");
	wait_ms(LATE_MS + 100);
	tap_ok(gid_closer_is_stuck(GIVER), "who does not end is");
}

/* Where no descriptor is left to look with, what a queue carries is not known. */
static void hang_up_blindly(int socket) {
	struct rlimit limit, none;
	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	gid_closer_hang_up(socket);
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Of who gave those: they need not wait for what he gave. */
static void test_hung_up(void) {
	int empty[2], full[2], unknown[2], fd = eventfd(0, EFD_CLOEXEC);
	socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, empty);
	socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, full);
	socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, unknown);
	gid_socket_send(empty[1], "word", 4, NULL, 0);
	gid_socket_send(full[1], "word", 4, &fd, 1);
	close(fd);
	uint64_t before = gid_closer_charge(GIVER);
	gid_closer_hang_up(full[0]);
	gid_closer_hang_up(empty[0]);
	hang_up_blindly(unknown[0]);
	gid_closer_charge(before);
	wait_until_left(OF_ONE_MAX + 4);
	tap_ok(!is_open(empty[0]), "a connection of one that is stuck is closed");
	tap_ok(is_open(full[0]) && gid_closer_pending_of(GIVER) == OF_ONE_MAX + 4,
			"with a descriptor in its queue it waits");
	tap_ok(is_open(unknown[0]), "and so does one of which nobody can tell that");
	close(unknown[1]);
	close(empty[1]);
	close(full[1]);
}

/* Whoever gave a doorbell's end had both, and what it carries is his: he is charged for it. */
static void test_doorbell(void) {
	const uint32_t before = gid_closer_pending_of(GIVER);
	struct gid_doorbell giver, bell;
	int end, fd = eventfd(0, EFD_CLOEXEC);
	gid_doorbell_create(&giver, &end);
	gid_doorbell_take(&bell, end, GIVER);
	gid_socket_send(giver.fd, "word", 4, &fd, 1);
	close(fd);
	gid_doorbell_finish(&bell);
	tap_ok(gid_closer_pending_of(GIVER) == before + 1 && is_open(end),
			"a doorbell that one who is stuck gave waits with what he gave");
	gid_doorbell_finish(&giver);
	wait_until_left(before + 1);
}

/* In the midst of it. */
static void test_fork(void) {
#ifndef __SANITIZE_THREAD__ /* starts no threads in a child */
	uint32_t pending = gid_closer_pending_of(GIVER);
	/* A helper that is just in close() has no part in the child, which could not open the gate.
	 */
	pthread_mutex_lock(&gate);
	pid_t child = fork();
	if (child == 0) {
		pthread_mutex_init(&gate, NULL);
		pthread_cond_init(&opens, NULL);
		pthread_cond_init(&news, NULL);
		shut = false;
		alarm(60);
		int fd = eventfd(0, EFD_CLOEXEC);
		gid_closer_close(fd);
		wait_until_closed();
		_exit(is_open(fd) || gid_closer_pending_of(GIVER) != 0);
	}
	pthread_mutex_unlock(&gate);
	int status = -1;
	waitpid(child, &status, 0);
	tap_ok(status == 0, "a child has helpers of its own, for what waits and what it closes");
	tap_ok(gid_closer_pending_of(GIVER) == pending, "its parent's are as they were");
#endif
}

static void test_without_memory(void) {
	uint32_t before = gid_closer_pending_of(GIVER);
	no_memory = true;
	int last = give_slow(SPARES + 1);
	no_memory = false;
	tap_ok(gid_closer_pending_of(GIVER) == before + SPARES,
			"without memory there is room for %u", SPARES);
	set_gate(false);
	wait_until_closed();
	tap_ok(is_open(last), "and one more stays open, which is better than to wait");
	no_memory = true;
	gid_closer_close(last);
	no_memory = false;
	wait_until_closed();
	tap_ok(!is_open(last), "that room is there again");
}

/* Before the others, for the last helper stays. */
static void test_no_threads(void) {
	const unsigned without = count_threads();
	struct gid_doorbell giver, bell;
	int end, heard = 0;
	gid_doorbell_create(&giver, &end);
	gid_doorbell_take(&bell, end, GIVER);
	no_threads = true;
	int memory = memfd_create("large", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	fallocate(memory, 0, 0, 4 * GID_CLOSER_QUICK);
	gid_closer_close(memory);
	tap_ok(!is_open(memory), "memory does not wait for a helper that there cannot be");
	gid_closer_prepare();
	for (int i = 0; i < 1000 && heard != 1; i++) {
		gid_doorbell_ring(&giver);
		heard = gid_doorbell_silence(&bell, UINT64_MAX);
	}
	tap_ok(heard == 1, "a doorbell that no helper empties is full");
	wait_ms(LATE_MS + 100);
	tap_ok(gid_doorbell_silence(&bell, UINT64_MAX) == 1, "which is not its giver's fault");
	no_threads = false;
	bool blamed = false;
	heard = 1;
	for (int i = 0; i < 10000 && heard != 0; i++) {
		heard = gid_doorbell_silence(&bell, UINT64_MAX);
		blamed = blamed || heard < 0;
		wait_ms(1);
	}
	tap_ok(heard == 0 && !blamed, "once there can be threads it is emptied");
	gid_doorbell_finish(&bell);
	gid_doorbell_finish(&giver);
	wait_until_closed();
	while (count_threads() > without + 1) { /* others end once they have nothing to do */
		wait_ms(10);
	}

	no_threads = true;
	gid_closer_prepare();
	int fd = eventfd(0, EFD_CLOEXEC);
	gid_closer_close(fd);
	wait_until_closed();
	tap_ok(!is_open(fd) && count_threads() == without + 1, "one helper stays, and closes");
	no_threads = false;
}

/* In a process that has closed nothing yet. */
static void test_prepared(void) {
	pid_t child = fork();
	if (child == 0) {
		gid_closer_prepare();
		no_threads = true;
		alarm(60);
		int fd = eventfd(0, EFD_CLOEXEC);
		gid_closer_close(fd);
		wait_until_closed();
		_exit(is_open(fd));
	}
	int status = -1;
	waitpid(child, &status, 0);
	tap_ok(status == 0,
			"who prepares has a helper, also when no thread can be started any more");
}

int main(void) {
	test_prepared();
	test_no_threads();
	test_settled();
	test_one_giver();
	test_hung_up();
	test_doorbell();
	test_fork();
	test_without_memory();
	return tap_finish();
}
