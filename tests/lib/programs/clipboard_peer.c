// SPDX-License-Identifier: MIT
/*
 * The other end of a clipboard, as a test tells it: `clipboard-peer OURS OWNER THEIRS`, in the
 * domain $GID_DOMAIN. It sends and tells frames as they are, right or wrong. Each line on its stdin
 * is a command, and is answered by `done` when it was done:
 *
 *   wait          until somebody reads
 *   send HEX      a frame that begins with these bytes
 *
 * Each frame that comes is told by a line `came HEX`: the bytes of the text.
 */
#include <clipboard_format.h>
#include <err.h>
#include <errno.h>
#include <frame_reader.h>
#include <frame_writer.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gid_domain *domain;
static struct frame_writer *writer;
static struct frame_reader *reader;
static bool waits;
static uint8_t sent[1 << 17];
static size_t sent_size;
static struct {
	struct clipboard_head head;
	uint8_t text[CLIPBOARD_TEXT_MAX];
} came;

static void answer(void) {
	printf("done\n");
	fflush(stdout);
}

static void handle_published(void *data, int error) {
	if (error != 0) {
		errx(EXIT_FAILURE, "%s", gid_strerror(error));
	}
}

static void handle_readers(void *data, uint32_t readers) {
	if (waits && readers > 0) {
		waits = false;
		answer();
	}
}

static void handle_write(void *data, void *memory, uint32_t slot, uint64_t emptied) {
	memcpy(memory, sent, sent_size);
}

static int handle_copy(void *data, const void *slot) {
	memcpy(&came, slot, sizeof(came));
	return came.head.size <= CLIPBOARD_TEXT_MAX ? 0 : -EPROTO;
}

static void handle_use(void *data, int64_t clock_offset_ns) {
	printf("came ");
	for (uint32_t i = 0; i < came.head.size; i++) {
		printf("%02x", came.text[i]);
	}
	printf("\n");
	fflush(stdout);
}

static void handle_begin(void *data, uint64_t time) {
}

static void handle_woken(void *data) {
}

static void handle_sender_changed(void *data, bool is_there, const char *why) {
}

static void take_bytes(const char *text) {
	unsigned int byte;
	sent_size = 0;
	while (sscanf(text + 2 * sent_size, "%2x", &byte) == 1) {
		sent[sent_size] = (uint8_t)byte;
		sent_size++;
	}
}

static void obey(const char *line) {
	if (strncmp(line, "send ", 5) == 0) {
		take_bytes(line + 5);
		frame_writer_mark(writer);
		frame_writer_flush(writer);
	} else if (strcmp(line, "wait\n") == 0) {
		waits = frame_writer_readers(writer) == 0;
		if (waits) {
			return;
		}
	} else {
		errx(EXIT_FAILURE, "no command: %s", line);
	}
	answer();
}

static int patience(void) {
	uint64_t now = gid_clock_now(), deadline = frame_writer_deadline(writer);
	uint64_t other = frame_reader_deadline(reader);
	deadline = deadline < other ? deadline : other;
	if (deadline == UINT64_MAX) {
		return -1;
	}
	return deadline > now ? (int)((deadline - now) / 1000000 + 1) : 0;
}

static void begin(char **argv) {
	static const struct frame_writer_events writes = {.published = handle_published,
			.readers = handle_readers,
			.write = handle_write};
	static const struct frame_reader_events reads = {.copy = handle_copy,
			.use = handle_use,
			.begin = handle_begin,
			.woken = handle_woken,
			.sender_changed = handle_sender_changed};
	if (gid_domain_connect(NULL, &domain) != 0) {
		errx(EXIT_FAILURE, "%s", gid_domain_connect_error());
	}
	if (frame_writer_create(domain, argv[1], &clipboard_form, &writes, NULL, &writer) != 0 ||
			frame_reader_create(domain, argv[2], argv[3], &clipboard_form, 0, &reads,
					NULL, &reader) != 0) {
		errx(EXIT_FAILURE, "%s", gid_domain_error(domain));
	}
}

int main(int argc, char **argv) {
	char *line = NULL;
	size_t room = 0;
	if (argc != 4) {
		errx(EXIT_FAILURE, "usage: clipboard-peer OURS OWNER THEIRS");
	}
	setvbuf(stdin, NULL, _IONBF, 0); /* a line is not read before it is seen */
	begin(argv);
	struct pollfd fds[] = {{fileno(stdin), POLLIN, 0}, {gid_domain_get_fd(domain), POLLIN, 0},
			{frame_reader_get_fd(reader), POLLIN, 0}};
	for (;;) {
		if (poll(fds, 3, patience()) < 0 && errno != EINTR) {
			err(EXIT_FAILURE, "poll");
		}
		if (gid_domain_dispatch(domain) < 0) {
			errx(EXIT_FAILURE, "%s", gid_domain_error(domain));
		}
		if (fds[0].revents != 0) {
			if (getline(&line, &room, stdin) < 0) {
				break;
			}
			obey(line);
		}
		frame_reader_dispatch(reader);
		frame_writer_flush(writer);
	}
	free(line);
	frame_reader_destroy(reader);
	frame_writer_destroy(writer);
	gid_domain_destroy(domain);
	return EXIT_SUCCESS;
}
