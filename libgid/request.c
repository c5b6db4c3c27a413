// SPDX-License-Identifier: MIT
/** Messages to gidd and from it: what was asked, what was answered, and what it says by itself. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "connection.h"
#include "socket.h"

#define SEND_NS 100000000ull /* how long gidd may leave its queue full */
#define DELIVER_MAX 64

/* A request whose answer is awaited by a callback. */
struct gid_pending {
	struct gid_pending *next;
	struct gid_domain *domain;
	uint32_t serial, type;
	int error; /* what its end without an answer means */
	gid_answer_func answered;
	void *data;
	struct gid_timer timer;
};

/* --- receiving -------------------------------------------------------------------------------- */

int gid_request_receive(struct gid_domain *domain, struct gid_packet *packet) {
	if (domain->socket < 0) {
		return -ENOTCONN;
	}
	uint32_t fd_count;
	ssize_t size = gid_socket_receive(domain->socket, packet->message.bytes,
		sizeof(packet->message.bytes), packet->fds, &fd_count);
	if (size == -EAGAIN) {
		return 0;
	}
	if (size <= 0) {
		int error = size == 0 ? -ENOTCONN : (int)size;
		gid_connection_lose(domain, error, "the connection ended");
		return error;
	}
	const char *why;
	int error = gid_wire_check(&packet->message, (size_t)size, fd_count, &why);
	if (error < 0) {
		gid_socket_close_fds(packet->fds, GID_WIRE_FDS_MAX);
		gid_connection_lose(domain, error, why);
		return error;
	}
	return 1;
}

/* Puts a packet aside for gid_domain_dispatch(). */
static void keep(struct gid_domain *domain, struct gid_packet *packet) {
	struct gid_packet *kept = malloc(sizeof(*kept));
	if (kept == NULL) {
		gid_socket_close_fds(packet->fds, GID_WIRE_FDS_MAX);
		gid_connection_lose(domain, -ENOMEM, "there is no memory for what it says");
		return;
	}
	*kept = *packet;
	kept->next = NULL;
	*domain->kept_end = kept;
	domain->kept_end = &kept->next;
	gid_loop_arm(&domain->loop, &domain->deliver, 0);
}

static bool take_kept(struct gid_domain *domain, struct gid_packet *packet) {
	struct gid_packet *kept = domain->kept;
	if (kept == NULL) {
		return false;
	}
	domain->kept = kept->next;
	if (domain->kept == NULL) {
		domain->kept_end = &domain->kept;
	}
	*packet = *kept;
	free(kept);
	return true;
}

/* What the answer means: 0, the error it tells, or -EPROTO where it is none to this request. */
static int judge(uint32_t request, const union gid_wire_message *answer) {
	if (answer->header.type == GID_WIRE_RESULT && answer->result.error < 0) {
		return answer->result.error;
	}
	uint32_t expected = request == GID_WIRE_IMPORT ? GID_WIRE_IMPORTED
		: request == GID_WIRE_STATUS	       ? GID_WIRE_REPORT
		: request == GID_WIRE_ALLOC	       ? GID_WIRE_ALLOCATED
						       : GID_WIRE_RESULT;
	return answer->header.type == expected ? 0 : -EPROTO;
}

static void drop_pending(struct gid_pending **at) {
	struct gid_pending *pending = *at;
	*at = pending->next;
	gid_loop_disarm(&pending->domain->loop, &pending->timer);
	free(pending);
}

static void deliver_answer(struct gid_domain *domain, struct gid_packet *packet) {
	struct gid_pending **at = &domain->pending;
	while (*at != NULL && (*at)->serial != packet->message.header.serial) {
		at = &(*at)->next;
	}
	if (*at == NULL) {
		return; /* of a post, or of a request that was given up */
	}
	struct gid_pending pending = **at;
	drop_pending(at);
	int error = judge(pending.type, &packet->message);
	pending.answered(pending.data, error, &packet->message, packet->fds);
}

static void take_clock(struct gid_domain *domain, const struct gid_wire_clock *clock) {
	if (domain->clocks == NULL) {
		domain->clocks = calloc(GID_DOMAIN_MAX + 1, sizeof(*domain->clocks));
	}
	if (domain->clocks != NULL) {
		domain->clocks[clock->domain] = (struct gid_clock){clock->offset, clock->error};
	}
}

