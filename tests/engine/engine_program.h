// SPDX-License-Identifier: MIT
/** gid-engine for a test, in the domain `cluster` of cockpit.h: its file, its start, its canvas. */
#ifndef GID_TESTS_ENGINE_PROGRAM_H
#define GID_TESTS_ENGINE_PROGRAM_H

#include <gid/engine.h>
#include <stdarg.h>

#include "cockpit.h"
#include "tap.h"

/* The file that it reads at its start, and at SIGHUP. */
__attribute__((format(printf, 1, 2))) static inline void engine_write_config(
		const char *format, ...) {
	char path[128];
	va_list args;
	snprintf(path, sizeof(path), "%s/engine.conf", cockpit_folder);
	FILE *config = fopen(path, "we");
	va_start(args, format);
	vfprintf(config, format, args);
	va_end(args);
	fclose(config);
}

/* `log` gets what it writes. `option`: one more, or NULL. */
static inline pid_t engine_start(int log, const char *option) {
	char path[128];
	snprintf(path, sizeof(path), "%s/engine.conf", cockpit_folder);
	pid_t engine = fork();
	if (engine == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(log, STDERR_FILENO);
		execl(getenv("GID_ENGINE"), "gid-engine", "--config", path, "--domain", "cluster",
				option, NULL);
		_exit(127);
	}
	return engine;
}

/* The same, with its log in a file of the cockpit's folder. */
static inline pid_t engine_start_logging(const char *name, const char *option) {
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", cockpit_folder, name);
	int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	pid_t engine = engine_start(log, option);
	close(log);
	return engine;
}

/* Stops all of its threads, until SIGCONT. */
static inline void engine_stop(pid_t engine) {
	kill(engine, SIGSTOP);
	waitpid(engine, NULL, WUNTRACED);
}

/* Ends the test where there is none. */
static inline struct gid_canvas *engine_make_canvas(
		struct gid_domain *domain, const char *name, uint32_t width, uint32_t height) {
	struct gid_canvas *canvas = NULL;
	const struct gid_canvas_options options = {.size = sizeof(options),
			.width = width,
			.height = height,
			.connect_ms = COCKPIT_PATIENCE_MS};
	if (gid_canvas_create(domain, "cluster", name, &options, &canvas) < 0) {
		tap_ok(false, "there is a canvas %s: %s", name, gid_canvas_create_error());
		exit(tap_finish());
	}
	return canvas;
}

/* A pixel of a picture of 32 bits; 0x0bad0bad: it cannot be read. */
static inline uint32_t engine_pixel(struct gid_domain *domain, gid_id gid, uint32_t x, uint32_t y) {
	struct gid_slab *slab;
	struct gid_slab_info info;
	uint32_t pixel = 0x0bad0bad;
	if (gid_slab_import(domain, gid, &slab) == 0) {
		gid_slab_get_info(slab, &info);
		const uint8_t *view = gid_slab_view(slab, gid_slot_of(gid));
		memcpy(&pixel, view + y * info.layout.planes[0].stride + 4 * x, 4);
		gid_slab_unref(slab);
	}
	return pixel & 0xffffff;
}

#endif
