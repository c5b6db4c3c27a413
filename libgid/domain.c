// SPDX-License-Identifier: MIT
/** The domain as its users see it: made, dispatched, asked, closed. */
#include <errno.h>
#include <gid/timeline.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "closer.h"
#include "import.h"
#include "memory.h"
#include "slab_object.h"
#include "socket.h"
#include "socket_path.h"

static _Thread_local char connect_error[sizeof(((struct gid_domain *)NULL)->error)];

const char *gid_domain_connect_error(void) {
	return connect_error;
}

/* $GID_ANSWER_SECONDS; the default where it is unset or no such number. */
static uint64_t read_answer_ns(void) {
	const char *text = secure_getenv("GID_ANSWER_SECONDS");
	char *end = NULL;
	unsigned long long seconds = text == NULL ? 0 : strtoull(text, &end, 10);
	bool valid = text != NULL && *end == '\0' && seconds >= 1 && seconds <= GID_ANSWER_MAX_S;
	return (valid ? seconds : GID_ANSWER_DEFAULT_S) * 1000000000;
}

/* Waits for gidd's welcome, which the greeting timer would bound in an event loop. */
static int await_welcome(struct gid_domain *domain, uint64_t deadline) {
	while (domain->state == GID_CONNECTION_GREETING) {
		if (gid_socket_wait(domain->socket, POLLIN, deadline) <= 0) {
			return -ETIMEDOUT;
		}
		gid_connection_deliver(domain);
	}
	return domain->state == GID_CONNECTION_UP ? 0 : domain->lost;
}

int gid_domain_connect(const char *name, struct gid_domain **result) {
	connect_error[0] = '\0';
	struct gid_domain *domain = calloc(1, sizeof(*domain));
	if (domain == NULL) {
		return -ENOMEM;
	}
	domain->answer_ns = read_answer_ns();
	gid_connection_init(domain);
	int error = gid_loop_init(&domain->loop);
	if (error == 0) {
		error = gid_imports_init(domain);
	}
	if (error == 0) {
		error = gid_socket_path_find(
				name, &domain->path, domain->error, sizeof(domain->error));
	}
	if (error == 0) {
		uint64_t deadline = gid_clock_now() + domain->answer_ns;
		error = gid_connection_greet(domain, deadline);
		if (error == 0) {
			error = await_welcome(domain, deadline);
		}
		if (error < 0 && domain->error[0] == '\0') {
			gid_socket_path_explain(
					domain->path, error, domain->error, sizeof(domain->error));
		}
	}
	if (error < 0) {
		memcpy(connect_error, domain->error, sizeof(connect_error));
		if (connect_error[0] == '\0') {
			snprintf(connect_error, sizeof(connect_error), "%s", gid_strerror(error));
		}
		gid_domain_destroy(domain);
		return error;
	}
	*result = domain;
	return 0;
}

static void end_streams(struct gid_domain *domain) {
	domain->next_endpoint = domain->endpoints.next;
	while (domain->next_endpoint != &domain->endpoints) {
		struct gid_endpoint *endpoint = domain->next_endpoint;
		domain->next_endpoint = endpoint->next;
		if (endpoint->domain_destroyed != NULL) {
			endpoint->domain_destroyed(endpoint);
		}
	}
}

void gid_domain_destroy(struct gid_domain *domain) {
	if (domain == NULL) {
		return;
	}
	/* gidd takes the end of the connection as the end of all that was made from it. */
	gid_connection_close(domain);
	if (domain->sealed != 0) {
		gid_closer_settle(false);
	}
	end_streams(domain);
	gid_slab_detach_all(domain);
	gid_slab_end_departures(domain);
	gid_imports_finish(domain);
	gid_connection_finish(domain);
	gid_table_finish(&domain->own_slabs);
	gid_table_finish(&domain->imported_slabs);
	gid_timeline_unref(domain->timeline);
	gid_loop_finish(&domain->loop);
	free(domain->clocks);
	free(domain->path);
	free(domain);
}

