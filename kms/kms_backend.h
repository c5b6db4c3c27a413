// SPDX-License-Identifier: MIT
/**
 * A backend of wlroots on one KMS device, for displays that decide themselves what is on which
 * plane: wlroots' own keeps planes for nobody, and knows no writeback.
 *
 * Its outputs are wlr_outputs, of which the primary plane shows the committed buffers. Beside that
 * they have layers (kms_layer.h), pictures of their own on other planes.
 */
#ifndef KMS_BACKEND_H
#define KMS_BACKEND_H

#include <wlr/backend.h>
#include <wlr/backend/session.h>

/*
 * Opens the first KMS device of the seat, or that of WLR_DRM_DEVICES. NULL, with the reason in the
 * log, where there is none that can do atomic commits. It is destroyed by wlr_backend_destroy(),
 * and destroys itself when its device or session goes.
 */
struct wlr_backend *kms_backend_create(struct wlr_session *session);

#endif
