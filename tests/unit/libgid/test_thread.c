// SPDX-License-Identifier: MIT
/* Threads for what may wait: ordinary ones, without signals, whatever who starts them is and has.
 */
#include "thread.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

#include "tap.h"

static const int signals[] = {SIGTERM, SIGINT, SIGPIPE, SIGALRM, SIGCHLD};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

/* What a thread finds. */
struct found {
	int class;
	unsigned blocked; /* of the signals above */
	size_t stack;
	sem_t over;
};

static unsigned count_blocked(void) {
	sigset_t mask;
	unsigned count = 0;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (unsigned i = 0; i < SIGNALS; i++) {
		count += sigismember(&mask, signals[i]) == 1;
	}
	return count;
}

static void *look(void *data) {
	struct found *found = data;
	pthread_attr_t attributes;
	found->class = sched_getscheduler(0);
	found->blocked = count_blocked();
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstacksize(&attributes, &found->stack);
	pthread_attr_destroy(&attributes);
	sem_post(&found->over);
	return NULL;
}

static struct found started(size_t stack) {
	struct found found = {.class = -1};
	pthread_t thread;
	sem_init(&found.over, 0, 0);
	if (gid_thread_start(&thread, stack, look, &found) == 0) {
		pthread_join(thread, NULL);
	}
	return found;
}

static void set_class(int class) {
	sched_setscheduler(0, class, &(struct sched_param){0});
}

static void test_ordinary(void) {
	set_class(SCHED_BATCH);
	struct found found = started(GID_THREAD_STACK);
	tap_ok(sched_getscheduler(0) == SCHED_BATCH && found.class == SCHED_OTHER,
			"an ordinary one, started from another class");
	tap_ok(found.blocked == SIGNALS, "without signals");
	tap_ok(count_blocked() == 0, "which whoever starts it has as before");
	tap_ok(found.stack >= GID_THREAD_STACK / 2 && found.stack < 2 * GID_THREAD_STACK,
			"with a small stack");
	tap_ok(started(GID_THREAD_STACK_USUAL).stack > 2 * GID_THREAD_STACK, "or the usual one");
	set_class(SCHED_OTHER);
}

static void test_nobodys(void) {
	struct found found = {.class = -1};
	sem_init(&found.over, 0, 0);
	tap_ok(gid_thread_start(NULL, GID_THREAD_STACK, look, &found) == 0, "nobody waits for it");
	sem_wait(&found.over);
	tap_ok(found.class == SCHED_OTHER && found.blocked == SIGNALS, "it runs as others do");
}

static void *wait_for(void *data) {
	sem_wait(data);
	return NULL;
}

static void test_join(void) {
	sem_t end;
	pthread_t thread;
	sem_init(&end, 0, 0);
	gid_thread_start(&thread, GID_THREAD_STACK, wait_for, &end);
	tap_ok(gid_thread_join(thread) == -ETIMEDOUT, "nobody waits long for one that goes on");
	sem_post(&end);
	pthread_join(thread, NULL);
}

/* Last: not everybody may leave that class. */
static void test_lowest(void) {
	set_class(SCHED_IDLE);
	tap_ok(started(GID_THREAD_STACK).blocked == SIGNALS,
			"whoever has only what others leave can start one, too");
}

int main(void) {
	test_ordinary();
	test_nobodys();
	test_join();
	test_lowest();
	return tap_finish();
}
