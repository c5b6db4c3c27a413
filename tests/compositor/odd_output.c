// SPDX-License-Identifier: MIT
/*
 * To be preloaded into Weston. A test makes a file, whose removal says that it was done: the next
 * repaint of an output fails ($GIDWAY_FAILS), or libgid says of the next picture that it waits for
 * gidd ($GIDWAY_WAITS), as where another reader was taken the memory away.
 */
#include <dlfcn.h>
#include <errno.h>
#include <gid/stream.h>
#include <libweston/libweston.h>
#include <stdlib.h>
#include <unistd.h>

static int (*own_repaint)(struct weston_output *output);

static bool is_asked(const char *variable) {
	const char *path = getenv(variable);
	return path != NULL && unlink(path) == 0;
}

static int repaint(struct weston_output *output) {
	return is_asked("GIDWAY_FAILS") ? -1 : own_repaint(output);
}

int weston_output_enable(struct weston_output *output) {
	static int (*enable)(struct weston_output *output);
	if (enable == NULL) {
		*(void **)&enable = dlsym(RTLD_NEXT, "weston_output_enable");
	}
	int result = enable(output);
	if (own_repaint == NULL) {
		own_repaint = output->repaint; /* the same of all outputs of a backend */
	}
	if (result == 0 && output->repaint == own_repaint) {
		output->repaint = repaint;
	}
	return result;
}

int gid_producer_send(struct gid_producer *producer, struct gid_frame *frame) {
	static int (*send)(struct gid_producer *producer, struct gid_frame *frame);
	if (send == NULL) { /* not of RTLD_NEXT: only gid-buffer.so has the library */
		void *library = dlopen("libgid.so.0", RTLD_LAZY | RTLD_NOLOAD);
		*(void **)&send = dlsym(library, "gid_producer_send");
	}
	return frame->gid != GID_NONE && is_asked("GIDWAY_WAITS") ? -EINPROGRESS
								  : send(producer, frame);
}
