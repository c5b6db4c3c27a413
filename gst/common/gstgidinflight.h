// SPDX-License-Identifier: MIT
/**
 * The buffers that consumers hold, each kept until its slot has no holder any more. One table for
 * all producers of a domain, as several may have sent the same slot, and libgid tells only that one
 * whose consumer was the last. All functions are called with the domain's lock held.
 */
#ifndef GST_GID_IN_FLIGHT_H
#define GST_GID_IN_FLIGHT_H

#include <gid/gid.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  GArray *entries;
} GstGidInFlight;

void gst_gid_in_flight_init (GstGidInFlight *self);
void gst_gid_in_flight_finish (GstGidInFlight *self);

/**
 * Takes references of the buffer and of what else has to live as long (may be NULL). Those of a frame
 * that was sent in the slot before, and is there yet, are moved to `dropped`.
 */
void gst_gid_in_flight_add (
    GstGidInFlight *self, gid_id gid, GstBuffer *buffer, GstMiniObject *other, GPtrArray *dropped);

/** The slot has no holder, whatever its generation: moves its references to `dropped`. */
void gst_gid_in_flight_remove (GstGidInFlight *self, gid_id gid, GPtrArray *dropped);

/** The same for all slots: nobody is left who could hold one. */
void gst_gid_in_flight_remove_all (GstGidInFlight *self, GPtrArray *dropped);

G_END_DECLS

#endif
