// SPDX-License-Identifier: MIT
/** The life of the connection to gidd: greeting, loss, and coming back. Never blocks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "connection.h"
#include "socket.h"

#define BACK_OFF_MIN_NS 100000000ull
#define BACK_OFF_MAX_NS 2000000000ull

static void close_socket(struct gid_domain *domain) {
	if (domain->socket >= 0) {
		gid_loop_unwatch(&domain->loop, domain->socket);
		gid_socket_close_fds(&domain->socket, 1);
	}
	gid_loop_disarm(&domain->loop, &domain->greeting);
}

static void retry_later(struct gid_domain *domain) {
	gid_loop_arm(&domain->loop, &domain->reconnect, gid_socket_now() + domain->back_off);
	domain->back_off *= 2;
	if (domain->back_off > BACK_OFF_MAX_NS) {
		domain->back_off = BACK_OFF_MAX_NS;
	}
}

void gid_connection_lose(struct gid_domain *domain, int error, const char *why) {
	bool was_up = domain->state == GID_CONNECTION_UP;
	close_socket(domain);
	domain->state = GID_CONNECTION_AWAY;
	gid_domain_fail(domain, error, "%s gidd at %s: %s", was_up ? "lost" : "no connection to",
		domain->place, why);
	if (was_up) {
		gid_request_fail_all(domain);
	}
	retry_later(domain);
}

static void lose_for_good(struct gid_domain *domain, int error, const char *why) {
	gid_connection_lose(domain, error, why);
	gid_loop_disarm(&domain->loop, &domain->reconnect);
	domain->state = GID_CONNECTION_GONE;
	domain->gone = error;
}

/* The program's name, in bytes that a log line can take. */
static void put_program_name(char *name, size_t size) {
	snprintf(name, size, "%s", program_invocation_short_name);
	for (char *at = name; *at != '\0'; at++) {
		if (*at < ' ' || *at > '~') {
			*at = '?';
		}
	}
}

int gid_connection_greet(struct gid_domain *domain) {
	/* A listener's full queue is a gidd that hangs: no time to wait for it here. */
	int socket = gid_socket_connect(domain->place, 0);
	if (socket < 0) {
		return socket;
	}
	union gid_wire_message hello;
	gid_wire_begin(&hello, GID_WIRE_HELLO, 1);
	hello.hello.version = GID_WIRE_VERSION;
	put_program_name(hello.hello.name, sizeof(hello.hello.name));
	int error = gid_socket_send(socket, hello.bytes, hello.header.size, NULL, 0);
	if (error == 0) {
		error = gid_loop_watch(&domain->loop, socket, gid_request_deliver, domain);
	}
	if (error < 0) {
		gid_socket_close_fds(&socket, 1);
		return error;
	}
	domain->socket = socket;
	domain->state = GID_CONNECTION_GREETING;
	gid_loop_arm(&domain->loop, &domain->greeting, gid_socket_now() + domain->answer_ns);
	return 0;
}

static void register_again(struct gid_domain *domain, int kind) {
	domain->next_endpoint = domain->endpoints.next;
	while (domain->next_endpoint != &domain->endpoints) {
		struct gid_endpoint *endpoint = domain->next_endpoint;
		domain->next_endpoint = endpoint->next;
		if (domain->state == GID_CONNECTION_UP && (int)endpoint->kind == kind) {
			endpoint->reconnected(endpoint);
		}
	}
}

void gid_connection_welcome(struct gid_domain *domain, const union gid_wire_message *message) {
	if (message->header.type == GID_WIRE_RESULT && message->result.error < 0) {
		const char *text = message->result.text;
		gid_connection_lose(domain, message->result.error,
			text[0] != '\0' ? text : gid_strerror(message->result.error));
		return;
	}
	if (message->header.type != GID_WIRE_WELCOME) {
		gid_connection_lose(domain, -EPROTO, "it said something before it said welcome");
		return;
	}
	const struct gid_wire_welcome *welcome = &message->welcome;
	bool again = domain->number != 0;
	if (welcome->version != GID_WIRE_VERSION) {
		lose_for_good(domain, -EPROTO,
			"it speaks another version: install the same gidway for it and this "
			"program");
		return;
	}
	if (again && welcome->domain != domain->number) {
		lose_for_good(domain, -EPROTO, "it came back with another domain's number");
		return;
	}
	domain->number = welcome->domain;
	memcpy(domain->name, welcome->name, sizeof(domain->name));
	domain->name[sizeof(domain->name) - 1] = '\0';
	domain->window = welcome->window;
	domain->state = GID_CONNECTION_UP;
	domain->back_off = BACK_OFF_MIN_NS;
	gid_loop_disarm(&domain->loop, &domain->greeting);
	if (again) {
		register_again(domain, GID_ENDPOINT_SLAB);
		register_again(domain, GID_ENDPOINT_STREAM);
	}
}

static void reconnect_due(void *data) {
	struct gid_domain *domain = data;
	if (gid_connection_greet(domain) < 0) {
		retry_later(domain);
	}
}

static void greeting_over(void *data) {
	gid_connection_lose(data, -ETIMEDOUT, "it does not answer");
}

void gid_connection_init(struct gid_domain *domain) {
	domain->socket = -1;
	domain->back_off = BACK_OFF_MIN_NS;
	domain->reconnect = (struct gid_timer){.expired = reconnect_due, .data = domain};
	domain->greeting = (struct gid_timer){.expired = greeting_over, .data = domain};
}

void gid_connection_finish(struct gid_domain *domain) {
	close_socket(domain);
	gid_loop_disarm(&domain->loop, &domain->reconnect);
	domain->state = GID_CONNECTION_GONE;
	domain->gone = -ENOTCONN;
}
