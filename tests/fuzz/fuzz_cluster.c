// SPDX-License-Identifier: MIT
/*
 * Any bytes as gid-cluster's configuration, and as the file of hashes that it may name: up to the
 * first byte 0xff it is the configuration `f`, behind it the hashes `h`.
 */
#include "cluster_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

static char folder[] = "/dev/shm/gid-fuzz-XXXXXX", path[sizeof(folder) + 2],
	    hashes[sizeof(folder) + 2];

static void remove_files(void) {
	remove(path);
	remove(hashes);
	remove(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
	(void)argc;
	(void)argv;
	demand(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/f", folder);
	snprintf(hashes, sizeof(hashes), "%s/h", folder);
	atexit(remove_files);
	return 0;
}

/* Each is on its output, as far as it is known how large that is, and none is on another. */
static void demand_places(const struct cluster_config *config, size_t index) {
	const struct role_config *role = &config->roles[index];
	const struct output_config *output = &config->outputs[role->output];
	const struct gid_box *box = &role->box;
	int64_t right = (int64_t)box->x + box->width, below = (int64_t)box->y + box->height;
	demand(output->width == 0 || right <= output->width);
	demand(output->height == 0 || below <= output->height);
	demand(output->refresh_mhz == 0 || role->limits.min_rate * 1000 < output->refresh_mhz);
	for (size_t i = 0; i < index; i++) {
		const struct gid_box *its = &config->roles[i].box;
		demand(config->roles[i].output != role->output || its->x >= right ||
				its->y >= below || box->x >= (int64_t)its->x + its->width ||
				box->y >= (int64_t)its->y + its->height);
	}
}

static void demand_consistent(const struct cluster_config *config) {
	for (size_t i = 0; i < config->role_count; i++) {
		const struct role_config *role = &config->roles[i];
		demand(role->name != NULL && gid_name_is_valid(role->stream));
		demand(role->domain == NULL || gid_name_is_valid(role->domain));
		demand(role->box.width > 0 && role->box.height > 0);
		demand_places(config, i);
		demand((role->fallback == FALLBACK_PICTURE) == (role->picture != NULL));
		for (size_t j = 1; j < role->accepted.pictures.count; j++) {
			demand(memcmp(&role->accepted.pictures.list[j - 1],
					       &role->accepted.pictures.list[j],
					       sizeof(struct digest)) < 0);
		}
	}
	for (size_t i = 0; i < config->layer_count; i++) {
		const struct layer_config *layer = &config->layers[i];
		demand(layer->name != NULL && gid_name_is_valid(layer->stream));
		demand(layer->box.width > 0 && layer->box.height > 0 && layer->fit < FIT_EXACT);
		demand((layer->fallback == FALLBACK_PICTURE) == (layer->picture != NULL));
		demand(i == 0 || config->layers[i - 1].order <= layer->order);
	}
}

/* Each mistake is a line that begins with the file's name and a line number. */
static void demand_errors(char *errors) {
	for (char *line = strtok(errors, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		demand(strncmp(line, path, strlen(path)) == 0);
		unsigned number;
		demand(sscanf(line + strlen(path), ":%u: ", &number) == 1);
	}
}

static void put_file(const char *name, const uint8_t *data, size_t size) {
	FILE *file = fopen(name, "w");
	demand(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	const uint8_t *mark = size == 0 ? NULL : memchr(data, 0xff, size);
	size_t first = mark == NULL ? size : (size_t)(mark - data);
	put_file(path, data, first);
	put_file(hashes, data + first + (mark != NULL), size - first - (mark != NULL));
	char *errors = NULL;
	size_t errors_size;
	FILE *out = open_memstream(&errors, &errors_size);
	demand(out != NULL);
	struct cluster_config config;
	int result = cluster_config_read(&config, path, out);
	fclose(out);
	demand(result == 0 || result == -EINVAL);
	demand((errors_size == 0) == (result == 0));
	demand_errors(errors);
	if (result == 0) {
		demand_consistent(&config);
	}
	cluster_config_finish(&config);
	free(errors);
	return 0;
}
