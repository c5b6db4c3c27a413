// SPDX-License-Identifier: MIT
#include <signal.h>
#include <stdlib.h>

#include "camera.h"
#include "standard_streams.h"

static void handle_signal(void *data, int number) {
	pw_main_loop_quit(data);
}

int main(int argc, char **argv) {
	struct pipewire_options options;
	struct camera camera;
	int status = EXIT_FAILURE;
	standard_streams_init();
	pipewire_options_parse(&options, argc, argv);
	pw_init(&argc, &argv);
	struct pw_main_loop *loop = pw_main_loop_new(NULL);
	if (loop != NULL) {
		pw_loop_add_signal(pw_main_loop_get_loop(loop), SIGINT, handle_signal, loop);
		pw_loop_add_signal(pw_main_loop_get_loop(loop), SIGTERM, handle_signal, loop);
		if (camera_init(&camera, &options, loop) == 0) {
			if (!camera.failed) {
				pw_main_loop_run(loop);
			}
			status = camera.failed ? EXIT_FAILURE : EXIT_SUCCESS;
			camera_report(&camera);
			camera_finish(&camera);
		}
		pw_main_loop_destroy(loop);
	}
	pw_deinit();
	return status;
}
