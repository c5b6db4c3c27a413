// SPDX-License-Identifier: MIT
#include "gidd_connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "thread.h"

#define RETRY_MS 1000

struct gidd_connection {
	struct wl_event_loop *loop;
	const char *name;
	const struct gidd_connection_events *events;
	void *data;

	struct gid_domain *domain;
	struct gid_domain *ending; /* lost, but still read by other threads; NULL: none */
	struct wl_event_source *domain_source;
	bool up; /* as last reported */

	/*
	 * An attempt to connect. The thread writes the result, then the eventfd; we join, then
	 * read.
	 */
	struct wl_event_source *retry_timer, *attempt_source;
	int attempt_fd;
	bool attempt_runs;
	pthread_t attempt_thread;
	struct gid_domain *attempt_domain;
	int attempt_error;
};

static void gidd_connection_retry_later(struct gidd_connection *connection) {
	wl_event_source_timer_update(connection->retry_timer, RETRY_MS);
}

static void gidd_connection_report(struct gidd_connection *connection) {
	bool up = connection->domain != NULL && gid_domain_is_connected(connection->domain);
	if (up == connection->up) {
		return;
	}
	connection->up = up;
	if (up) {
		connection->events->log("gid: connected to domain %s (%u)\n",
				gid_domain_name(connection->domain),
				gid_domain_number(connection->domain));
	} else if (connection->domain != NULL) {
		connection->events->log(
				"gid: gidd of domain %s went away; existing buffers stay, new ones "
				"fail until it is back\n",
				gid_domain_name(connection->domain));
	}
	connection->events->changed(connection->data);
}

/* Destroys the lost domain, unless other threads still read it. Returns whether it is gone. */
static bool gidd_connection_end_lost(struct gidd_connection *connection) {
	const struct gidd_connection_events *events = connection->events;
	if (connection->ending != NULL && events->reads != NULL &&
			events->reads(connection->data)) {
		return false;
	}
	gid_domain_destroy(connection->ending);
	connection->ending = NULL;
	return true;
}

static void gidd_connection_drop(struct gidd_connection *connection, int error) {
	connection->events->log("gid: lost the connection to gidd of domain %s: %s\n",
			gid_domain_name(connection->domain), gid_strerror(error));
	connection->events->lost(connection->data);
	wl_event_source_remove(connection->domain_source);
	connection->domain_source = NULL;
	connection->ending = connection->domain;
	connection->domain = NULL;
	gidd_connection_end_lost(connection);
	gidd_connection_report(connection);
	gidd_connection_retry_later(connection);
}

static int handle_domain_events(int fd, uint32_t mask, void *data) {
	struct gidd_connection *connection = data;
	int result = gid_domain_dispatch(connection->domain);
	if (result < 0) {
		gidd_connection_drop(connection, result);
	} else {
		gidd_connection_report(connection);
	}
	return 0;
}

/* Uses a domain that is connected. */
static void gidd_connection_adopt(struct gidd_connection *connection, struct gid_domain *domain) {
	connection->domain_source =
			wl_event_loop_add_fd(connection->loop, gid_domain_get_fd(domain),
					WL_EVENT_READABLE, handle_domain_events, connection);
	if (connection->domain_source == NULL) {
		gid_domain_destroy(domain);
		gidd_connection_retry_later(connection);
		return;
	}
	connection->domain = domain;
	gidd_connection_report(connection);
}

static void *attempt_run(void *data) {
	struct gidd_connection *connection = data;
	connection->attempt_error =
			gid_domain_connect(connection->name, &connection->attempt_domain);
	eventfd_write(connection->attempt_fd, 1);
	return NULL;
}

static void attempt_join(struct gidd_connection *connection) {
	pthread_join(connection->attempt_thread, NULL);
	connection->attempt_runs = false;
}

static int handle_attempt_done(int fd, uint32_t mask, void *data) {
	struct gidd_connection *connection = data;
	eventfd_t count;
	eventfd_read(fd, &count);
	attempt_join(connection);
	if (connection->attempt_error == 0) {
		gidd_connection_adopt(connection, connection->attempt_domain);
	} else {
		gidd_connection_retry_later(connection);
	}
	return 0;
}

static int handle_retry(void *data) {
	struct gidd_connection *connection = data;
	if (gidd_connection_end_lost(connection) &&
			gid_thread_start(&connection->attempt_thread, GID_THREAD_STACK, attempt_run,
					connection) == 0) {
		connection->attempt_runs = true;
	} else {
		gidd_connection_retry_later(connection);
	}
	return 0;
}

/* At start-up waiting is no harm: nobody is kept, and the first clients find gidd connected. */
static void gidd_connection_try_first(struct gidd_connection *connection) {
	struct gid_domain *domain;
	int error = gid_domain_connect(connection->name, &domain);
	if (error == 0) {
		gidd_connection_adopt(connection, domain);
		return;
	}
	connection->events->log("gid: no connection to gidd: %s. Trying again every second; gid "
				"buffers fail meanwhile.\n",
			gid_domain_connect_error());
	gidd_connection_retry_later(connection);
}

struct gidd_connection *gidd_connection_create(struct wl_event_loop *loop, const char *name,
		const struct gidd_connection_events *events, void *data) {
	struct gidd_connection *connection = calloc(1, sizeof(*connection));
	if (connection == NULL) {
		return NULL;
	}
	connection->loop = loop;
	connection->name = name;
	connection->events = events;
	connection->data = data;
	connection->attempt_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	connection->retry_timer = wl_event_loop_add_timer(loop, handle_retry, connection);
	connection->attempt_source = wl_event_loop_add_fd(loop, connection->attempt_fd,
			WL_EVENT_READABLE, handle_attempt_done, connection);
	if (connection->retry_timer == NULL || connection->attempt_source == NULL) {
		gidd_connection_destroy(connection);
		return NULL;
	}
	gidd_connection_try_first(connection);
	return connection;
}

void gidd_connection_destroy(struct gidd_connection *connection) {
	if (connection == NULL) {
		return;
	}
	if (connection->attempt_runs) {
		attempt_join(connection);
		if (connection->attempt_error == 0) {
			gid_domain_destroy(connection->attempt_domain);
		}
	}
	if (connection->domain != NULL) {
		connection->events->lost(connection->data);
		wl_event_source_remove(connection->domain_source);
		gid_domain_destroy(connection->domain);
	}
	gid_domain_destroy(connection->ending);
	if (connection->retry_timer != NULL) {
		wl_event_source_remove(connection->retry_timer);
	}
	if (connection->attempt_source != NULL) {
		wl_event_source_remove(connection->attempt_source);
	}
	if (connection->attempt_fd >= 0) {
		close(connection->attempt_fd);
	}
	free(connection);
}

struct gid_domain *gidd_connection_get_domain(const struct gidd_connection *connection) {
	return connection->domain;
}

bool gidd_connection_is_up(const struct gidd_connection *connection) {
	return connection->up;
}
