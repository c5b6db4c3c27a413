// SPDX-License-Identifier: MIT
/**
 * Windows: the memory of a domain that other machines see. A domain has one for each set of domains
 * that may read the same of it; each is one file, or one PCI device. Its owner alone has it
 * writable; the hypervisor sees to that. The first page says whose it is and who reads it, and is
 * written by the hub when it makes the file.
 *
 * Its owner can write that page, and so does whoever spoils its memory. Which window it is follows
 * from its place in the machine, therefore; and who reads a window of its own a gidd hears from the
 * hub. It uses none whose page says something else, for that may be another file.
 */
#ifndef GIDD_SHM_WINDOW_H
#define GIDD_SHM_WINDOW_H

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "config_windows.h"
#include "shm_map.h"
#include "wire.h"

struct gidd;

struct shm_window {
	SLIST_ENTRY(shm_window) entry;
	uint32_t domain, number;   /* whose, and which of those */
	struct domain_set readers; /* as its first page had them: it is always the same set */
	int fd;			   /* read-only, to be handed on */
	int writable;		   /* of the own window, else -1 */
	uint64_t size;
	uint64_t head; /* so much of the file is before that: not in a device-dax */
	dev_t dev;
	ino_t ino;
	char *path;
	uint8_t *data; /* all of the own window, else NULL */
	struct shm_map map;
	struct shm_ranges dirty;   /* of the own window: to be cleaned before they are given */
	sd_event_source *cleaning; /* NULL: there are none */
};

/*
 * A place in a window as other machines know it, and back; 0 stays 0, for that is none. False: it
 * is not in what we have.
 */
uint64_t shm_window_place(const struct shm_window *window, uint64_t offset);
bool shm_window_offset(const struct shm_window *window, uint64_t place, uint64_t *offset);

/* Opens those windows of the domain that are there and not open yet. False: it has none. */
bool shm_window_open_all(struct gidd *gidd, uint32_t domain);
/* The domain's window of that number; NULL: it is not there (yet). */
struct shm_window *shm_window_find(struct gidd *gidd, uint32_t domain, uint32_t number);
/* The same, as far as it is open already. */
struct shm_window *shm_window_at(struct gidd *gidd, uint32_t domain, uint32_t number);
/* Our own for exactly these readers, or NULL. */
struct shm_window *shm_window_find_for(struct gidd *gidd, const struct domain_set *readers);
/* The one of the domain that the descriptor is of, or NULL. */
struct shm_window *shm_window_of(struct gidd *gidd, uint32_t domain, int fd);
/* The hub has said who reads one of our own windows, and how much of it has pages. 0, -ENOMEM. */
int shm_window_set_own(struct gidd *gidd, const struct gid_wire_own_window *window);
/* Whether it has said so of all. */
bool shm_window_knows_own(const struct gidd *gidd);
/* Our own: so much of it may be used, which is less than its size where the rest has no pages. */
uint64_t shm_window_filled(const struct gidd *gidd, const struct shm_window *window);
/* They may be others from now on: the domain is gone. */
void shm_window_forget(struct gidd *gidd, uint32_t domain);
void shm_window_forget_all(struct gidd *gidd);

/*
 * Whether `fd` is a window of the domain, and [offset, offset + size) lies in it behind its first
 * page. 0, -EBADF, -ERANGE; `*why` is a constant sentence.
 */
int shm_window_check(struct gidd *gidd, uint32_t domain, int fd, uint64_t offset, uint64_t size,
		const char **why);

/*
 * What is wrong with the domain's windows as they are now, a constant sentence, or NULL: whose they
 * are and who reads them is written in their first pages, and their sizes do not change.
 */
const char *shm_window_judge(struct gidd *gidd, uint32_t domain);

/* The same as shm_window_check(), and that it can only be read by that descriptor: for what comes
 * over a link. */
int shm_window_check_read(struct gidd *gidd, uint32_t domain, int fd, uint64_t offset,
		uint64_t size, const char **why);

#endif
