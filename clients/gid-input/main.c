// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "common/main_loop.h"
#include "intake.h"
#include "standard_streams.h"

static struct taker *create_taker(const struct input_options *options, sd_event *event) {
#ifdef INPUT_HAS_LIBEI
	if (options->libei) {
		return libei_taker_create(&options->taker, event);
	}
#endif
	return options->uinput ? uinput_taker_create(&options->taker)
			       : wlr_taker_create(&options->taker, event);
}

int main(int argc, char **argv) {
	struct input_options options;
	struct intake intake;
	sd_event *event;
	int status = EXIT_FAILURE;
	standard_streams_init();
	input_options_parse(&options, argc, argv);
	if (sd_event_default(&event) < 0 || sd_event_set_signal_exit(event, true) < 0) {
		return EXIT_FAILURE;
	}
	struct taker *taker = create_taker(&options, event);
	if (taker != NULL) {
		if (intake_init(&intake, &options, taker, event) == 0) {
			status = main_loop_run(event);
		}
		intake_finish(&intake);
		taker->destroy(taker);
	}
	sd_event_unref(event);
	return status;
}
