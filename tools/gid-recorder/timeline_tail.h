// SPDX-License-Identifier: MIT
/**
 * The last seconds of a file that grows: a timeline. Lines that say what things are called are kept
 * for longer, since they are written only once.
 */
#ifndef RECORDER_TIMELINE_TAIL_H
#define RECORDER_TIMELINE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of one file, in bytes: of its end, and of names. If more comes, the time that is kept is
 * shorter. */
#define TIMELINE_TAIL_ROOM (8u << 20)
#define TIMELINE_TAIL_NAMES (256u << 10)

struct timeline_tail {
	const char *path;
	int fd;		   /* -1: it is not there yet */
	off_t offset;	   /* of the file, from which on it is still to be read */
	uint64_t written;  /* bytes that came into `bytes`, from the beginning on */
	char *bytes;	   /* a ring */
	uint64_t *reached; /* a ring: for each look at the file, what `written` was then */
	uint32_t look_room;
	uint64_t looks;
	char *names; /* records: where it stood, as `written`; its length; the line */
	size_t names_size;
	char *line; /* the last one, as far as it is there */
	size_t line_size;
	bool is_full; /* there was no room for a name */
};

size_t timeline_tail_size(uint32_t looks);

/* A file that is to be looked at so many times while what it had stays. Returns 0 or -ENOMEM. */
int timeline_tail_init(struct timeline_tail *tail, const char *path, uint32_t looks);
void timeline_tail_finish(struct timeline_tail *tail);

/* Takes what is new in the file. Never takes long: what is too much comes with the next look. */
void timeline_tail_look(struct timeline_tail *tail);

/*
 * Writes names and then all lines that came since `looks` looks to the descriptor. Returns the
 * bytes, or -errno. `fd` -1: only counts them.
 */
int64_t timeline_tail_write(const struct timeline_tail *tail, uint32_t looks, int fd);

#endif
