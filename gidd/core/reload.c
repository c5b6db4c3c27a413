// SPDX-License-Identifier: MIT
#include "reload.h"

#include <errno.h>
#include <gid/gid.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "config_file.h"
#include "eviction.h"
#include "link.h"
#include "log.h"
#include "offers.h"
#include "remote.h"
#include "seal.h"
#include "slab_readers.h"
#include "subscriptions.h"
#include "transport.h"
#include "users.h"

/* Makes valid text of a line that may quote any bytes of the file. */
static void clean(char *line, size_t length) {
	if (gid_wire_text_is_valid(line, length)) {
		return;
	}
	for (size_t i = 0; i < length; i++) {
		if (line[i] < ' ' || line[i] > '~') {
			line[i] = '?';
		}
	}
}

static void log_errors(char *errors) {
	char *line = errors;
	while (line[0] != '\0') {
		size_t length = strcspn(line, "\n");
		clean(line, length);
		log_error("%.*s", (int)length, line);
		line += length + (line[length] == '\n');
	}
}

/* The new configuration could grant more. */
static int refuse_sealed(const struct gidd *gidd, struct config *fresh, FILE *errors) {
	config_init(fresh);
	fprintf(errors, "%s\n", gidd->seal.text);
	return -EINVAL;
}

/* The new configuration is applied as a whole, or not at all. */
static int read_again(struct reload *reload, uint32_t *left) {
	struct config fresh;
	char *errors = NULL;
	size_t size;
	FILE *stream = open_memstream(&errors, &size);
	if (stream == NULL) {
		return -ENOMEM;
	}
	int error = seal_is_on(reload->gidd)
			? refuse_sealed(reload->gidd, &fresh, stream)
			: config_file_read(&fresh, reload->path, link_kind_keys, stream);
	if (error == 0) {
		error = config_update(reload->config, &fresh, reload->path, stream);
	}
	if (error == 0) {
		users_find(reload->config, &fresh, reload->gidd->self); /* `fresh` is the older */
		*left = slab_take_from_clients(reload->gidd, &fresh);
	}
	fclose(stream);
	log_errors(errors);
	free(reload->refused);
	reload->refused = error == 0 ? NULL : errors;
	if (error == 0) {
		free(errors);
	}
	config_finish(&fresh);
	return error;
}

static void notify_reloading(void) {
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, gid_clock_now() / 1000);
}

/* `left`: pieces of memory whose owners were told already that they must leave them. */
static void apply(struct gidd *gidd, const char *what, uint32_t left) {
	uint32_t ended = subscription_end_unshared(gidd);
	uint32_t revoked = slab_revoke_unshared(gidd);
	if (left > 0) {
		eviction_arm(gidd);
	}
	left += eviction_begin(gidd);
	log_info("%s: %u subscriptions ended, %u grants revoked, %u pieces of memory left", what,
			ended, revoked, left);
	remote_open_links(gidd);
	offers_changed(gidd);
}

void reload_apply(struct gidd *gidd, const char *what) {
	apply(gidd, what, 0);
}

static int handle_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *data) {
	struct reload *reload = data;
	notify_reloading();
	uint32_t left = 0;
	int error = read_again(reload, &left);
	if (error < 0) {
		log_error("the configuration stays as it was: %s",
				error == -EINVAL ? "see above" : strerror(-error));
	} else {
		if (reload->gidd->transport != NULL) {
			reload->gidd->transport->kind->reload(reload->gidd->transport);
		}
		apply(reload->gidd, "configuration read again", left);
	}
	reload->readings++;
	sd_notify(0, "READY=1");
	return 0;
}

int reload_withdraw(struct reload *reload, const struct config_domain *owner,
		const struct config_domain *reader, const char *streams) {
	return config_withdraw(reload->config, owner, reader, streams);
}

int reload_init(struct reload *reload, struct gidd *gidd, struct config *config, const char *path) {
	*reload = (struct reload){.gidd = gidd, .config = config, .path = path};
	int error = sd_event_add_signal(gidd->event, NULL, SIGHUP, handle_hangup, reload);
	gidd->reload = reload;
	return error < 0 ? error : 0;
}

void reload_finish(struct reload *reload) {
	reload->gidd->reload = NULL;
	free(reload->refused);
}
