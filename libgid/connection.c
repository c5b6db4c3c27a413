// SPDX-License-Identifier: MIT
/**
 * The connection to gidd: its life (greeting, loss, coming back), requests and their answers, and
 * events. Never blocks, but for requests that wait for their answer.
 */
#include "connection.h"

#include <errno.h>
#include <gid/timeline.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "closer.h"
#include "socket.h"
#include "timeline_domain.h"

#define BACK_OFF_MIN_NS 100000000ull
#define BACK_OFF_MAX_NS 2000000000ull

#define SEND_NS 100000000ull /* how long gidd may leave its queue full */
/* The kernel tells of room when most of a queue is free: who takes one by one leaves some before.
 */
#define SEND_AGAIN_NS 5000000ull
#define DELIVER_MAX 64
#define DELIVER_LEAST 4 /* however long the first one took */
/*
 * How many packets are queued while something else is awaited: more than a program has slabs and
 * streams; and how many descriptors, of which a process may not have many.
 */
#define QUEUE_MAX 8192u
#define QUEUE_FDS_MAX 256u

#define TOO_MUCH                                                                                   \
	"it says more than this program hears, which must call gid_domain_dispatch() more often"

/* A request whose answer is awaited by a callback. */
struct gid_pending {
	struct gid_pending *next;
	struct gid_domain *domain;
	uint32_t serial, type;
	int error; /* what `answered` gets if there is no answer */
	gid_answer_func answered;
	void *data;		       /* the domain: it was handed over */
	char stream[GID_NAME_MAX + 1]; /* which is to be published */
	struct gid_timer timer;
};

int gid_domain_fail(struct gid_domain *domain, int error, const char *format, ...) {
	/* An argument may be the last sentence itself. */
	char text[sizeof(domain->error)];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	memcpy(domain->error, text, sizeof(text));
	if (getenv("GID_DEBUG") != NULL) {
		fprintf(stderr, "libgid: %s\n", text);
	}
	return error;
}

static int fail_away(struct gid_domain *domain) {
	return gid_domain_fail(domain, -ENOTCONN,
			"gidd of domain '%s' is away (%s): %sthis works again once it is back",
			domain->name, domain->path, domain->lost == -ENOBUFS ? TOO_MUCH "; " : "");
}

int gid_domain_check_connected(struct gid_domain *domain) {
	return domain->state == GID_CONNECTION_UP ? 0 : fail_away(domain);
}

int gid_domain_check_sealed(struct gid_domain *domain) {
	return domain->sealed == 0 ? 0
				   : gid_domain_fail(domain, -ESHUTDOWN, "domain '%s': %s",
						     domain->name, gid_strerror(-ESHUTDOWN));
}

/* --- the parts that hear of gidd -------------------------------------------------------------- */

void gid_endpoint_add(struct gid_domain *domain, struct gid_endpoint *endpoint) {
	endpoint->prev = domain->endpoints.prev;
	endpoint->next = &domain->endpoints;
	endpoint->prev->next = endpoint;
	domain->endpoints.prev = endpoint;
}

void gid_endpoint_remove(struct gid_domain *domain, struct gid_endpoint *endpoint) {
	if (domain->next_endpoint == endpoint) {
		domain->next_endpoint = endpoint->next;
	}
	endpoint->prev->next = endpoint->next;
	endpoint->next->prev = endpoint->prev;
}

void gid_endpoints_tell_made(struct gid_domain *domain, struct gid_slab *slab) {
	struct gid_endpoint *endpoint = domain->endpoints.next;
	for (; endpoint != &domain->endpoints; endpoint = endpoint->next) {
		if (endpoint->slab_made != NULL) {
			endpoint->slab_made(endpoint, slab);
		}
	}
}

struct gid_timeline *gid_domain_get_timeline(
		struct gid_domain *domain, struct gid_timeline *given) {
	if (given == NULL && domain->timeline == NULL) {
		int error = gid_timeline_open(NULL, NULL, &domain->timeline);
		if (error < 0) {
			gid_domain_fail(domain, error, "GID_TIMELINE=%s: %s",
					getenv("GID_TIMELINE"), gid_strerror(error));
		}
	}
	struct gid_timeline *timeline = given != NULL ? given : domain->timeline;
	if (timeline != NULL) {
		gid_timeline_name_domain(timeline, domain->number, domain->name);
	}
	return gid_timeline_ref(timeline);
}

