// SPDX-License-Identifier: MIT
/* Any text as the configuration of gid-engine. */
#include "engine_config.h"

#include <errno.h>
#include <gid/gid.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct engine_config config;
	char *text = NULL;
	size_t length = 0;
	if (size == 0) {
		return 0;
	}
	FILE *file = fmemopen((void *)data, size, "r");
	FILE *errors = open_memstream(&text, &length);
	int ret = engine_config_read_file(&config, file, "fuzz", errors);
	fclose(file);
	fclose(errors);
	demand(ret == 0 || (ret == -EINVAL && length > 0));
	for (size_t i = 0; ret == 0 && i < config.canvas_count; i++) {
		const struct canvas_config *canvas = &config.canvases[i];
		demand(gid_name_is_valid(canvas->name) && gid_name_is_valid(canvas->domain));
		demand(canvas->slots >= 3 && canvas->list_ns > 0 && canvas->memory >= 4096);
	}
	engine_config_finish(&config);
	free(text);
	return 0;
}
