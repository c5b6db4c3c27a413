// SPDX-License-Identifier: MIT
#include "peer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config_file.h"

void peer_init(struct peer *peer, struct gidd *gidd, const struct config *config, uint32_t domain) {
	*peer = (struct peer){.gidd = gidd,
			.config = config,
			.domain = domain,
			.source = log_domain(domain)};
	TAILQ_INIT(&peer->imports);
	TAILQ_INIT(&peer->consuming);
}

void peer_describe(char *text, size_t size, const char *program, pid_t pid, uid_t uid) {
	char process[32] = "another pid namespace";
	if (pid != 0) {
		snprintf(process, sizeof(process), "pid %d", (int)pid);
	}
	snprintf(text, size, "%s (%s, uid %u)", program, process, (unsigned)uid);
}

void peer_log(const struct peer *peer, enum log_level level, const char *format, ...) {
	char text[384];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_line(peer->source, level, "%s: %s", peer->label, text);
}

/* A refused request may be allowed by a newer file already. A guest cannot see the file. */
static const char *hint(const struct peer *peer, int error) {
	bool refused = error == -EPERM || error == -EACCES || error == -ENOENT || error == -EDQUOT;
	if (!refused || peer->client == NULL) {
		return "";
	}
	if (config_file_is_newer(peer->config)) {
		return "the file is newer than what gidd read: gid-cockpit reload. By that: ";
	}
	const struct config_domain *self = config_domain_by_number(peer->config, peer->domain);
	return self != NULL && self->kind == KIND_GUEST
			? "by the file as the host gave it (after a change: gid-cockpit reload): "
			: "";
}

static void send_result(struct peer *peer, uint32_t serial, int error, uint32_t value,
		const char *before, const char *format, va_list args) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_RESULT, serial);
	message.result.error = error;
	message.result.value = value;
	char *text = message.result.text;
	size_t size = sizeof(message.result.text);
	size_t used = (size_t)snprintf(text, size, "%s", before);
	vsnprintf(text + used, size - used, format, args);
	/* Truncation may have split a UTF-8 character. */
	size_t length = strlen(text);
	while (length > 0 && !gid_wire_text_is_valid(text, length)) {
		text[--length] = '\0';
	}
	peer_send(peer, &message, NULL, 0);
}

void peer_result(struct peer *peer, uint32_t serial, int error, uint32_t value, const char *format,
		...) {
	va_list args;
	va_start(args, format);
	send_result(peer, serial, error, value, "", format, args);
	va_end(args);
}

void peer_refuse(struct peer *peer, uint32_t serial, int error, const char *format, ...) {
	va_list args;
	va_start(args, format);
	send_result(peer, serial, error, 0, hint(peer, error), format, args);
	va_end(args);
}
