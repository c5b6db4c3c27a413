// SPDX-License-Identifier: MIT
#include "slab_book.h"

#include <errno.h>
#include <gid/gid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

#define MAGIC UINT64_C(0x316b6f6f62646967) /* "gidbook1" */
/* The slabs that exist at one time. With more, the next run has no book. */
#define ENTRIES 8192u
/* An entry that nobody claims in this many runs is removed. */
#define RUNS_MAX 8u
#define READ_AT_ONCE 256u /* entries, of which ENTRIES is a multiple */

struct entry {
	uint32_t number; /* 0: the entry is free */
	uint32_t uid;
	uint32_t runs; /* runs that ended since; 0: the slab exists */
	uint32_t reserved;
};

struct slab_book {
	int fd;
	bool is_known; /* the previous run left a valid book */
	bool is_kept;  /* the next run can rely on it */
	struct entry entries[ENTRIES];
};

/* --- the file --------------------------------------------------------------------------------- */

static bool write_at(const struct slab_book *book, const void *data, size_t size, size_t offset) {
	errno = ENOSPC; /* the reason after a partial write, which sets no errno */
	return pwrite(book->fd, data, size, (off_t)offset) == (ssize_t)size;
}

/* Logged once. Invalidates the file: from now on nothing is kept for the next run. */
static void give_up(struct slab_book *book, const char *why) {
	static const uint64_t none = 0;
	if (book->is_kept) {
		book->is_kept = false;
		(void)write_at(book, &none, sizeof(none), 0);
		log_warning("it is not kept any more which user has which slab's number: %s; after "
			    "a restart of gidd, any program may take a number that is free",
				why);
	}
}

/* The file has its full size already: a full disk does no harm. */
static void write_entry(struct slab_book *book, uint32_t place) {
	if (book->is_kept &&
			!write_at(book, &book->entries[place], sizeof(struct entry),
					sizeof(uint64_t) + place * sizeof(struct entry))) {
		give_up(book, strerror(errno));
	}
}

/* Takes over the entries that are in use: the pages of all others are never written, and so take no
 * memory. */
static bool read_all(struct slab_book *book) {
	uint64_t magic = 0;
	bool good = pread(book->fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
			magic == MAGIC;
	for (uint32_t place = 0; good && place < ENTRIES; place += READ_AT_ONCE) {
		struct entry some[READ_AT_ONCE];
		good = pread(book->fd, some, sizeof(some),
				       (off_t)(sizeof(magic) + place * sizeof(some[0]))) ==
				(ssize_t)sizeof(some);
		for (uint32_t i = 0; good && i < READ_AT_ONCE; i++) {
			if (some[i].number != 0) {
				book->entries[place + i] = some[i];
			}
		}
	}
	return good;
}

/* Writes the magic number last: without it the file is no book. */
static bool write_all(struct slab_book *book) {
	static const uint64_t none = 0, magic = MAGIC;
	return write_at(book, &none, sizeof(none), 0) &&
			write_at(book, book->entries, sizeof(book->entries), sizeof(none)) &&
			write_at(book, &magic, sizeof(magic), 0);
}

struct slab_book *slab_book_open(int fd) {
	struct slab_book *book = calloc(1, sizeof(*book));
	if (book == NULL) {
		return NULL;
	}
	book->fd = fd;
	book->is_known = read_all(book);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct entry *entry = &book->entries[i];
		if (entry->number == 0) {
			continue;
		}
		if (!book->is_known || entry->number > GID_SLAB_MAX || entry->runs >= RUNS_MAX) {
			*entry = (struct entry){0};
		} else {
			entry->runs++;
		}
	}
	book->is_kept = true;
	if (!write_all(book)) {
		give_up(book, strerror(errno));
	}
	return book;
}

void slab_book_close(struct slab_book *book) {
	free(book);
}

/* --- entries ---------------------------------------------------------------------------------- */

/* `number` 0 finds a free entry. ENTRIES: not found. */
static uint32_t find(const struct slab_book *book, uint32_t number) {
	uint32_t place = 0;
	while (place < ENTRIES && book->entries[place].number != number) {
		place++;
	}
	return place;
}

bool slab_book_expects(const struct slab_book *book, uint32_t number) {
	uint32_t place = book != NULL ? find(book, number) : ENTRIES;
	return place < ENTRIES && book->entries[place].runs > 0;
}

bool slab_book_may_return(const struct slab_book *book, uint32_t number, uid_t uid) {
	if (book == NULL || !book->is_known) {
		return true;
	}
	return slab_book_expects(book, number) && book->entries[find(book, number)].uid == uid;
}

void slab_book_put(struct slab_book *book, uint32_t number, uid_t uid) {
	if (book == NULL) {
		return;
	}
	uint32_t place = find(book, number);
	place = place < ENTRIES ? place : find(book, 0);
	if (place < ENTRIES) {
		book->entries[place] = (struct entry){.number = number, .uid = uid};
		write_entry(book, place);
	} else {
		char why[48];
		snprintf(why, sizeof(why), "there are more than %u slabs", ENTRIES);
		give_up(book, why);
	}
}

void slab_book_remove(struct slab_book *book, uint32_t number) {
	uint32_t place = book != NULL ? find(book, number) : ENTRIES;
	if (place < ENTRIES) {
		book->entries[place] = (struct entry){0};
		write_entry(book, place);
	}
}
