// SPDX-License-Identifier: MIT
/** What the display shows on, and what it draws with. */
#ifndef CLUSTER_DEVICE_H
#define CLUSTER_DEVICE_H

#include "display.h"

/*
 * Gives the display its backend, with a session where that takes one, renderer and allocator.
 * `headless`: without a screen. Returns false, with the reason in the log, where there is none.
 * What it has by then is display_finish()'s to destroy.
 */
bool device_open(struct display *display, bool headless);

#endif
