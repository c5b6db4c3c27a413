// SPDX-License-Identifier: MIT
/**
 * Windows: the memory of a domain that other machines see, as one file or one PCI device for each
 * domain. Its owner alone has it writable; the hypervisor sees to that. The first page says whose
 * it is, and is written by the hub when it makes the file.
 *
 * window.c: found, opened, checked; window_pci.c: those that are devices; window_make.c: made by
 * the hub; window_map.c: which of the own window's pages are free; window_range.c: dealt out to
 * clients.
 */
#ifndef GIDD_WINDOW_H
#define GIDD_WINDOW_H

#include <sys/types.h>

#include "gidd.h"
#include "window_map.h"

struct window {
	uint32_t domain; /* whose */
	int fd;		 /* read-only, to be handed on */
	int writable;	 /* of the own window, else -1 */
	uint64_t size;
	uint64_t cookie;
	dev_t dev;
	ino_t ino;
	char *path;
	uint8_t *data; /* all of the own window, else NULL */
	struct window_map map;
};

/* The domain's window; NULL: it is not there (yet), or another's lies in its place. */
struct window *window_find(struct gidd *gidd, uint32_t domain);
/* It may be another one from now on: its domain is gone. */
void window_forget(struct gidd *gidd, uint32_t domain);
void window_forget_all(struct gidd *gidd);

/*
 * Whether `fd` is the domain's window, and [offset, offset + size) lies in it behind its first
 * page. 0, -EBADF, -ERANGE; `*why` is a constant sentence.
 */
int window_check(struct gidd *gidd, uint32_t domain, int fd, uint64_t offset, uint64_t size,
	const char **why);

/*
 * What is wrong with the domain's window as it is now, a constant sentence, or NULL: whose it is is
 * written in its first page, and its size does not change.
 */
const char *window_judge(struct gidd *gidd, uint32_t domain);

/* The same as window_check(), and that it can only be read by that descriptor: for what comes over
 * a link. */
int window_check_read(struct gidd *gidd, uint32_t domain, int fd, uint64_t offset, uint64_t size,
	const char **why);

/* --- window_pci.c --- */

/* The path of the PCI device's memory that is the domain's window, or NULL. */
char *window_pci_find(uint32_t domain);

/* --- window_make.c --- */

/* RUNTIME/window/NAME, or NULL. */
char *window_path(const struct gidd *gidd, const struct config_domain *domain);

/* The hub: makes the window of each domain that needs one, where it is not there already. */
int window_make_all(struct gidd *gidd);

/* The hub: writes the window's first page again, whatever its owner made of it. */
void window_mark(struct gidd *gidd, const struct config_domain *domain);

/* --- window_range.c --- */

void window_alloc(struct client *client, const struct gid_wire_alloc *request);
void window_free(struct client *client, const struct gid_wire_allocated *request);
/* The client is gone. */
void window_free_all_of(struct client *client);

/*
 * What a client says that it has of our window: whether it was given that. Where it has it from a
 * gidd before this one, and `adopt` is set, it keeps it.
 */
int window_check_own(struct client *client, int fd, uint64_t offset, uint64_t size, bool adopt,
	const char **why);

/* Puts a descriptor of our window that can only read in the place of one that can write. */
int window_replace(struct gidd *gidd, int *fd);

#endif
