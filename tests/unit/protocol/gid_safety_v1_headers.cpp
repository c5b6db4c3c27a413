// SPDX-License-Identifier: MIT
#include "gid-safety-v1-client-protocol.h"
#include "gid-safety-v1-protocol.h"

extern const struct gid_safety_surface_v1_listener surface_listener;
const struct gid_safety_surface_v1_listener surface_listener = {};

extern const struct gid_safety_surface_v1_interface surface_implementation;
const struct gid_safety_surface_v1_interface surface_implementation = {};
