// SPDX-License-Identifier: MIT
/** A consumer's making and end. */
#include <errno.h>
#include <gid/timeline.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "consumer.h"

#define CREDIT_DEFAULT 4u

static void release_consumer(struct gid_consumer *consumer) {
	gid_consumer_drop_subscription(consumer);
	if (consumer->nudge_fd >= 0) {
		close(consumer->nudge_fd);
	}
	if (consumer->epoll_fd >= 0) {
		close(consumer->epoll_fd);
	}
	gid_timeline_unref(consumer->timeline);
	free(consumer);
}

void gid_consumer_enter(struct gid_consumer *consumer) {
	consumer->busy++;
}

void gid_consumer_leave(struct gid_consumer *consumer) {
	if (--consumer->busy == 0 && consumer->destroyed) {
		release_consumer(consumer);
	}
}

/* Without its domain the consumer is over; the object waits to be destroyed. */
static void lose_domain(struct gid_endpoint *endpoint) {
	struct gid_consumer *consumer = gid_consumer_of(endpoint);
	gid_endpoint_remove(consumer->domain, &consumer->endpoint);
	gid_loop_disarm(&consumer->domain->loop, &consumer->retry);
	consumer->options.state = NULL;
	consumer->domain = NULL;
	gid_timeline_unref(consumer->timeline);
	consumer->timeline = NULL;
	gid_consumer_lose(consumer, -ENOTCONN);
}

static int read_arguments(struct gid_consumer *consumer, const char *peer, const char *name,
	const struct gid_consumer_options *options) {
	if (!gid_name_is_valid(name) || (peer != NULL && !gid_name_is_valid(peer))) {
		return gid_domain_fail(consumer->domain, -EINVAL, "%s", GID_STREAM_NAME_RULE);
	}
	memcpy(consumer->name, name, strlen(name));
	memcpy(consumer->peer, peer == NULL ? "" : peer, peer == NULL ? 0 : strlen(peer));
	if (options != NULL) {
		size_t size = options->size;
		if (size < offsetof(struct gid_consumer_options, timeline)) {
			return gid_domain_fail(consumer->domain, -EINVAL,
				"set the options' `size` to sizeof(struct gid_consumer_options)");
		}
		memcpy(&consumer->options, options,
			size < sizeof(*options) ? size : sizeof(*options));
	}
	if (consumer->options.credit == 0) {
		consumer->options.credit = CREDIT_DEFAULT;
	}
	if (consumer->options.credit > GID_CREDIT_MAX) {
		return gid_domain_fail(consumer->domain, -EINVAL,
			"a consumer can hold 1 to %u frames, not %u", GID_CREDIT_MAX,
			consumer->options.credit);
	}
	return 0;
}

static int open_descriptors(struct gid_consumer *consumer) {
	consumer->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	consumer->nudge_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct epoll_event event = {.events = EPOLLIN};
	if (consumer->epoll_fd < 0 || consumer->nudge_fd < 0 ||
		epoll_ctl(consumer->epoll_fd, EPOLL_CTL_ADD, consumer->nudge_fd, &event) < 0) {
		int error = -errno;
		return gid_domain_fail(consumer->domain, error, "%s", gid_strerror(error));
	}
	return 0;
}

int gid_consumer_create(struct gid_domain *domain, const char *peer, const char *name,
	const struct gid_consumer_options *options, struct gid_consumer **result) {
	struct gid_consumer *consumer = calloc(1, sizeof(*consumer));
	if (consumer == NULL) {
		return gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
	}
	consumer->domain = domain;
	consumer->epoll_fd = consumer->nudge_fd = -1;
	gid_consumer_init_subscription(consumer);
	consumer->endpoint.domain_destroyed = lose_domain;
	int error = read_arguments(consumer, peer, name, options);
	if (error == 0) {
		error = open_descriptors(consumer);
	}
	if (error == 0) {
		error = gid_consumer_subscribe(consumer);
	}
	if (error < 0) {
		release_consumer(consumer);
		return error;
	}
	gid_endpoint_add(domain, &consumer->endpoint);
	consumer->timeline = gid_domain_get_timeline(domain, consumer->options.timeline);
	*result = consumer;
	return 0;
}

void gid_consumer_destroy(struct gid_consumer *consumer) {
	if (consumer == NULL || consumer->destroyed) {
		return;
	}
	gid_consumer_enter(consumer);
	consumer->destroyed = true;
	if (consumer->domain != NULL) {
		gid_endpoint_remove(consumer->domain, &consumer->endpoint);
		gid_domain_request_cancel(consumer->domain, consumer);
		gid_loop_disarm(&consumer->domain->loop, &consumer->retry);
		gid_consumer_unsubscribe(consumer, 0);
	}
	gid_consumer_leave(consumer);
}
