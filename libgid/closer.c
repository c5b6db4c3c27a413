// SPDX-License-Identifier: MIT
#include "closer.h"

#include <fcntl.h>
#include <gid/gid.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "realtime.h"
#include "thread.h"

#define IDLE_S 1
#define SPARES 64u
/* Mapped memory goes in such pieces, for all who map or unmap anything wait for the one before. */
#define PIECE ((size_t)1 << 20)
/* A shorter sleep may be over before it has begun. */
#define NAP_NS 100000
/* More than the bytes in a queue to which they were written one by one. */
#define READ_SIZE 8192

/* A close that takes longer waits for somebody, not for a processor. */
#define LATE_NS UINT64_C(2000000000)

/* How many helpers may work for one giver: the others are for other givers. */
#define OF_ONE_MAX 4u
/* How many helpers there are while none is started: more than one giver can hold up. */
#define SETTLED_CLOSERS (OF_ONE_MAX + 1)

/* A descriptor to close, after it was emptied or not; where `data` is not NULL, memory to unmap. */
struct waiting {
	struct waiting *next;
	uint64_t giver; /* 0: nobody in particular */
	uint64_t begun; /* when a helper took it, as gid_clock_now() */
	int fd;
	bool empty;
	const void *whose; /* the name under which gid_closer_is_emptying() asks for it */
	void *data;
	size_t size;
	uint32_t owner;
	bool urgent; /* a real-time thread gave it */
};

/* Threads that work off one queue. */
struct crew {
	struct waiting *first, **last;
	struct waiting *busy; /* those that helpers work at */
	pthread_cond_t news;
	uint32_t queued, pending, helpers, idle;
	uint32_t helpers_max;
	uint32_t settled; /* how many helpers there are while none is started */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock; /* held for moments: whoever holds it has the caller's priority */
/*
 * Two crews: files of strangers may hold up their helpers, memory does not, and must not wait for
 * those.
 */
static struct crew closers = {.helpers_max = 16, .settled = SETTLED_CLOSERS};
static struct crew unmappers = {.helpers_max = 1, .settled = 1};
static uint32_t settled_by; /* how many want no helper started: sealed domains, or gidd */
/* For descriptors that come while there is no memory. Free where `fd` is negative. */
static struct waiting spares[SPARES];
static _Thread_local uint64_t giver;
static uint64_t held[256]; /* bytes of each owner that are still to be unmapped */

/* --- one lock, in a child of fork(), too ------------------------------------------------------ */

static void init_lock(void) {
	gid_thread_init_lock(&lock);
	pthread_condattr_t clock;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&closers.news, &clock);
	pthread_cond_init(&unmappers.news, &clock);
	pthread_condattr_destroy(&clock);
}

static void before_fork(void) {
	pthread_mutex_lock(&lock);
}

static void after_fork(void) {
	pthread_mutex_unlock(&lock);
}

/* A child has no helpers. What they were closing it has, too, until it ends or runs a program. */
static void in_child(void) {
	struct crew *const crews[] = {&closers, &unmappers};
	init_lock();
	settled_by = 0;
	for (uint32_t i = 0; i < 2; i++) {
		crews[i]->helpers = crews[i]->idle = 0;
		crews[i]->pending = crews[i]->queued;
		crews[i]->busy = NULL;
	}
}

static void init(void) {
	init_lock();
	closers.last = &closers.first;
	unmappers.last = &unmappers.first;
	for (uint32_t i = 0; i < SPARES; i++) {
		spares[i].fd = -1;
	}
	pthread_atfork(before_fork, after_fork, in_child);
}

/* --- helpers ---------------------------------------------------------------------------------- */

/* Whether it is a memfd, whose close waits for nobody. Asks no file system. */
static bool is_memory(int fd) {
	return fcntl(fd, F_GET_SEALS) >= 0;
}

static bool is_large(int memory) {
	struct stat status;
	return fstat(memory, &status) == 0 && status.st_blocks > (off_t)GID_CLOSER_QUICK / 512;
}

/*
 * Turns SO_LINGER off, so that the last close does not wait for what is still to be sent. This call
 * may wait itself, for whoever else has the socket and keeps it locked.
 */
