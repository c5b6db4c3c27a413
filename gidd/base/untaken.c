// SPDX-License-Identifier: MIT
#include "untaken.h"

#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "closer.h"

/* The interval at which sockets of closed connections are checked, and how many per round. */
#define LOOK_US 100000u
#define LOOKS_MAX 1024u

#define SURE 64u
#define FEW 2u /* the most that one answer carries */
#define PARTS 16u

/*
 * A connection may send more descriptors if any one row allows it: by its own count, its giver's,
 * and the total.
 */
static const struct {
	uint32_t of_one, of_giver;
	uint32_t parts_of_giver, parts_of_all; /* in parts of RLIMIT_NOFILE */
} steps[] = {
		{UINT32_MAX, UINT32_MAX, 2, 4},
		{SURE, UINT32_MAX, 8, 10}, /* even if other peers of the same giver took nothing */
		{FEW, UINT32_MAX, 9, 11},
		{UINT32_MAX, SURE, PARTS, 14}, /* even if peers of other givers took nothing */
};

#define QUEUED_PARTS 12u

struct account {
	TAILQ_ENTRY(account) entry;
	uint64_t giver;
	uint32_t count, queued;
	uint32_t connections, left; /* `left`: closed ones that still hold descriptors */
};

struct untaken {
	TAILQ_ENTRY(untaken) entry; /* in `left`, once its connection is closed */
	struct account *account;
	int socket;
	uint32_t count; /* upper bound of descriptors that were sent and not taken */
};

static TAILQ_HEAD(, account) accounts = TAILQ_HEAD_INITIALIZER(accounts);
static TAILQ_HEAD(, untaken) left = TAILQ_HEAD_INITIALIZER(left);
static uint32_t left_count, total, total_queued;
static sd_event_source *timer; /* off while `left` is empty */

bool untaken_is_unread(int socket) {
	int unread = 0;
	return ioctl(socket, SIOCOUTQ, &unread) == 0 && unread > 0;
}

/* --- accounts of givers ----------------------------------------------------------------------- */

static struct account *account_find(uint64_t giver) {
	struct account *account;
	TAILQ_FOREACH(account, &accounts, entry) {
		if (account->giver == giver) {
			break;
		}
	}
	return account;
}

static struct account *account_take(uint64_t giver) {
	struct account *account = account_find(giver);
	if (account == NULL) {
		account = malloc(sizeof(*account));
		if (account == NULL) {
			return NULL;
		}
		*account = (struct account){.giver = giver};
		TAILQ_INSERT_HEAD(&accounts, account, entry);
	}
	account->connections++;
	return account;
}

static void account_return(struct account *account) {
	if (--account->connections == 0) {
		TAILQ_REMOVE(&accounts, account, entry);
		free(account);
	}
}

/* --- one connection --------------------------------------------------------------------------- */

static void untaken_clear(struct untaken *untaken) {
	untaken->account->count -= untaken->count;
	total -= untaken->count;
	untaken->count = 0;
}

static uint64_t find_part(void) {
	struct rlimit limit = {.rlim_cur = 0};
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur / PARTS;
}

bool untaken_may_add(struct untaken *untaken, uint32_t count) {
	if (!untaken_is_unread(untaken->socket)) {
		untaken_clear(untaken);
	}
	const uint64_t part = find_part();
	const uint64_t of_one = (uint64_t)untaken->count + count;
	const uint64_t of_giver = (uint64_t)untaken->account->count + count;
	const uint64_t of_all = (uint64_t)total + count;
	bool may = false;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		may = may ||
				(of_one <= steps[i].of_one && of_giver <= steps[i].of_giver &&
						of_giver <= part * steps[i].parts_of_giver &&
						of_all <= part * steps[i].parts_of_all);
	}
	return may;
}

void untaken_add(struct untaken *untaken, uint32_t count) {
	untaken->count += count;
	untaken->account->count += count;
	total += count;
}

bool untaken_may_queue(const struct untaken *untaken, uint32_t count) {
	return (uint64_t)total_queued + count <= find_part() * QUEUED_PARTS ||
			(uint64_t)untaken->account->queued + count <= SURE;
}

void untaken_queue(struct untaken *untaken, uint32_t count) {
	untaken->account->queued += count;
	total_queued += count;
}

void untaken_unqueue(struct untaken *untaken, uint32_t count) {
	untaken->account->queued -= count;
	total_queued -= count;
}

/* Its connection is closed. Unread data in the socket can hold descriptors of the peer. */
static void untaken_close(struct untaken *untaken) {
	untaken_clear(untaken);
	gid_closer_hang_up(untaken->socket);
	account_return(untaken->account);
	free(untaken);
}

/* --- closed connections with descriptors not taken -------------------------------------------- */

static void close_left(struct untaken *untaken) {
	uint64_t before = gid_closer_charge(untaken->account->giver);
	left_count--;
	untaken->account->left--;
	untaken_close(untaken);
	gid_closer_charge(before);
}

static int handle_due(sd_event_source *source, uint64_t now, void *data) {
	uint32_t looks = left_count < LOOKS_MAX ? left_count : LOOKS_MAX;
	for (uint32_t i = 0; i < looks; i++) {
		struct untaken *untaken = TAILQ_FIRST(&left);
		TAILQ_REMOVE(&left, untaken, entry);
		if (untaken_is_unread(untaken->socket)) {
			TAILQ_INSERT_TAIL(&left, untaken, entry);
		} else {
			close_left(untaken);
		}
	}
	sd_event_source_set_time_relative(source, LOOK_US);
	return sd_event_source_set_enabled(
			source, left_count > 0 ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static int make_timer(sd_event *event) {
	if (timer != NULL) {
		return 0;
	}
	int error = sd_event_add_time_relative(
			event, &timer, CLOCK_MONOTONIC, LOOK_US, LOOK_US / 10, handle_due, NULL);
	return error < 0 ? error : sd_event_source_set_enabled(timer, SD_EVENT_OFF);
}

struct untaken *untaken_create(sd_event *event, int socket, uint64_t giver) {
	struct untaken *untaken = malloc(sizeof(*untaken));
	struct account *account = untaken != NULL ? account_take(giver) : NULL;
	if (account == NULL || make_timer(event) < 0) {
		if (account != NULL) {
			account_return(account);
		}
		free(untaken);
		return NULL;
	}
	*untaken = (struct untaken){.account = account, .socket = socket};
	return untaken;
}

void untaken_hang_up(struct untaken *untaken) {
	if (untaken->count == 0 || !untaken_is_unread(untaken->socket)) {
		untaken_close(untaken);
		return;
	}
	shutdown(untaken->socket, SHUT_RDWR);
	TAILQ_INSERT_TAIL(&left, untaken, entry);
	untaken->account->left++;
	if (left_count++ == 0) {
		sd_event_source_set_time_relative(timer, LOOK_US);
		sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
	}
}

uint32_t untaken_left_of(uint64_t giver) {
	const struct account *account = account_find(giver);
	return account != NULL ? account->left : 0;
}

void untaken_finish(void) {
	struct untaken *untaken;
	while ((untaken = TAILQ_FIRST(&left)) != NULL) {
		TAILQ_REMOVE(&left, untaken, entry);
		close_left(untaken);
	}
	timer = sd_event_source_disable_unref(timer);
}
