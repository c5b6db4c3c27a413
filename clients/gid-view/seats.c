// SPDX-License-Identifier: MIT
#include "seats.h"

#include <stdlib.h>
#include <string.h>

static void seats_drop(struct seat *seat) {
	wl_list_remove(&seat->link);
	seat_finish(seat);
	free(seat);
}

static void registry_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	struct seats *seats = data;
	if (strcmp(interface, wl_seat_interface.name) != 0 || version < SEAT_VERSION_MIN) {
		return;
	}
	struct seat *seat = calloc(1, sizeof(*seat));
	if (seat != NULL) {
		wl_list_insert(seats->list.prev, &seat->link);
		seat_init(seat, seats->place, name);
	}
}

/* What is held on its devices is released. */
static void registry_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
	struct seats *seats = data;
	const struct seat_place *place = seats->place;
	struct seat *seat, *next;
	wl_list_for_each_safe(seat, next, &seats->list, link) {
		if (seat->name == name) {
			seats_drop(seat);
			place->events->devices(place->data);
		}
	}
}

static const struct wl_registry_listener registry_listener = {
		.global = registry_global,
		.global_remove = registry_global_remove,
};

void seats_cursor_changed(struct seats *seats) {
	struct seat *seat;
	wl_list_for_each(seat, &seats->list, link) {
		seat_cursor_changed(seat);
	}
}

uint32_t seats_devices(const struct seats *seats) {
	const struct seat *seat;
	uint32_t devices = 0;
	wl_list_for_each(seat, &seats->list, link) {
		devices |= seat_devices(seat);
	}
	return devices;
}

struct wl_seat *seats_first(const struct seats *seats) {
	const struct seat *first = wl_container_of(seats->list.next, first, link);
	return wl_list_empty(&seats->list) ? NULL : first->base;
}

uint64_t seats_deadline(const struct seats *seats) {
	const struct seat *seat;
	uint64_t deadline = UINT64_MAX;
	wl_list_for_each(seat, &seats->list, link) {
		deadline = seat->lose_time < deadline ? seat->lose_time : deadline;
	}
	return deadline;
}

void seats_dispatch(struct seats *seats, uint64_t now) {
	struct seat *seat;
	wl_list_for_each(seat, &seats->list, link) {
		if (now >= seat->lose_time) {
			seat_lose_focus(seat);
		}
	}
}

void seats_init(struct seats *seats, const struct seat_place *place) {
	*seats = (struct seats){.place = place};
	wl_list_init(&seats->list);
	seats->registry = wl_display_get_registry(place->wayland->display);
	wl_registry_add_listener(seats->registry, &registry_listener, seats);
}

void seats_finish(struct seats *seats) {
	struct seat *seat, *next;
	if (seats->registry == NULL) {
		return;
	}
	wl_list_for_each_safe(seat, next, &seats->list, link) {
		seats_drop(seat);
	}
	wl_registry_destroy(seats->registry);
	seats->registry = NULL;
}
