// SPDX-License-Identifier: MIT
/*
 * Sends input as a test tells it: `input-peer STREAM LEASE_MS`, in the domain $GID_DOMAIN. Each
 * line on its stdin is a command, and is answered by a line when it was done:
 *
 *   devices BITS
 *   size WIDTH HEIGHT [SCALE]                   of the window: what it has a picture for; in 120ths
 *   keymap FILE                                 of the keyboard: its text
 *   close                                       the user wants the window to be closed
 *   event TYPE CODE VALUE [X Y [RAW_X RAW_Y]]   which happens now, and is not sent yet
 *   send                                        with the end of a group
 *   release                                     all that is held
 *   wait                                        until somebody reads
 */
#include <err.h>
#include <errno.h>
#include <input_sender.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct gid_domain *domain;
static struct input_sender *sender;
static bool waits;

static void handle_published(void *data, int error) {
	if (error != 0) {
		errx(EXIT_FAILURE, "%s", gid_strerror(error));
	}
}

static void answer(void) {
	printf("done\n");
	fflush(stdout);
}

static void handle_readers(void *data, uint32_t readers) {
	if (waits && readers > 0) {
		waits = false;
		answer();
	}
}

static void add_event(const char *words) {
	struct input_record event = {.time = gid_clock_now()};
	int type, code;
	if (sscanf(words, "%d %d %d %d %d %d %d", &type, &code, &event.value, &event.x, &event.y,
			    &event.raw_x, &event.raw_y) < 3) {
		errx(EXIT_FAILURE, "no event: %s", words);
	}
	event.type = (uint16_t)type;
	event.code = (uint16_t)code;
	if (!input_record_is_valid(&event)) {
		errx(EXIT_FAILURE, "no valid event: %s", words);
	}
	input_sender_add(sender, &event);
}

static void set_size(const char *words) {
	uint32_t width, height, scale = 0;
	if (sscanf(words, "%" SCNu32 " %" SCNu32 " %" SCNu32, &width, &height, &scale) < 2) {
		errx(EXIT_FAILURE, "no size: %s", words);
	}
	input_sender_set_size(sender, width, height, scale);
}

/* The text of a file. */
static void set_keymap(const char *line) {
	static char text[INPUT_KEYMAP_MAX];
	char path[PATH_MAX] = "";
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(line, "\n"), line);
	FILE *file = fopen(path, "re");
	size_t size = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;
	if (size == 0 || fclose(file) != 0) {
		err(EXIT_FAILURE, "%s", path);
	}
	text[size] = '\0';
	input_sender_set_keymap(sender, text);
}

static void obey(const char *line) {
	if (strncmp(line, "devices ", 8) == 0) {
		input_sender_set_devices(sender, (uint32_t)atoi(line + 8));
	} else if (strncmp(line, "size ", 5) == 0) {
		set_size(line + 5);
	} else if (strncmp(line, "keymap ", 7) == 0) {
		set_keymap(line + 7);
	} else if (strcmp(line, "close\n") == 0) {
		input_sender_close(sender);
	} else if (strncmp(line, "event ", 6) == 0) {
		add_event(line + 6);
	} else if (strcmp(line, "send\n") == 0) {
		add_event("9 0 0");
		input_sender_flush(sender);
	} else if (strcmp(line, "release\n") == 0) {
		input_sender_release_all(sender);
	} else if (strcmp(line, "wait\n") == 0) {
		waits = input_sender_readers(sender) == 0;
		if (waits) {
			return;
		}
	} else {
		errx(EXIT_FAILURE, "no command: %s", line);
	}
	answer();
}

/* Whole lines of what was read; what is left of one waits for the rest. */
static void take_lines(void) {
	static char text[65536];
	static size_t used;
	ssize_t got = read(STDIN_FILENO, text + used, sizeof(text) - 1 - used);
	if (got <= 0) {
		input_sender_destroy(sender);
		gid_domain_destroy(domain);
		exit(EXIT_SUCCESS);
	}
	used += (size_t)got;
	text[used] = '\0';
	char *line = text, *end;
	while ((end = strchr(line, '\n')) != NULL) {
		char kept = end[1];
		end[1] = '\0';
		obey(line);
		end[1] = kept;
		line = end + 1;
	}
	used -= (size_t)(line - text);
	memmove(text, line, used);
}

static int patience(void) {
	uint64_t deadline = input_sender_deadline(sender), now = gid_clock_now();
	if (deadline == UINT64_MAX) {
		return -1;
	}
	return deadline > now ? (int)((deadline - now) / 1000000 + 1) : 0;
}

int main(int argc, char **argv) {
	static const struct input_sender_events events = {
			.published = handle_published, .readers = handle_readers};
	if (argc != 3 || gid_domain_connect(NULL, &domain) != 0) {
		errx(EXIT_FAILURE, "usage: input-peer STREAM LEASE_MS; %s",
				gid_domain_connect_error());
	}
	if (input_sender_create(domain, argv[1], (uint32_t)atoi(argv[2]), &events, NULL, &sender) !=
			0) {
		errx(EXIT_FAILURE, "%s", gid_domain_error(domain));
	}
	struct pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {gid_domain_get_fd(domain), POLLIN, 0}};
	for (;;) {
		if (poll(fds, 2, patience()) < 0 && errno != EINTR) {
			err(EXIT_FAILURE, "poll");
		}
		if (gid_domain_dispatch(domain) < 0) {
			errx(EXIT_FAILURE, "%s", gid_domain_error(domain));
		}
		if (fds[0].revents != 0) {
			take_lines();
		}
		input_sender_dispatch(sender);
	}
}
