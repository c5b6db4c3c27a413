// SPDX-License-Identifier: MIT
/**
 * A backend of wlroots on one KMS device, whose frames take no memory, for displays that decide
 * themselves what is on which plane: wlroots' own allocates for each commit, keeps planes for
 * nobody, and knows no writeback.
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
 * log, where there is none.
 */
struct wlr_device *kms_card_open(struct wlr_session *session);

/* Whether the device knows atomic commits. WLR_DRM_NO_ATOMIC=1 denies it of all, as in wlroots. */
bool kms_card_is_atomic(const struct wlr_device *card);

/*
 * Of a device that knows atomic commits, which is the backend's from now on, also if it fails.
 * NULL, with the reason in the log, where it cannot be used. The backend is destroyed by
 * wlr_backend_destroy(), and destroys itself when its device or session goes.
 */
struct wlr_backend *kms_backend_create(struct wlr_session *session, struct wlr_device *card);

#endif
