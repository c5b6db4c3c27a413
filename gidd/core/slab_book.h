// SPDX-License-Identifier: MIT
/**
 * Which user had which slab's number, for a gidd that comes back. Programs that outlive a gidd ask
 * the next one for their old numbers, and frames that are on their way have these. So who gets such
 * a number would speak for the program that had it, as long as that has not come back. A number
 * goes back to a program of the same user alone, and nobody has it by its old name once it was
 * given up.
 *
 * It is kept in the file of the domain's lock, which gidd has open, and which nobody else can
 * write. Without a book of the run before, any program may have any number that is free.
 */
#ifndef GIDD_SLAB_BOOK_H
#define GIDD_SLAB_BOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct slab_book;

/*
 * Takes over what the file has, and goes on in it. The descriptor stays the caller's, and open
 * until the book is closed. NULL, of which the functions below take no harm: there is no memory.
 * Where the file has no room, the next run has no book.
 */
struct slab_book *slab_book_open(int fd);
/* What is in the file stays there. */
void slab_book_close(struct slab_book *book);

/* Whether a program of that user may have the number that it says it had. */
bool slab_book_may_return(const struct slab_book *book, uint32_t number, uid_t uid);
/* Whether somebody had it in an earlier run, and may come back. */
bool slab_book_expects(const struct slab_book *book, uint32_t number);
/* A program of that user has it now. */
void slab_book_put(struct slab_book *book, uint32_t number, uid_t uid);
void slab_book_remove(struct slab_book *book, uint32_t number);

#endif