uint32_t gid_domain_number(const struct gid_domain *domain) {
	return domain->number;
}

const char *gid_domain_name(const struct gid_domain *domain) {
	return domain->name;
}

int gid_domain_get_fd(const struct gid_domain *domain) {
	return domain->loop.epoll_fd;
}

bool gid_domain_is_connected(const struct gid_domain *domain) {
	return domain->state == GID_CONNECTION_UP;
}

const char *gid_domain_error(const struct gid_domain *domain) {
	return domain->error;
}

int gid_domain_dispatch(struct gid_domain *domain) {
	domain->handled = 0;
	gid_loop_dispatch(&domain->loop);
	return domain->state == GID_CONNECTION_GONE ? domain->lost : domain->handled;
}

/* --- status ----------------------------------------------------------------------------------- */

/* Only a memfd is read: reading any other file may never end. */
static int read_text(int fd, uint64_t size, char **text) {
	int error = gid_memory_check(fd, size, false);
	if (error < 0) {
		return error;
	}
	char *read_in = malloc(size + 1);
	if (read_in == NULL) {
		return -ENOMEM;
	}
	uint64_t used = 0;
	while (used < size) {
		ssize_t got = pread(fd, read_in + used, size - used, (off_t)used);
		if (got <= 0) {
			error = got < 0 ? -errno : -EPROTO;
			free(read_in);
			return error;
		}
		used += (uint64_t)got;
	}
	read_in[size] = '\0';
	*text = read_in;
	return 0;
}

int gid_domain_status(struct gid_domain *domain, char **json) {
	union gid_wire_message request, answer;
	int fds[GID_WIRE_FDS_MAX];
	gid_wire_begin(&request, GID_WIRE_STATUS, 0);
	int error = gid_domain_request(domain, &request, NULL, 0, &answer, fds);
	if (error < 0) {
		return error;
	}
	error = read_text(fds[0], answer.report.size, json);
	gid_socket_close_fds(fds, GID_WIRE_FDS_MAX);
	return error < 0 ? gid_domain_fail(domain, error, "cannot read gidd's report: %s",
					   gid_strerror(error))
			 : 0;
}

/* False: it is too long. */
static bool put_word(char field[64], const char *word) {
	return word == NULL || snprintf(field, 64, "%s", word) < 64;
}

int gid_domain_revoke(struct gid_domain *domain, const char *owner, const char *stream, gid_id gid,
		const char *reader) {
	union gid_wire_message request, answer;
	const char *why;
	gid_wire_begin(&request, GID_WIRE_WITHDRAW, 0);
	request.withdraw.gid = stream == NULL ? gid : GID_NONE;
	bool fits = put_word(request.withdraw.owner, owner) &&
			put_word(request.withdraw.name, stream) &&
			put_word(request.withdraw.reader, reader);
	if (!fits) {
		return gid_domain_fail(domain, -EINVAL, "cannot be revoked: a name is too long");
	}
	/* So that an unset variable does not mean all readers. */
	if (reader != NULL && reader[0] == '\0') {
		return gid_domain_fail(domain, -EINVAL,
				"cannot be revoked: the reader's name is empty; NULL is all others");
	}
	if (gid_wire_check(&request, sizeof(request.withdraw), 0, &why) < 0) {
		return gid_domain_fail(domain, -EINVAL, "cannot be revoked: %s", why);
	}
	return gid_domain_request(domain, &request, NULL, 0, &answer, NULL);
}

/* --- the sealed phase ------------------------------------------------------------------------- */

int gid_domain_seal(struct gid_domain *domain, bool on) {
	union gid_wire_message request, answer;
	gid_wire_begin(&request, GID_WIRE_SEAL, 0);
	request.seal.on = on;
	return gid_domain_request(domain, &request, NULL, 0, &answer, NULL);
}

uint64_t gid_domain_sealed_since(const struct gid_domain *domain) {
	return domain->sealed;
}
