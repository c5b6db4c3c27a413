// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "gidd.h"
#include "log.h"
#include "quota.h"
#include "subscription.h"

struct stream *stream_find(struct registry *registry, const char *name) {
	struct stream *stream;
	TAILQ_FOREACH(stream, &registry->streams, entry) {
		if (strcmp(stream->name, name) == 0) {
			return stream;
		}
	}
	return NULL;
}

static void stream_destroy(struct gidd *gidd, struct stream *stream, int reason) {
	subscription_stream_down(gidd, stream, reason);
	log_info("%s: stream %s ends", stream->owner->peer.label, stream->name);
	quota_give(stream->owner, QUOTA_STREAMS, 1);
	TAILQ_REMOVE(&stream->owner->streams, stream, owner_entry);
	TAILQ_REMOVE(&gidd->registry.streams, stream, entry);
	free(stream);
}

__attribute__((format(printf, 4, 5))) static void refuse(struct client *client,
	const struct gid_wire_publish *request, int error, const char *format, ...) {
	char why[256];
	va_list args;
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	log_warning("%s: stream %s refused: %s", client->peer.label, request->name, why);
	peer_result(&client->peer, request->header.serial, error, 0, "%s", why);
}

void stream_publish(struct client *client, const struct gid_wire_publish *request) {
	struct gidd *gidd = client->peer.gidd;
	if (!config_may_publish(gidd->config, gidd->self, request->name)) {
		refuse(client, request, -EPERM,
			"the cockpit's configuration has no stream %s of domain %s: add it to "
			"streams= of a share, or to local= of the domain",
			request->name, gidd->self->name);
		return;
	}
	const struct stream *twin = stream_find(&gidd->registry, request->name);
	if (twin != NULL) {
		refuse(client, request, -EEXIST, "stream %s is published already by %s",
			request->name, twin->owner->peer.label);
		return;
	}
	char limit[192];
	int error = quota_take(client, QUOTA_STREAMS, 1, limit);
	if (error < 0) {
		refuse(client, request, error, "%s", limit);
		return;
	}
	struct stream *stream = calloc(1, sizeof(*stream));
	if (stream == NULL) {
		quota_give(client, QUOTA_STREAMS, 1);
		refuse(client, request, -ENOMEM, "gidd is out of memory");
		return;
	}
	stream->owner = client;
	stream->number = ++gidd->registry.stream_number;
	strcpy(stream->name, request->name);
	TAILQ_INIT(&stream->subscriptions);
	TAILQ_INSERT_TAIL(&gidd->registry.streams, stream, entry);
	TAILQ_INSERT_TAIL(&client->streams, stream, owner_entry);
	log_info("%s: publishes stream %s", client->peer.label, stream->name);
	peer_result(&client->peer, request->header.serial, 0, stream->number, "%s", "");
	subscription_stream_up(gidd, stream);
}

void stream_unpublish(struct client *client, const struct gid_wire_unpublish *request) {
	struct stream *stream;
	TAILQ_FOREACH(stream, &client->streams, owner_entry) {
		if (stream->number == request->stream) {
			break;
		}
	}
	if (stream == NULL) {
		peer_result(&client->peer, request->header.serial, -ENOENT, 0,
			"this client has no stream %u", request->stream);
		return;
	}
	stream_destroy(client->peer.gidd, stream, 0);
	peer_result(&client->peer, request->header.serial, 0, 0, "%s", "");
}

void stream_destroy_all_of(struct client *client) {
	struct stream *stream;
	while ((stream = TAILQ_FIRST(&client->streams)) != NULL) {
		stream_destroy(client->peer.gidd, stream, -EPIPE);
	}
}
