// SPDX-License-Identifier: MIT
#include "virtual_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <wlr/backend/interface.h>
#include <wlr/interfaces/wlr_output.h>

#include "versions.h"

#define BUFFER_CAPS (WLR_BUFFER_CAP_DATA_PTR | WLR_BUFFER_CAP_DMABUF | WLR_BUFFER_CAP_SHM)
/* Any other state would change what is seen in ways that are not checked. */
#define SUPPORTED                                                                                  \
	(WLR_OUTPUT_STATE_BACKEND_OPTIONAL | WLR_OUTPUT_STATE_BUFFER | WLR_OUTPUT_STATE_MODE |     \
			WLR_OUTPUT_STATE_ENABLED)

struct virtual_backend {
	struct wlr_backend base;
	struct wl_event_loop *loop;
	struct wl_list outputs; /* virtual_output::link */
};

struct virtual_output {
	struct wlr_output base;
	struct wl_list link;
};

/* --- outputs ---------------------------------------------------------------------------------- */

static void output_destroy(struct wlr_output *base) {
	struct virtual_output *output = wl_container_of(base, output, base);
	wlr_output_finish(base);
	wl_list_remove(&output->link);
	free(output);
}

static bool output_takes(struct wlr_output *base, const struct wlr_output_state *state) {
	return (state->committed & ~(uint32_t)SUPPORTED) == 0;
}

static const struct wlr_output_impl output_impl = {
		.destroy = output_destroy,
		.test = output_takes,
		.commit = output_takes,
};

bool output_is_virtual(const struct wlr_output *output) {
	return output->impl == &output_impl;
}

/* --- the backend ------------------------------------------------------------------------------ */

static bool backend_start(struct wlr_backend *base) {
	struct virtual_backend *backend = wl_container_of(base, backend, base);
	struct virtual_output *output;
	wl_list_for_each(output, &backend->outputs, link) {
		wl_signal_emit_mutable(&base->events.new_output, &output->base);
	}
	return true;
}

static void backend_destroy(struct wlr_backend *base) {
	struct virtual_backend *backend = wl_container_of(base, backend, base);
	struct virtual_output *output, *next;
	wl_list_for_each_safe(output, next, &backend->outputs, link) {
		wlr_output_destroy(&output->base);
	}
	wlr_backend_finish(base);
	free(backend);
}

#if WLROOTS_VERSION < 19
static uint32_t backend_get_buffer_caps(struct wlr_backend *base) {
	return BUFFER_CAPS;
}
#endif

static const struct wlr_backend_impl backend_impl = {
		.start = backend_start,
		.destroy = backend_destroy,
#if WLROOTS_VERSION < 19
		.get_buffer_caps = backend_get_buffer_caps,
#endif
};

bool backend_is_virtual(const struct wlr_backend *backend) {
	return backend->impl == &backend_impl;
}

bool virtual_backend_add_output(
		struct wlr_backend *base, uint32_t width, uint32_t height, const char *name) {
	struct virtual_backend *backend = wl_container_of(base, backend, base);
	struct virtual_output *output = calloc(1, sizeof(*output));
	if (output == NULL) {
		return false;
	}
	char own_name[32];
	snprintf(own_name, sizeof(own_name), "HEADLESS-%d", wl_list_length(&backend->outputs) + 1);
	struct wlr_output_state state;
	wlr_output_state_init(&state);
	wlr_output_state_set_custom_mode(&state, (int32_t)width, (int32_t)height, 0);
	wlr_output_init(&output->base, base, &output_impl, backend->loop, &state);
	wlr_output_state_finish(&state);
	wlr_output_set_name(&output->base, name != NULL ? name : own_name);
	wl_list_insert(backend->outputs.prev, &output->link);
	return true;
}

struct wlr_backend *virtual_backend_create(struct wl_event_loop *loop) {
	struct virtual_backend *backend = calloc(1, sizeof(*backend));
	if (backend == NULL) {
		return NULL;
	}
	wlr_backend_init(&backend->base, &backend_impl);
#if WLROOTS_VERSION >= 19
	backend->base.buffer_caps = BUFFER_CAPS;
#endif
	backend->loop = loop;
	wl_list_init(&backend->outputs);
	return &backend->base;
}
