// SPDX-License-Identifier: MIT
#include "timeline_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "write_all.h"

#define LINE_MAX_BYTES 1024u /* of a name */
#define PIECE 65536u
#define PIECES_A_LOOK 32u
/* Of a file that is longer than that at the start only the beginning and the end are read. */
#define BEGINNING (1u << 20)

struct name_head {
	uint64_t at;
	uint32_t size;
};

size_t timeline_tail_size(uint32_t looks) {
	return TIMELINE_TAIL_ROOM + TIMELINE_TAIL_NAMES + LINE_MAX_BYTES + looks * sizeof(uint64_t);
}

int timeline_tail_init(struct timeline_tail *tail, const char *path, uint32_t looks) {
	*tail = (struct timeline_tail){
			.path = path,
			.fd = -1,
			.bytes = malloc(TIMELINE_TAIL_ROOM),
			.names = malloc(TIMELINE_TAIL_NAMES),
			.line = malloc(LINE_MAX_BYTES),
			.reached = calloc(looks, sizeof(uint64_t)),
			.look_room = looks,
	};
	if (tail->bytes == NULL || tail->names == NULL || tail->line == NULL ||
			tail->reached == NULL) {
		timeline_tail_finish(tail);
		return -ENOMEM;
	}
	return 0;
}

void timeline_tail_finish(struct timeline_tail *tail) {
	if (tail->fd >= 0) {
		close(tail->fd);
	}
	free(tail->bytes);
	free(tail->names);
	free(tail->line);
	free(tail->reached);
	*tail = (struct timeline_tail){.fd = -1};
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Whether a line says what an output, a surface or a domain is called. */
static bool is_name(const char *line, size_t size) {
	static const char type[] = "\"type\":\"";
	return size > 6 && memcmp(line, "{ \"id\"", 6) == 0 &&
			memmem(line, size, type, sizeof(type) - 1) != NULL;
}

static void keep_name(struct timeline_tail *tail, uint64_t at) {
	struct name_head head = {.at = at, .size = (uint32_t)tail->line_size};
	if (tail->names_size + sizeof(head) + tail->line_size > TIMELINE_TAIL_NAMES) {
		tail->is_full = true;
		return;
	}
	memcpy(tail->names + tail->names_size, &head, sizeof(head));
	memcpy(tail->names + tail->names_size + sizeof(head), tail->line, tail->line_size);
	tail->names_size += sizeof(head) + tail->line_size;
}

/* Looks for names in what came, which begins anywhere in a line. */
static void look_for_names(struct timeline_tail *tail, const char *bytes, size_t size) {
	for (size_t done = 0; done < size;) {
		const char *end = memchr(bytes + done, '\n', size - done);
		size_t part = (end != NULL ? (size_t)(end - bytes) + 1 : size) - done;
		size_t room = LINE_MAX_BYTES - tail->line_size;
		size_t taken = part < room ? part : room;
		memcpy(tail->line + tail->line_size, bytes + done, taken);
		tail->line_size += taken;
		done += part;
		if (end != NULL) {
			/* One that is too long has lost its end, and is none. */
			if (tail->line[tail->line_size - 1] == '\n' &&
					is_name(tail->line, tail->line_size)) {
				keep_name(tail, tail->written + done - tail->line_size);
			}
			tail->line_size = 0;
		}
	}
}

static void take(struct timeline_tail *tail, const char *bytes, size_t size) {
	look_for_names(tail, bytes, size);
	for (size_t done = 0; done < size;) {
		size_t at = tail->written % TIMELINE_TAIL_ROOM;
		size_t part = size - done < TIMELINE_TAIL_ROOM - at ? size - done
								    : TIMELINE_TAIL_ROOM - at;
		memcpy(tail->bytes + at, bytes + done, part);
		tail->written += part;
		done += part;
	}
}

/* A file that is there for the first time, or is another one than before. */
static void open_file(struct timeline_tail *tail) {
	struct stat status;
	int fd = open(tail->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		return;
	}
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return;
	}
	if (tail->fd >= 0) {
		close(tail->fd);
	}
	tail->fd = fd;
	tail->offset = 0;
	tail->line_size = 0;
}

/* Whether the file is another one now, or was emptied. */
static bool has_changed(const struct timeline_tail *tail) {
	struct stat there, ours;
	return stat(tail->path, &there) == 0 && fstat(tail->fd, &ours) == 0 &&
			(there.st_ino != ours.st_ino || there.st_size < tail->offset);
}

static void read_pieces(struct timeline_tail *tail) {
	static char piece[PIECE];
	for (uint32_t i = 0; i < PIECES_A_LOOK; i++) {
		ssize_t got = pread(tail->fd, piece, sizeof(piece), tail->offset);
		if (got <= 0) {
			return;
		}
		take(tail, piece, (size_t)got);
		tail->offset += got;
	}
	struct stat status;
	off_t left = fstat(tail->fd, &status) == 0 ? status.st_size - tail->offset : 0;
	if (left > TIMELINE_TAIL_ROOM / 2 && tail->offset >= BEGINNING) {
		/* More than can be kept: what is between is left out, up to a whole line. */
		tail->offset = status.st_size - TIMELINE_TAIL_ROOM / 2;
		take(tail, "\n", 1);
	}
}

/* Another file in the place of ours, too, comes after what was still written to that. */
void timeline_tail_look(struct timeline_tail *tail) {
	if (tail->fd >= 0) {
		read_pieces(tail);
	}
	if (tail->fd < 0 || has_changed(tail)) {
		open_file(tail);
		if (tail->fd >= 0) {
			read_pieces(tail);
		}
	}
	tail->reached[tail->looks++ % tail->look_room] = tail->written;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* From where on there are whole lines that came since so many looks. */
static uint64_t find_begin(const struct timeline_tail *tail, uint32_t looks) {
	uint64_t begin = 0;
	if (tail->looks > looks && looks > 0 && looks <= tail->look_room) {
		begin = tail->reached[(tail->looks - looks) % tail->look_room];
	}
	uint64_t oldest =
			tail->written > TIMELINE_TAIL_ROOM ? tail->written - TIMELINE_TAIL_ROOM : 0;
	if (begin > oldest && tail->bytes[(begin - 1) % TIMELINE_TAIL_ROOM] == '\n') {
		return begin;
	}
	begin = begin > oldest ? begin : oldest;
	if (begin == 0) {
		return 0;
	}
	while (begin < tail->written && tail->bytes[begin % TIMELINE_TAIL_ROOM] != '\n') {
		begin++;
	}
	return begin;
}

int64_t timeline_tail_write(const struct timeline_tail *tail, uint32_t looks, int fd) {
	const uint64_t begin = find_begin(tail, looks);
	int64_t size = 0;
	for (size_t at = 0; at < tail->names_size;) {
		struct name_head head;
		memcpy(&head, tail->names + at, sizeof(head));
		at += sizeof(head);
		if (head.at < begin) { /* the others stand where they were */
			size += head.size;
			int error = fd >= 0 ? write_all(fd, tail->names + at, head.size) : 0;
			if (error < 0) {
				return error;
			}
		}
		at += head.size;
	}
	for (uint64_t at = begin; at < tail->written;) {
		size_t from = at % TIMELINE_TAIL_ROOM;
		size_t part = TIMELINE_TAIL_ROOM - from;
		part = part < tail->written - at ? part : (size_t)(tail->written - at);
		int error = fd >= 0 ? write_all(fd, tail->bytes + from, part) : 0;
		if (error < 0) {
			return error;
		}
		at += part;
		size += (int64_t)part;
	}
	return size;
}
