// SPDX-License-Identifier: MIT
/**
 * A Wayland client that says what the input says, to a server in the same process. It keeps track
 * of its objects, so that most requests name one of the right kind.
 */
#ifndef FUZZ_WAYLAND_CLIENT_H
#define FUZZ_WAYLAND_CLIENT_H

#include <wayland-server-core.h>

#include "fuzz.h"

#define OBJECTS_MAX 64
#define GLOBALS_MAX 64

enum object {
	NOTHING,
	BUFFER_MANAGER,
	BUFFER_PARAMS,
	BUFFER,
	BUFFER_FEEDBACK,
	COMPOSITOR,
	SUBCOMPOSITOR,
	SURFACE,
	SUBSURFACE,
	SHM,
	VIEWPORTER,
	VIEWPORT,
	SAFETY_MANAGER,
	SAFETY_SURFACE,
	OBJECT_KINDS,
};

struct wayland_client {
	struct input input;
	struct wl_display *display;
	int fd;
	uint32_t next; /* object */
	uint8_t objects[OBJECTS_MAX];
	struct global {
		char interface[64];
		uint32_t name;
	} globals[GLOBALS_MAX];
	uint32_t global_count;
};

/* Connects, and has heard of the globals when it returns. The input's bytes stay the caller's. */
void wayland_client_init(
		struct wayland_client *client, struct wl_display *display, struct input input);
void wayland_client_finish(struct wayland_client *client);

/* Whether there is input left, and room for objects that it makes. */
bool wayland_client_goes_on(const struct wayland_client *client);

/* `fd` goes with it, if it is not -1. At most 24 words. */
void wayland_client_send(struct wayland_client *client, uint32_t object, uint32_t opcode,
		const uint32_t *words, uint32_t count, int fd);

/* Appends a string as the wire has it. Returns the number of words then. */
uint32_t wayland_client_put_string(uint32_t *words, uint32_t count, const char *text);

/* The number of a new object. */
uint32_t wayland_client_add(struct wayland_client *client, enum object kind);

/* One of the kind, most of the time. */
uint32_t wayland_client_pick(struct wayland_client *client, enum object kind);

/* Nothing where there is no such global. */
void wayland_client_bind(struct wayland_client *client, enum object kind, const char *interface,
		uint32_t version);

/* A request that the input makes up; one that destroys an object of some kind. */
void wayland_client_send_anything(struct wayland_client *client);
void wayland_client_send_destroy(struct wayland_client *client);

/* Lets the server do what it was asked for, and takes what it says. */
void wayland_client_dispatch(struct wayland_client *client);

/* A number of the input, often one at an edge. */
uint32_t take_number(struct input *input);

#endif