static void forget_linger(int fd) {
	struct linger off = {0};
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
}

static bool is_settled(void) {
	return settled_by > 0;
}

static struct waiting *find_spare(void) {
	uint32_t i = 0;
	while (i < SPARES && spares[i].fd >= 0) {
		i++;
	}
	return i < SPARES ? &spares[i] : NULL;
}

/*
 * NULL: there is neither memory nor a spare. Called with the lock held, as the next functions are.
 */
static struct waiting *waiting_create(int fd) {
	struct waiting *waiting = is_settled() ? find_spare() : malloc(sizeof(*waiting));
	if (waiting == NULL) {
		waiting = is_settled() ? malloc(sizeof(*waiting)) : find_spare();
	}
	if (waiting != NULL) {
		*waiting = (struct waiting){.fd = fd, .giver = giver};
	}
	return waiting;
}

static void waiting_destroy(struct waiting *waiting) {
	if (waiting >= spares && waiting < spares + SPARES) {
		waiting->fd = -1;
	} else {
		free(waiting);
	}
}

static uint32_t count(const struct waiting *list, uint64_t of) {
	uint32_t found = 0;
	for (; list != NULL; list = list->next) {
		found += list->giver == of;
	}
	return found;
}

/* The first work whose giver does not hold up too many helpers already; the queue's end: none. */
static struct waiting **next_of(struct crew *crew) {
	struct waiting **at = &crew->first;
	while (*at != NULL && (*at)->giver != 0 && count(crew->busy, (*at)->giver) >= OF_ONE_MAX) {
		at = &(*at)->next;
	}
	return at;
}

static struct waiting *take(struct crew *crew) {
	struct waiting **at = next_of(crew), *taken = *at;
	if (taken != NULL) {
		crew->queued--;
		*at = taken->next;
		if (*at == NULL) {
			crew->last = at;
		}
		taken->begun = gid_clock_now();
		taken->next = crew->busy;
		crew->busy = taken;
	}
	return taken;
}

static void finish(struct crew *crew, struct waiting *done) {
	struct waiting **at = &crew->busy;
	while (*at != done) {
		at = &(*at)->next;
	}
	*at = done->next;
	held[done->owner] -= done->size;
	waiting_destroy(done);
	crew->pending--;
}

static uint32_t least_of(const struct crew *crew) {
	return is_settled() ? crew->settled : 1;
}

/*
 * Waits for more work, but not for long. The last helper stays: starting one takes memory, which a
 * real-time thread that closes something now and then should not do each time. Called and returns
 * with the lock held.
 */
static bool wait_for_more(struct crew *crew) {
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_S;
	crew->idle++;
	bool late = false;
	while (*next_of(crew) == NULL && !(late && crew->helpers > least_of(crew))) {
		if (crew->helpers <= least_of(crew)) {
			pthread_cond_wait(&crew->news, &lock);
		} else {
			late = pthread_cond_timedwait(&crew->news, &lock, &until) != 0;
		}
	}
	crew->idle--;
	return *next_of(crew) != NULL;
}

/*
 * Sleeps for a moment. Only a sleep in its real-time class resets the computing time that the
 * kernel counts for a thread; a change of class does not. Without it RLIMIT_RTTIME would end the
 * process after an hour of short works.
 */
static void nap(void) {
	nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

static void unmap_in_pieces(char *data, size_t size, bool naps) {
	for (size_t done = 0; done < size; done += PIECE) {
		if (naps) {
			nap();
		}
		munmap(data + done, size - done < PIECE ? size - done : PIECE);
	}
}

/*
 * munmap() holds a lock that every thread needs which maps anything, and which the kernel gives no
 * priority inheritance: any program could take the processor meanwhile. So for a real-time thread
 * the helper takes the lowest real-time priority: before all that are not real-time, after all
 * others that are. Without the right to that it stays as it is.
 */
static void unmap_soon(char *data, size_t size) {
	const struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
	struct sched_param before;
	int class = sched_getscheduler(0);
	sched_getparam(0, &before);
	bool raised = sched_setscheduler(0, SCHED_FIFO, &lowest) == 0;
	unmap_in_pieces(data, size, raised);
	if (raised) {
		sched_setscheduler(0, class, &before);
	}
}

/*
 * Descriptors in the queue are closed in this call. It is a single recv(): whoever sees fewer bytes
 * waiting knows that no more are consumed.
 */
static void empty(int socket) {
	char bytes[READ_SIZE];
	(void)!recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT);
}

