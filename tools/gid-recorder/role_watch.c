// SPDX-License-Identifier: MIT
#include "role_watch.h"

#include <errno.h>
#include <gid/gid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "display_socket.h"
#include "foreign_json.h"
#include "text.h"

#define ANSWER_MAX (1u << 20) /* more than a gid-cluster can send */
#define OF_JSON 16u	      /* what its bytes take at most when they are parsed */
#define PATIENCE_NS UINT64_C(3000000000)
#define CHANGES_A_ROLE 64u

size_t role_watch_size(void) {
	return sizeof(struct role_watch) + ANSWER_MAX;
}

size_t role_watch_answer_size(void) {
	return ANSWER_MAX * OF_JSON;
}

int role_watch_init(struct role_watch *watch, sd_event *event, const char *domain, const char *path,
		void (*changed)(void *data, const struct role_change *change), void *data) {
	*watch = (struct role_watch){
			.domain = domain,
			.path = path,
			.event = event,
			.text = malloc(ANSWER_MAX),
			.began = gid_clock_now(),
			.changed = changed,
			.data = data,
	};
	return watch->text != NULL ? 0 : -ENOMEM;
}

static void end_asking(struct role_watch *watch) {
	watch->source = sd_event_source_disable_unref(watch->source); /* closes its descriptor */
	watch->size = 0;
}

void role_watch_finish(struct role_watch *watch) {
	end_asking(watch);
	free(watch->text);
}

/* --- what it says ----------------------------------------------------------------------------- */

/* The text of a key, "" where there is none, as far as there is room. */
static void get_text(sd_json_variant *object, const char *key, char text[ROLE_WATCH_TEXT]) {
	const char *told = foreign_json_line(sd_json_variant_by_key(object, key));
	size_t size = strlen(told), taken = 0, length;
	/* Half a character at the end would be no text, and no file could have it. */
	while (taken < size && (length = character_length(told + taken, size - taken)) > 0 &&
			taken + length < ROLE_WATCH_TEXT) {
		taken += length;
	}
	memcpy(text, told, taken);
	text[taken] = '\0';
}

static uint64_t get_number(sd_json_variant *object, const char *key) {
	sd_json_variant *value = sd_json_variant_by_key(object, key);
	return value != NULL && sd_json_variant_is_unsigned(value) ? sd_json_variant_unsigned(value)
								   : 0;
}

static sd_json_variant *get_list(sd_json_variant *object, const char *key) {
	sd_json_variant *value = sd_json_variant_by_key(object, key);
	return value != NULL && sd_json_variant_is_array(value) ? value : NULL;
}

/*
 * Where a new role goes: the place of one that the status before did not have either, where there
 * is no other. NULL: all are there.
 */
static struct watched_role *find_place(struct role_watch *watch) {
	struct watched_role *oldest = &watch->roles[0];
	if (watch->role_count < ROLE_WATCH_ROLES) {
		return &watch->roles[watch->role_count++];
	}
	for (size_t i = 1; i < ROLE_WATCH_ROLES; i++) {
		oldest = watch->roles[i].known < oldest->known ? &watch->roles[i] : oldest;
	}
	return oldest->known < watch->before ? oldest : NULL;
}

/* By its name; NULL: there are too many, which is told once. */
static struct watched_role *find_role(struct role_watch *watch, const char *name) {
	for (size_t i = 0; i < watch->role_count; i++) {
		if (strcmp(watch->roles[i].name, name) == 0) {
			return &watch->roles[i];
		}
	}
	struct watched_role *role = find_place(watch);
	if (role == NULL) {
		if (!watch->is_full) {
			fprintf(stderr,
					"gid-recorder: gid-cluster of domain %s has more than %u "
					"roles: %s is not recorded, nor others\n",
					watch->domain, ROLE_WATCH_ROLES, name);
		}
		watch->is_full = true;
		return NULL;
	}
	*role = (struct watched_role){0};
	snprintf(role->name, sizeof(role->name), "%s", name);
	return role;
}

/* When what is known already was shown, which was not told with it. */
static void add_shown(struct role_watch *watch, const struct role_change *change) {
	for (uint64_t i = watch->change_count; i > role_watch_first(watch); i--) {
		struct role_change *known = &watch->changes[(i - 1) % ROLE_WATCH_CHANGES];
		if (known->decided == change->decided && strcmp(known->role, change->role) == 0) {
			known->shown = change->shown;
			return;
		}
	}
}

static void take_change(
		struct role_watch *watch, struct watched_role *role, sd_json_variant *transition) {
	struct role_change change = {
			.due = get_number(transition, "due_ns"),
			.decided = get_number(transition, "decided_ns"),
			.last_frame = get_number(transition, "last_frame_ns"),
			.shown = get_number(transition, "shown_ns"),
	};
	memcpy(change.role, role->name, sizeof(change.role));
	get_text(transition, "from", change.from);
	get_text(transition, "to", change.to);
	get_text(transition, "reason", change.reason);
	if (change.decided <= role->newest) {
		if (change.decided == role->newest) {
			add_shown(watch, &change);
		}
		return;
	}
	role->newest = change.decided;
	watch->changes[watch->change_count++ % ROLE_WATCH_CHANGES] = change;
	if (change.decided >= watch->began) {
		watch->changed(watch->data, &change);
	}
}