static void deliver_event(struct gid_domain *domain, struct gid_packet *packet) {
	if (packet->message.header.type == GID_WIRE_CLOCK) {
		take_clock(domain, &packet->message.clock);
		return;
	}
	domain->next_endpoint = domain->endpoints.next;
	while (domain->next_endpoint != &domain->endpoints) {
		struct gid_endpoint *endpoint = domain->next_endpoint;
		domain->next_endpoint = endpoint->next;
		if (endpoint->message(endpoint, &packet->message, packet->fds)) {
			return;
		}
	}
}

void gid_request_deliver(void *data) {
	struct gid_domain *domain = data;
	struct gid_packet packet;
	for (int i = 0; i < DELIVER_MAX; i++) {
		/* What was kept came first; a callback may just have kept more. */
		if (!take_kept(domain, &packet) && gid_request_receive(domain, &packet) <= 0) {
			return;
		}
		domain->handled++;
		if (domain->state == GID_CONNECTION_GREETING) {
			gid_connection_welcome(domain, &packet.message);
		} else if (packet.message.header.serial != 0) {
			deliver_answer(domain, &packet);
		} else {
			deliver_event(domain, &packet);
		}
		gid_socket_close_fds(packet.fds, GID_WIRE_FDS_MAX);
	}
	if (domain->kept != NULL) {
		gid_loop_arm(&domain->loop, &domain->deliver, 0);
	}
}

/* --- sending ---------------------------------------------------------------------------------- */

static uint32_t next_serial(struct gid_domain *domain) {
	domain->serial++;
	if (domain->serial == 0) {
		domain->serial = 1;
	}
	return domain->serial;
}

static int fail_away(struct gid_domain *domain) {
	return gid_domain_fail(domain, -ENOTCONN,
		"gidd of domain '%s' is away (%s): this works again once it is back", domain->name,
		domain->place);
}

/*
 * While there is no room to send, reads what gidd says: it may be waiting for room itself.
 */
static int transmit(struct gid_domain *domain, union gid_wire_message *message, const int *fds,
	uint32_t fd_count) {
	if (domain->state != GID_CONNECTION_UP) {
		return fail_away(domain);
	}
	message->header.serial = next_serial(domain);
	uint64_t deadline = gid_socket_now() + SEND_NS;
	for (;;) {
		int error = gid_socket_send(
			domain->socket, message->bytes, message->header.size, fds, fd_count);
		if (error == 0) {
			return 0;
		}
		if (error == -EPIPE || error == -ECONNRESET || error == -ENOTCONN) {
			gid_connection_lose(domain, error, "the connection ended");
			return fail_away(domain);
		}
		if (error != -EAGAIN) {
			return gid_domain_fail(domain, error,
				"cannot send to gidd of domain '%s': %s", domain->name,
				gid_strerror(error));
		}
		int events = gid_socket_wait(domain->socket, POLLIN | POLLOUT, deadline);
		if (events <= 0) {
			gid_connection_lose(domain, -ETIMEDOUT, "it takes no more messages");
			return fail_away(domain);
		}
		struct gid_packet packet;
		int got = (events & POLLIN) != 0 ? gid_request_receive(domain, &packet) : 0;
		if (got < 0) {
			return fail_away(domain);
		}
		if (got > 0) {
			keep(domain, &packet);
		}
	}
}

int gid_domain_post(struct gid_domain *domain, union gid_wire_message *message, const int *fds,
	uint32_t fd_count) {
	return transmit(domain, message, fds, fd_count);
}

/*
 * Whether the answer may take long because another domain's gidd has its say. All else our own
 * gidd answers at once, unless it hangs.
 */
static bool concerns_others(uint32_t type) {
	return type == GID_WIRE_IMPORT || type == GID_WIRE_SUBSCRIBE;
}

static int give_up(struct gid_domain *domain, uint32_t type) {
	if (!concerns_others(type)) {
		/* A late answer must not leave behind what nobody knows of: end it all. */
		gid_connection_lose(domain, -ETIMEDOUT, "it does not answer");
	}
	return gid_domain_fail(domain, -ETIMEDOUT,
		"gidd of domain '%s' did not answer in time (%s)", domain->name, domain->place);
}