static void process(const struct waiting *waiting) {
	if (waiting->data != NULL && waiting->urgent) {
		unmap_soon(waiting->data, waiting->size);
	} else if (waiting->data != NULL) {
		unmap_in_pieces(waiting->data, waiting->size, false);
	} else if (waiting->empty) {
		empty(waiting->fd);
		close(waiting->fd);
	} else {
		forget_linger(waiting->fd);
		close(waiting->fd);
	}
}

static void *helper_main(void *data) {
	struct crew *crew = data;
	pthread_mutex_lock(&lock);
	do {
		struct waiting *taken;
		while ((taken = take(crew)) != NULL) {
			pthread_mutex_unlock(&lock);
			process(taken);
			pthread_mutex_lock(&lock);
			finish(crew, taken);
		}
	} while (wait_for_more(crew));
	crew->helpers--;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static int start_helper(struct crew *crew) {
	return gid_thread_start(NULL, GID_THREAD_STACK, helper_main, crew);
}

/* Sees to it that there is a helper for one more, if there can be. Called with the lock held. */
static void call_helper(struct crew *crew) {
	if (!is_settled() && crew->queued >= crew->idle && crew->helpers < crew->helpers_max &&
			start_helper(crew) == 0) {
		crew->helpers++;
	}
}

/*
 * Work for which no helper could be started when it came, since the user had as many threads as he
 * may have. Called with the lock held.
 */
static void call_again(struct crew *crew) {
	const uint32_t busy = crew->pending - crew->queued;
	if (crew->helpers == busy && *next_of(crew) != NULL) {
		call_helper(crew);
	}
}

void gid_closer_prepare(void) {
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	if (closers.helpers == 0) {
		call_helper(&closers);
	}
	pthread_mutex_unlock(&lock);
}

bool gid_closer_has_helper(void) {
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	bool has = closers.helpers > 0;
	pthread_mutex_unlock(&lock);
	return has;
}

size_t gid_closer_settled_stacks(uint32_t *helpers) {
	*helpers = closers.settled + unmappers.settled;
	return *helpers * (size_t)GID_THREAD_STACK;
}

void gid_closer_settle(bool on) {
	struct crew *const crews[] = {&closers, &unmappers};
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < 2 && on; i++) {
		while (crews[i]->helpers < crews[i]->settled && start_helper(crews[i]) == 0) {
			crews[i]->helpers++;
		}
	}
	if (on) {
		settled_by++;
	} else if (settled_by > 0) { /* in a child of fork() it began anew */
		settled_by--;
	}
	pthread_mutex_unlock(&lock);
}

/* Called with the lock held, too. */
static void add(struct crew *crew, struct waiting *waiting) {
	*crew->last = waiting;
	crew->last = &waiting->next;
	crew->queued++;
	crew->pending++;
	pthread_cond_signal(&crew->news);
}

/* --- closing ---------------------------------------------------------------------------------- */

/* Without memory: better one descriptor that stays open than a display that stands still. */
static void enqueue(int fd, bool empty, const void *whose) {
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	struct waiting *waiting = waiting_create(fd);
	if (waiting != NULL) {
		waiting->empty = empty;
		waiting->whose = whose;
		call_helper(&closers);
		add(&closers, waiting);
	}
	pthread_mutex_unlock(&lock);
}

/* Its close takes long, but waits for nobody: where no helper can do it, the caller does. */
static void close_large(int memory) {
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	call_helper(&unmappers);
	struct waiting *waiting = unmappers.helpers > 0 ? waiting_create(memory) : NULL;
	if (waiting != NULL) {
		add(&unmappers, waiting);
	}
	pthread_mutex_unlock(&lock);
	if (waiting == NULL) {
		close(memory);
	}
}

void gid_closer_close(int fd) {
	if (fd < 0) {
		return;
	}
	if (!is_memory(fd)) {
		enqueue(fd, false, NULL);
	} else if (is_large(fd)) {
		close_large(fd);
	} else {
		close(fd);
	}
}