/* --- life ------------------------------------------------------------------------------------- */

/* Lets all requests under way end with -ENOTCONN at the next dispatch. */
static void fail_all(struct gid_domain *domain) {
	for (struct gid_pending *p = domain->pending; p != NULL; p = p->next) {
		p->error = -ENOTCONN;
		/* After the queued packets, as the answer may be among them. */
		gid_loop_arm(&domain->loop, &p->timer, 1);
	}
}

static void close_socket(struct gid_domain *domain) {
	if (domain->socket >= 0) {
		gid_loop_unwatch(&domain->loop, domain->socket);
		gid_closer_hang_up(domain->socket);
		domain->socket = -1;
	}
	gid_loop_disarm(&domain->loop, &domain->greeting);
}

static void retry_later(struct gid_domain *domain) {
	gid_loop_arm(&domain->loop, &domain->reconnect, gid_clock_now() + domain->back_off);
	domain->back_off *= 2;
	if (domain->back_off > BACK_OFF_MAX_NS) {
		domain->back_off = BACK_OFF_MAX_NS;
	}
}

/* Closes the connection, notes why, and arms the timer for the next one. */
static void disconnect(struct gid_domain *domain, int error, const char *why) {
	bool was_up = domain->state == GID_CONNECTION_UP;
	close_socket(domain);
	domain->state = GID_CONNECTION_AWAY;
	domain->lost = error;
	gid_domain_fail(domain, error, "%s gidd at %s: %s", was_up ? "lost" : "no connection to",
			domain->path, why);
	if (was_up) {
		fail_all(domain);
	}
	retry_later(domain);
}

