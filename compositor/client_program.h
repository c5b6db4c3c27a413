// SPDX-License-Identifier: MIT
/**
 * Who a Wayland client is, as far as the kernel can tell the compositor: the process that made the
 * connection, its user, and the executable that it runs now.
 *
 * This does not tell what was loaded into that executable, nor that it did not pass its connection
 * on: a user's programs can act for each other. Where programs must be kept apart, they run as
 * different users.
 */
#ifndef GID_COMPOSITOR_CLIENT_PROGRAM_H
#define GID_COMPOSITOR_CLIENT_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>
#include <wayland-server-core.h>

/* Whether the client's process lives and runs the very file that has this path now. */
bool client_runs_program(struct wl_client *client, const char *path);

/*
 * Whether programs can be identified at all: without /proc client_runs_program() is false for all.
 */
bool client_programs_are_known(void);

bool client_is_of_user(struct wl_client *client, uid_t user);

pid_t client_pid(struct wl_client *client);

#endif