void gid_closer_empty(int socket, const void *whose) {
	enqueue(socket, true, whose);
}

static struct waiting *find_in(struct waiting *list, const void *whose) {
	while (list != NULL && list->whose != whose) {
		list = list->next;
	}
	return list;
}

/* What a helper has to empty for it, or is at; NULL: nothing. Called with the lock held. */
static struct waiting *find_emptied(const void *whose) {
	struct waiting *found = find_in(closers.first, whose);
	return found != NULL ? found : find_in(closers.busy, whose);
}

bool gid_closer_is_emptying(const void *whose) {
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	bool is = find_emptied(whose) != NULL;
	if (is) {
		call_again(&closers);
	}
	pthread_mutex_unlock(&lock);
	return is;
}

void gid_closer_disown(const void *whose) {
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	struct waiting *waiting = find_emptied(whose);
	if (waiting != NULL) {
		waiting->whose = NULL;
	}
	pthread_mutex_unlock(&lock);
}

/* Whether descriptors wait in its queue; also where nothing tells that, as without /proc. */
static bool carries_descriptors(int socket) {
	static const char key[] = "scm_fds:"; /* of unix sockets */
	char path[64], text[512];
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", socket);
	int info = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = info >= 0 ? read(info, text, sizeof(text) - 1) : -1;
	if (info >= 0) {
		close(info);
	}
	text[size > 0 ? size : 0] = '\0';
	const char *found = strstr(text, key);
	return found == NULL || strtoul(found + sizeof(key) - 1, NULL, 10) != 0;
}

/*
 * After the shutdown nothing comes into its queue any more. Where its giver holds up all his
 * helpers, a socket without descriptors in its queue need not wait for them. In all other cases
 * nothing has to be opened to know that.
 */
void gid_closer_hang_up(int socket) {
	if (socket < 0) {
		return;
	}
	shutdown(socket, SHUT_RDWR);
	const uint64_t before = giver;
	if (before != 0 && gid_closer_pending_of(before) >= OF_ONE_MAX &&
			!carries_descriptors(socket)) {
		giver = 0;
	}
	gid_closer_close(socket);
	giver = before;
}

uint64_t gid_closer_charge(uint64_t to) {
	uint64_t before = giver;
	giver = to;
	return before;
}

uint32_t gid_closer_pending(void) {
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	uint32_t pending = closers.pending;
	pthread_mutex_unlock(&lock);
	return pending;
}

uint32_t gid_closer_pending_of(uint64_t of) {
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	uint32_t pending = count(closers.first, of) + count(closers.busy, of);
	pthread_mutex_unlock(&lock);
	return pending;
}

bool gid_closer_is_stuck(uint64_t of) {
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	call_again(&closers);
	uint64_t now = gid_clock_now();
	uint32_t late = 0, late_of = 0;
	for (const struct waiting *busy = closers.busy; busy != NULL; busy = busy->next) {
		bool is_late = now - busy->begun > LATE_NS;
		late += is_late;
		late_of += is_late && busy->giver == of;
	}
	bool stuck = late_of >= OF_ONE_MAX || (late > 0 && late >= closers.helpers);
	pthread_mutex_unlock(&lock);
	return stuck;
}

/* --- unmapping -------------------------------------------------------------------------------- */

void gid_closer_unmap(void *data, size_t size, uint32_t owner) {
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	call_helper(&unmappers);
	struct waiting *waiting = unmappers.helpers > 0 ? malloc(sizeof(*waiting)) : NULL;
	if (waiting != NULL) {
		*waiting = (struct waiting){.fd = -1,
				.data = data,
				.size = size,
				.owner = owner % 256,
				.urgent = gid_is_realtime()};
		held[waiting->owner] += size;
		add(&unmappers, waiting);
	}
	pthread_mutex_unlock(&lock);
	if (waiting == NULL) {
		unmap_in_pieces(data, size, false);
	}
}

uint64_t gid_closer_held(uint32_t owner) {
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	uint64_t bytes = held[owner % 256];
	pthread_mutex_unlock(&lock);
	return bytes;
}