static void disconnect_for_good(struct gid_domain *domain, int error, const char *why) {
	disconnect(domain, error, why);
	gid_loop_disarm(&domain->loop, &domain->reconnect);
	domain->state = GID_CONNECTION_GONE;
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

int gid_connection_greet(struct gid_domain *domain, uint64_t deadline) {
	int socket = gid_socket_connect(domain->path, deadline);
	if (socket < 0) {
		return socket;
	}
	union gid_wire_message hello;
	gid_wire_begin(&hello, GID_WIRE_HELLO, 1);
	hello.hello.version = GID_WIRE_VERSION;
	hello.hello.domain = GID_WIRE_TAKES_DOORBELLS | GID_WIRE_TAKES_SEALED;
	put_program_name(hello.hello.name, sizeof(hello.hello.name));
	int error = gid_socket_send(socket, hello.bytes, hello.header.size, NULL, 0);
	/* gidd may have said why it hangs up: that is read first. */
	if (error == 0 || error == -EPIPE) {
		error = gid_loop_watch(&domain->loop, socket, gid_connection_deliver, domain);
	}
	if (error < 0) {
		gid_socket_close_fds(&socket, 1);
		return error;
	}
	domain->socket = socket;
	domain->state = GID_CONNECTION_GREETING;
	gid_loop_arm(&domain->loop, &domain->greeting, gid_clock_now() + domain->answer_ns);
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

/* Takes the answer to HELLO. Every slab and stream registers again, but after the first one. */
static void take_welcome(struct gid_domain *domain, const union gid_wire_message *message) {
	if (message->header.type == GID_WIRE_RESULT && message->result.error < 0) {
		const char *text = message->result.text;
		disconnect(domain, message->result.error,
				text[0] != '\0' ? text : gid_strerror(message->result.error));
		return;
	}
	if (message->header.type != GID_WIRE_WELCOME) {
		disconnect(domain, -EPROTO, "it sent something before WELCOME");
		return;
	}
	const struct gid_wire_welcome *welcome = &message->welcome;
	bool again = domain->number != 0;
	if (welcome->version != GID_WIRE_VERSION) {
		disconnect_for_good(domain, -EPROTO,
				"it speaks another version: install the same gidway for it "
				"and this program");
		return;
	}
	if (again && welcome->domain != domain->number) {
		disconnect_for_good(domain, -EPROTO, "it came back with another domain's number");
		return;
	}
	domain->number = welcome->domain;
	memcpy(domain->name, welcome->name, sizeof(domain->name));
	domain->name[sizeof(domain->name) - 1] = '\0';
	domain->window = welcome->window;
	domain->state = GID_CONNECTION_UP;
	domain->unsaid = 0;
	gid_loop_disarm(&domain->loop, &domain->greeting);
	if (again) {
		register_again(domain, GID_ENDPOINT_SLAB);
		register_again(domain, GID_ENDPOINT_STREAM);
	}
	if (domain->state == GID_CONNECTION_UP && domain->unsaid < 0) {
		disconnect(domain, domain->unsaid, "it cannot be told of all slabs and streams");
	} else if (domain->state == GID_CONNECTION_UP) {
		domain->back_off = BACK_OFF_MIN_NS;
	}
}

static void reconnect_due(void *data) {
	struct gid_domain *domain = data;
	if (gid_connection_greet(domain, 0) < 0) {
		retry_later(domain);
	}
}

static void greeting_over(void *data) {
	disconnect(data, -ETIMEDOUT, "it does not answer");
}

/* --- receiving -------------------------------------------------------------------------------- */

/*
 * Reads one packet that is whole and valid. Returns 1, 0 where there is none, or a negative value
 * where the connection was lost over it.
 */
static int receive(struct gid_domain *domain, struct gid_packet *packet) {
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
		disconnect(domain, error, "the connection ended");
		return error;
	}
	const char *why;
	int error = gid_wire_check(&packet->message, (size_t)size, fd_count, &why);
	if (error < 0) {
		gid_socket_close_fds(packet->fds, GID_WIRE_FDS_MAX);
		disconnect(domain, error, why);
		return error;
	}
	return 1;
}

static uint32_t count_fds(const struct gid_packet *packet) {
	uint32_t count = 0;
	for (uint32_t i = 0; i < GID_WIRE_FDS_MAX; i++) {
		count += packet->fds[i] >= 0;
	}
	return count;
}

/* Puts a packet aside for gid_domain_dispatch(). Where there is no room the connection ends. */
static void queue_packet(struct gid_domain *domain, struct gid_packet *packet) {
	uint32_t fd_count = count_fds(packet);
	bool fits = domain->queued < QUEUE_MAX && domain->queued_fds + fd_count <= QUEUE_FDS_MAX;
	struct gid_packet *queued = fits ? malloc(sizeof(*queued)) : NULL;
	if (queued == NULL) {
		gid_socket_close_fds(packet->fds, GID_WIRE_FDS_MAX);
		disconnect(domain, fits ? -ENOMEM : -ENOBUFS,
				fits ? "there is not enough memory for its message" : TOO_MUCH);
		return;
	}
	*queued = *packet;
	queued->next = NULL;
	*domain->queue_end = queued;
	domain->queue_end = &queued->next;
	domain->queued++;
	domain->queued_fds += fd_count;
	gid_loop_arm(&domain->loop, &domain->deliver, 0);
}

/* Takes the one at that place of the queue, which may be its end. */
static bool take_queued(
		struct gid_domain *domain, struct gid_packet **at, struct gid_packet *packet) {
	struct gid_packet *queued = *at;
	if (queued == NULL) {
		return false;
	}
	*at = queued->next;
	if (*at == NULL) {
		domain->queue_end = at;
	}
	*packet = *queued;
	domain->queued--;
	domain->queued_fds -= count_fds(packet);
	free(queued);
	return true;
}

static bool dequeue_packet(struct gid_domain *domain, struct gid_packet *packet) {
	return take_queued(domain, &domain->queue, packet);
}

/* An answer that came while something else was awaited. */
static bool dequeue_answer(struct gid_domain *domain, uint32_t serial, struct gid_packet *packet) {
	struct gid_packet **at = &domain->queue;
	while (*at != NULL && (*at)->message.header.serial != serial) {
		at = &(*at)->next;
	}
	return take_queued(domain, at, packet);
}

/* What the answer means: 0, the error it tells, or -EPROTO where it is none to this request. */
static int judge(uint32_t request, const union gid_wire_message *answer) {
	if (answer->header.type == GID_WIRE_RESULT && answer->result.error < 0) {
		return answer->result.error;
	}
	uint32_t expected = request == GID_WIRE_IMPORT ? GID_WIRE_IMPORTED
			: request == GID_WIRE_STATUS   ? GID_WIRE_REPORT
			: request == GID_WIRE_ALLOC    ? GID_WIRE_ALLOCATED
						       : GID_WIRE_RESULT;
	return answer->header.type == expected ? 0 : -EPROTO;
}

/* The words of a refusal become gid_domain_error(). */
static void remember(struct gid_domain *domain, int error, const union gid_wire_message *answer) {
	bool told = answer->header.type == GID_WIRE_RESULT && answer->result.text[0] != '\0';
	if (error < 0) {
		gid_domain_fail(domain, error, "%s",
				told ? answer->result.text : gid_strerror(error));
	}
}

static void drop_pending(struct gid_pending **at) {
	struct gid_pending *pending = *at;
	*at = pending->next;
	gid_loop_disarm(&pending->domain->loop, &pending->timer);
	free(pending);
}

static void tell_endpoints(struct gid_domain *domain, struct gid_packet *packet) {
	domain->next_endpoint = domain->endpoints.next;
	while (domain->next_endpoint != &domain->endpoints) {
		struct gid_endpoint *endpoint = domain->next_endpoint;
		domain->next_endpoint = endpoint->next;
		if (endpoint->message(endpoint, &packet->message, packet->fds)) {
			return;
		}
	}
}

static void deliver_answer(struct gid_domain *domain, struct gid_packet *packet) {
	struct gid_pending **at = &domain->pending;
	while (*at != NULL && (*at)->serial != packet->message.header.serial) {
		at = &(*at)->next;
	}
	if (*at == NULL) { /* the answer to a post, or to a request that was given up */
		if (packet->message.header.type == GID_WIRE_IMPORTED) {
			tell_endpoints(domain, packet);
		}
		return;
	}
	struct gid_pending pending = **at;
	drop_pending(at);
	int error = judge(pending.type, &packet->message);
	remember(domain, error, &packet->message);
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

static void take_sealed(struct gid_domain *domain, const struct gid_wire_seal *seal) {
	bool was = domain->sealed != 0, is = seal->since != 0;
	domain->sealed = seal->since;
	if (was != is) {
		gid_closer_settle(is);
	}
}

static void deliver_event(struct gid_domain *domain, struct gid_packet *packet) {
	if (packet->message.header.type == GID_WIRE_CLOCK) {
		take_clock(domain, &packet->message.clock);
		return;
	}
	if (packet->message.header.type == GID_WIRE_SEALED) {
		take_sealed(domain, &packet->message.seal);
		return;
	}
	tell_endpoints(domain, packet);
}

void gid_connection_deliver(void *data) {
	struct gid_domain *domain = data;
	struct gid_packet packet;
	for (int i = 0; i < DELIVER_MAX; i++) {
		if (i >= DELIVER_LEAST && gid_loop_is_over(&domain->loop)) {
			break;
		}
		/* Queued packets come first; a callback may just have queued more. */
		if (!dequeue_packet(domain, &packet) && receive(domain, &packet) <= 0) {
			return;
		}
		domain->handled++;
		if (domain->state == GID_CONNECTION_GREETING) {
			take_welcome(domain, &packet.message);
		} else if (packet.message.header.serial != 0) {
			deliver_answer(domain, &packet);
		} else {
			deliver_event(domain, &packet);
		}
		gid_socket_close_fds(packet.fds, GID_WIRE_FDS_MAX);
	}
	if (domain->queue != NULL) {
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

/*
 * While there is no room to send, reads what gidd says: it may be waiting for room itself.
 */
static int transmit(struct gid_domain *domain, union gid_wire_message *message, const int *fds,
		uint32_t fd_count) {
	if (domain->state != GID_CONNECTION_UP) {
		return fail_away(domain);
	}
	message->header.serial = next_serial(domain);
	uint64_t deadline = gid_clock_now() + SEND_NS;
	for (;;) {
		int error = gid_socket_send(domain->socket, message->bytes, message->header.size,
				fds, fd_count);
		if (error == 0) {
			return 0;
		}
		if (error == -EPIPE || error == -ECONNRESET || error == -ENOTCONN) {
			disconnect(domain, error, "the connection ended");
			return fail_away(domain);
		}
		if (error != -EAGAIN) {
			return gid_domain_fail(domain, error,
					"cannot send to gidd of domain '%s': %s", domain->name,
					gid_strerror(error));
		}
		int events = gid_socket_wait(
				domain->socket, POLLIN | POLLOUT, gid_clock_now() + SEND_AGAIN_NS);
		/* A gidd that sends without a pause, and reads nothing, is late, too. */
		bool late = (events & POLLOUT) == 0 && gid_clock_now() >= deadline;
		if (events < 0 || late) {
			disconnect(domain, -ETIMEDOUT, "it takes no more messages");
			return fail_away(domain);
		}
		struct gid_packet packet;
		int got = (events & POLLIN) != 0 ? receive(domain, &packet) : 0;
		if (got < 0) {
			return fail_away(domain);
		}
		if (got > 0) {
			queue_packet(domain, &packet);
		}
		if (domain->state != GID_CONNECTION_UP) {
			return fail_away(domain);
		}
	}
}

int gid_domain_post(struct gid_domain *domain, union gid_wire_message *message, const int *fds,
		uint32_t fd_count) {
	return transmit(domain, message, fds, fd_count);
}

void gid_domain_hint(struct gid_domain *domain, const union gid_wire_message *message) {
	if (domain->state == GID_CONNECTION_UP) {
		(void)gid_socket_send(
				domain->socket, message->bytes, message->header.size, NULL, 0);
	}
}

/*
 * Whether the answer may take long, because another domain's gidd is asked. Our own gidd answers
 * all other requests at once, unless it hangs.
 */
static bool concerns_others(uint32_t type) {
	return type == GID_WIRE_IMPORT || type == GID_WIRE_SUBSCRIBE;
}

static int give_up(struct gid_domain *domain, uint32_t type) {
	if (!concerns_others(type)) {
		/*
		 * A late answer would leave something at gidd that nobody here knows of: so the
		 * connection ends.
		 */
		disconnect(domain, -ETIMEDOUT, "it does not answer");
	}
	return gid_domain_fail(domain, -ETIMEDOUT,
			"gidd of domain '%s' did not answer in time (%s)", domain->name,
			domain->path);
}

/* Whether to wait on. `got`: gidd just sent something else, which it may do without a pause. */
static bool may_answer(struct gid_domain *domain, bool got, uint64_t deadline) {
	return gid_clock_now() < deadline &&
			(got || gid_socket_wait(domain->socket, POLLIN, deadline) > 0);
}

/* The answer to a request that was just sent: 0, -ETIMEDOUT, or -ENOTCONN. */
static int await(struct gid_domain *domain, uint32_t serial, struct gid_packet *packet) {
	uint64_t deadline = gid_clock_now() + domain->answer_ns;
	int got = receive(domain, packet);
	while (got == 0 || (got > 0 && packet->message.header.serial != serial)) {
		if (got > 0) {
			queue_packet(domain, packet);
		}
		if (!may_answer(domain, got > 0, deadline)) {
			return -ETIMEDOUT;
		}
		got = receive(domain, packet);
	}
	return got < 0 ? fail_away(domain) : 0;
}

int gid_domain_request(struct gid_domain *domain, union gid_wire_message *request, const int *fds,
		uint32_t fd_count, union gid_wire_message *answer,
		int answer_fds[GID_WIRE_FDS_MAX]) {
	int error = transmit(domain, request, fds, fd_count);
	if (error < 0) {
		return error;
	}
	struct gid_packet packet;
	error = await(domain, request->header.serial, &packet);
	if (error < 0) {
		return error == -ETIMEDOUT ? give_up(domain, request->header.type) : error;
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
	remember(domain, error, answer);
	return error;
}

static void pending_expired(void *data) {
	struct gid_pending *expired = data;
	struct gid_pending **at = &expired->domain->pending;
	while (*at != expired) {
		at = &(*at)->next;
	}
	struct gid_pending pending = *expired;
	drop_pending(at);
	if (pending.error == -ETIMEDOUT) {
		give_up(pending.domain, pending.type);
	}
	int no_fds[GID_WIRE_FDS_MAX] = {-1, -1};
	pending.answered(pending.data, pending.error, NULL, no_fds);
}

int gid_domain_request_async(struct gid_domain *domain, union gid_wire_message *request,
		const int *fds, uint32_t fd_count, gid_answer_func answered, void *data) {
	struct gid_pending *pending = malloc(sizeof(*pending));
	int error = pending == NULL ? gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM))
				    : transmit(domain, request, fds, fd_count);
	if (error < 0) {
		free(pending);
		domain->unsaid = error;
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
	if (pending->type == GID_WIRE_PUBLISH) {
		memcpy(pending->stream, request->publish.name, sizeof(pending->stream));
	}
	domain->pending = pending;
	gid_loop_arm(&domain->loop, &pending->timer, gid_clock_now() + domain->answer_ns);
	return 0;
}

int gid_domain_await(struct gid_domain *domain, struct gid_packet *packet) {
	const uint32_t serial = domain->pending->serial, type = domain->pending->type;
	drop_pending(&domain->pending);
	int error = dequeue_answer(domain, serial, packet) ? 0 : await(domain, serial, packet);
	if (error < 0) {
		*packet = (struct gid_packet){.fds = {-1, -1}};
		return error == -ETIMEDOUT ? give_up(domain, type) : error;
	}
	error = judge(type, &packet->message);
	remember(domain, error, &packet->message);
	return error;
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

void gid_domain_request_hand_over(
		struct gid_domain *domain, const void *data, gid_answer_func answered) {
	for (struct gid_pending *p = domain->pending; p != NULL; p = p->next) {
		if (p->data == data) {
			p->answered = answered;
			p->data = domain;
		}
	}
}

/* Whether it is for nobody any more, that stream, and gidd may answer still. */
static bool is_left(const struct gid_pending *pending, const char *stream) {
	return pending->type == GID_WIRE_PUBLISH && pending->data == pending->domain &&
			pending->error == -ETIMEDOUT && strcmp(pending->stream, stream) == 0;
}

bool gid_domain_request_take_over(struct gid_domain *domain, const union gid_wire_message *request,
		gid_answer_func answered, void *data) {
	struct gid_pending **at = &domain->pending;
	while (*at != NULL && !is_left(*at, request->publish.name)) {
		at = &(*at)->next;
	}
	struct gid_pending *found = *at;
	if (found == NULL) {
		return false;
	}
	found->answered = answered;
	found->data = data;
	*at = found->next;
	found->next = domain->pending;
	domain->pending = found;
	return true;
}

/* --- made and ended --------------------------------------------------------------------------- */

void gid_connection_init(struct gid_domain *domain) {
	domain->socket = -1;
	domain->back_off = BACK_OFF_MIN_NS;
	domain->reconnect = (struct gid_timer){.expired = reconnect_due, .data = domain};
	domain->greeting = (struct gid_timer){.expired = greeting_over, .data = domain};
	domain->endpoints.prev = domain->endpoints.next = &domain->endpoints;
	domain->queue_end = &domain->queue;
	domain->deliver = (struct gid_timer){.expired = gid_connection_deliver, .data = domain};
}

void gid_connection_close(struct gid_domain *domain) {
	close_socket(domain);
	gid_loop_disarm(&domain->loop, &domain->reconnect);
	domain->state = GID_CONNECTION_GONE;
	domain->lost = -ENOTCONN;
}

void gid_connection_finish(struct gid_domain *domain) {
	struct gid_packet packet;
	while (dequeue_packet(domain, &packet)) {
		gid_socket_close_fds(packet.fds, GID_WIRE_FDS_MAX);
	}
	gid_loop_disarm(&domain->loop, &domain->deliver);
	while (domain->pending != NULL) {
		drop_pending(&domain->pending);
	}
}