int gid_domain_request(struct gid_domain *domain, union gid_wire_message *request, const int *fds,
	uint32_t fd_count, union gid_wire_message *answer, int answer_fds[GID_WIRE_FDS_MAX]) {
	int error = transmit(domain, request, fds, fd_count);
	if (error < 0) {
		return error;
	}
	uint32_t serial = request->header.serial;
	uint64_t deadline = gid_socket_now() + domain->answer_ns;
	for (;;) {
		struct gid_packet packet;
		int got = gid_request_receive(domain, &packet);
		if (got < 0) {
			return fail_away(domain);
		}
		if (got > 0 && packet.message.header.serial != serial) {
			keep(domain, &packet);
			continue;
		}
		if (got == 0) {
			if (gid_socket_wait(domain->socket, POLLIN, deadline) <= 0) {
				return give_up(domain, request->header.type);
			}
			continue;
		}
		error = judge(request->header.type, &packet.message);
		*answer = packet.message;
		if (error == 0 && answer_fds != NULL) {
			for (uint32_t i = 0; i < GID_WIRE_FDS_MAX; i++) {
				answer_fds[i] = packet.fds[i];
			}
			return 0;
		}
		gid_socket_close_fds(packet.fds, GID_WIRE_FDS_MAX);
		if (error < 0) {
			bool told = answer->header.type == GID_WIRE_RESULT &&
				answer->result.text[0] != '\0';
			gid_domain_fail(domain, error, "%s",
				told ? answer->result.text : gid_strerror(error));
		}
		return error;
	}
}

static void pending_expired(void *data) {
	struct gid_pending *expired = data;
	struct gid_pending **at = &expired->domain->pending;
	while (*at != expired) {
		at = &(*at)->next;
	}
	struct gid_pending pending = *expired;
	drop_pending(at);
	if (pending.error == -ETIMEDOUT && !concerns_others(pending.type)) {
		gid_connection_lose(pending.domain, -ETIMEDOUT, "it does not answer");
	}
	int no_fds[GID_WIRE_FDS_MAX] = {-1, -1};
	pending.answered(pending.data, pending.error, NULL, no_fds);
}

int gid_domain_request_async(struct gid_domain *domain, union gid_wire_message *request,
	const int *fds, uint32_t fd_count, gid_answer_func answered, void *data) {
	struct gid_pending *pending = malloc(sizeof(*pending));
	if (pending == NULL) {
		return gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
	}
	int error = transmit(domain, request, fds, fd_count);
	if (error < 0) {
		free(pending);
		return error;
	}
	*pending = (struct gid_pending){
		.next = domain->pending,
		.domain = domain,
		.serial = request->header.serial,
		.type = request->header.type,
		.error = -ETIMEDOUT,
		.answered = answered,
		.data = data,
		.timer = {.expired = pending_expired, .data = pending},
	};
	domain->pending = pending;
	gid_loop_arm(&domain->loop, &pending->timer, gid_socket_now() + domain->answer_ns);
	return 0;
}

void gid_domain_request_cancel(struct gid_domain *domain, void *data) {
	struct gid_pending **at = &domain->pending;
	while (*at != NULL) {
		if ((*at)->data == data) {
			drop_pending(at);
		} else {
			at = &(*at)->next;
		}
	}
}

void gid_request_fail_all(struct gid_domain *domain) {
	for (struct gid_pending *p = domain->pending; p != NULL; p = p->next) {
		p->error = -ENOTCONN;
		/* After what was kept: the answer may be among it. */
		gid_loop_arm(&domain->loop, &p->timer, 1);
	}
}

void gid_request_init(struct gid_domain *domain) {
	domain->kept_end = &domain->kept;
	domain->deliver = (struct gid_timer){.expired = gid_request_deliver, .data = domain};
}

void gid_request_finish(struct gid_domain *domain) {
	struct gid_packet packet;
	while (take_kept(domain, &packet)) {
		gid_socket_close_fds(packet.fds, GID_WIRE_FDS_MAX);
	}
	gid_loop_disarm(&domain->loop, &domain->deliver);
	while (domain->pending != NULL) {
		drop_pending(&domain->pending);
	}
}
