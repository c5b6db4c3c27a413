// SPDX-License-Identifier: MIT
/**
 * The buffers that consumers hold, each kept until no consumer holds its slot. One table for all
 * producers of a domain: several producers may have sent the same slot, and libgid only tells the
 * one whose consumer released it last. Call all functions with the domain's lock held.
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
 * Takes references of the buffer and of `other` (may be NULL). References of an earlier frame in
 * the same slot move to `dropped`.
 */
void gst_gid_in_flight_add (
    GstGidInFlight *self, gid_id gid, GstBuffer *buffer, GstMiniObject *other, GPtrArray *dropped);

/** No consumer holds the slot, whatever its generation: moves its references to `dropped`. */
void gst_gid_in_flight_remove (GstGidInFlight *self, gid_id gid, GPtrArray *dropped);

/** The same for all slots, when no consumer is left. */
void gst_gid_in_flight_remove_all (GstGidInFlight *self, GPtrArray *dropped);

G_END_DECLS

#endif
