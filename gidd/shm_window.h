// SPDX-License-Identifier: MIT
/**
 * Windows: the memory of a domain that other machines see, as one file or one PCI device for each
 * domain. Its owner alone has it writable; the hypervisor sees to that. The first page says whose
 * it is, and is written by the hub when it makes the file.
 */
#ifndef GIDD_SHM_WINDOW_H
#define GIDD_SHM_WINDOW_H

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "config.h"
#include "shm_map.h"

struct gidd;

struct shm_window {
	uint32_t domain; /* whose */
	int fd;		 /* read-only, to be handed on */
	int writable;	 /* of the own window, else -1 */
	uint64_t size;
	uint64_t cookie;
	dev_t dev;
	ino_t ino;
	char *path;
	uint8_t *data; /* all of the own window, else NULL */
	struct shm_map map;
	struct shm_ranges dirty;   /* of the own window: to be cleaned before they are given */
	sd_event_source *cleaning; /* NULL: there are none */
};

/* The domain's window; NULL: it is not there (yet), or another's lies in its place. */
struct shm_window *shm_window_find(struct gidd *gidd, uint32_t domain);
/* It may be another one from now on: its domain is gone. */
void shm_window_forget(struct gidd *gidd, uint32_t domain);
void shm_window_forget_all(struct gidd *gidd);

/*
 * Whether `fd` is the domain's window, and [offset, offset + size) lies in it behind its first
 * page. 0, -EBADF, -ERANGE; `*why` is a constant sentence.
 */
int shm_window_check(struct gidd *gidd, uint32_t domain, int fd, uint64_t offset, uint64_t size,
		const char **why);

/*
 * What is wrong with the domain's window as it is now, a constant sentence, or NULL: whose it is is
 * written in its first page, and its size does not change.
 */
const char *shm_window_judge(struct gidd *gidd, uint32_t domain);

/* The same as shm_window_check(), and that it can only be read by that descriptor: for what comes
 * over a link. */
int shm_window_check_read(struct gidd *gidd, uint32_t domain, int fd, uint64_t offset,
		uint64_t size, const char **why);

/* The hub: makes the window of each domain that needs one, where it is not there already. */
int shm_window_make_all(struct gidd *gidd);

/* The hub: writes the window's first page again, whatever its owner made of it. */
void shm_window_mark(struct gidd *gidd, const struct config_domain *domain);

#endif