static void take_role(struct role_watch *watch, sd_json_variant *entry) {
	char name[ROLE_WATCH_TEXT];
	get_text(entry, "name", name);
	struct watched_role *role = name[0] != '\0' ? find_role(watch, name) : NULL;
	if (role == NULL) {
		return;
	}
	get_text(entry, "stream", role->stream);
	get_text(entry, "domain", role->domain);
	get_text(entry, "state", role->state);
	get_text(entry, "reason", role->reason);
	get_text(entry, "detail", role->detail);
	role->deadline_ns = get_number(entry, "deadline_ns");
	role->known = watch->known;
	sd_json_variant *list = get_list(entry, "transitions");
	size_t count = list != NULL ? sd_json_variant_elements(list) : 0;
	for (size_t i = count > CHANGES_A_ROLE ? count - CHANGES_A_ROLE : 0; i < count; i++) {
		take_change(watch, role, sd_json_variant_by_index(list, i));
	}
}

void role_watch_take(struct role_watch *watch, sd_json_variant *status) {
	sd_json_variant *roles = get_list(status, "roles");
	size_t count = roles != NULL ? sd_json_variant_elements(roles) : 0;
	watch->before = watch->known;
	watch->known = gid_clock_now();
	for (size_t i = 0; i < count && i <= ROLE_WATCH_ROLES; i++) {
		take_role(watch, sd_json_variant_by_index(roles, i));
	}
}

uint64_t role_watch_first(const struct role_watch *watch) {
	uint64_t count = watch->change_count;
	return count > ROLE_WATCH_CHANGES ? count - ROLE_WATCH_CHANGES : 0;
}

const struct role_change *role_watch_get(const struct role_watch *watch, uint64_t number) {
	return &watch->changes[number % ROLE_WATCH_CHANGES];
}

/* --- asked ------------------------------------------------------------------------------------ */

static void tell(struct role_watch *watch, bool is_there) {
	if (is_there != watch->is_there) {
		fprintf(stderr, "gid-recorder: %s gid-cluster of domain %s\n",
				is_there ? "follows" : "waits for", watch->domain);
	}
	bool is_gone = watch->is_there && !is_there;
	watch->is_there = is_there;
	if (is_gone) {
		const struct role_change change = {
				.role = ROLE_WATCH_DISPLAY,
				.from = "there",
				.to = "gone",
				.reason = "it does not answer",
				.decided = watch->known, /* it was there still */
		};
		watch->changed(watch->data, &change);
	}
}

/* What was asked then has no answer: others may have all its places. If that lasts, it is gone. */
static void miss_answer(struct role_watch *watch, uint64_t asked) {
	watch->missed = watch->missed != 0 ? watch->missed : asked;
	if (gid_clock_now() - watch->missed >= PATIENCE_NS) {
		tell(watch, false);
	}
}

static void take_answer(struct role_watch *watch) {
	sd_json_variant *status = NULL;
	watch->text[watch->size] = '\0';
	bool is_good = watch->size > 0 && foreign_json_parse(watch->text, &status) == 0 &&
			sd_json_variant_is_object(status);
	if (is_good) {
		tell(watch, true);
		watch->missed = 0;
		role_watch_take(watch, status);
	} else {
		miss_answer(watch, watch->asked);
	}
	sd_json_variant_unref(status);
}

static int handle_answer(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct role_watch *watch = data;
	ssize_t got = read(fd, watch->text + watch->size, ANSWER_MAX - 1 - watch->size);
	if (got > 0) {
		watch->size += (size_t)got;
	} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		take_answer(watch);
		end_asking(watch);
	}
	return 0;
}

void role_watch_ask(struct role_watch *watch) {
	uint64_t now = gid_clock_now();
	if (watch->source != NULL && now - watch->asked < PATIENCE_NS) {
		return;
	}
	if (watch->source != NULL) {
		end_asking(watch);
		miss_answer(watch, watch->asked);
	}
	int fd = watch->path != NULL ? display_socket_connect_at(watch->path, SOCK_NONBLOCK)
				     : display_socket_connect(watch->domain, SOCK_NONBLOCK);
	if (fd == -ENOENT || fd == -ECONNREFUSED) {
		tell(watch, false);
		return;
	}
	if (fd < 0) {
		miss_answer(watch, now);
		return;
	}
	watch->asked = now;
	if (sd_event_add_io(watch->event, &watch->source, fd, EPOLLIN, handle_answer, watch) < 0) {
		close(fd);
		return;
	}
	sd_event_source_set_io_fd_own(watch->source, true);
}
