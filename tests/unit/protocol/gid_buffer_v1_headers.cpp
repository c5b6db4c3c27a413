// SPDX-License-Identifier: MIT
#include "gid-buffer-v1-client-protocol.h"
#include "gid-buffer-v1-protocol.h"

extern const struct gid_buffer_params_v1_listener params_listener;
const struct gid_buffer_params_v1_listener params_listener = {};

extern const struct gid_buffer_params_v1_interface params_implementation;
const struct gid_buffer_params_v1_interface params_implementation = {};
