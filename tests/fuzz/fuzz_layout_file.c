// SPDX-License-Identifier: MIT
/* Any text as the file that gid-compose follows. */
#include "layout_file.h"

#include <errno.h>
#include <stdlib.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct layout_file layout;
	char *text = NULL;
	size_t length = 0;
	if (size == 0) {
		return 0;
	}
	FILE *file = fmemopen((void *)data, size, "r");
	FILE *errors = open_memstream(&text, &length);
	int ret = layout_file_read_stream(&layout, file, "fuzz", errors);
	fclose(file);
	fclose(errors);
	demand(ret == 0 || (ret == -EINVAL && length > 0));
	for (size_t i = 0; ret == 0 && i < layout.layer_count; i++) {
		const struct layer_config *layer = &layout.layers[i];
		demand(gid_name_is_valid(layer->stream) && layer->turn <= 7);
		demand((layer->width == 0) == (layer->height == 0));
		demand(layer->source.x >= 0 && layer->source.width >= 0);
		demand(i == 0 || layout.layers[i - 1].z <= layer->z);
	}
	demand(ret != 0 || (layout.width > 0 && layout.height > 0 && layout.rate > 0));
	layout_file_finish(&layout);
	free(text);
	return 0;
}
