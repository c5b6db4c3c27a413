// SPDX-License-Identifier: MIT
#include "life.h"

#include <errno.h>

#include "memory.h"

int gid_life_watch(struct gid_life *life, int fd) {
	const void *page;
	if (life->count == GID_LIFE_WINDOWS) {
		return -E2BIG;
	}
	int error = gid_memory_check_range(fd, sizeof(struct gid_wire_window));
	if (error == 0) {
		error = gid_memory_map(fd, 0, sizeof(struct gid_wire_window), &page);
	}
	if (error < 0) {
		return error;
	}
	const struct gid_wire_window *window = page;
	life->windows[life->count] = window;
	life->cookies[life->count] = __atomic_load_n(&window->cookie, __ATOMIC_ACQUIRE);
	life->count++;
	return 0;
}

void gid_life_finish(struct gid_life *life) {
	for (uint32_t i = 0; i < life->count; i++) {
		gid_memory_unmap(life->windows[i], sizeof(struct gid_wire_window));
	}
	*life = (struct gid_life){0};
}
