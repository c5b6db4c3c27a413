// SPDX-License-Identifier: MIT
/** Messages on the bus: statistics at an interval, errors, and information for users. */
#ifndef GST_GID_POSTER_H
#define GST_GID_POSTER_H

#include "gstgidproperty.h"

G_BEGIN_DECLS

/** Creates the structure of the `stats` property. */
typedef GstStructure *(*GstGidStatsFunc) (gpointer element);

typedef struct
{
  guint interval_ms; /* `stats-interval`; the object lock */
  gint64 posted; /* time of the last message; streaming thread */
} GstGidPoster;

/** Begins the first interval. */
void gst_gid_poster_start (GstGidPoster *poster);

/** Posts the statistics if the interval is over or `now` is set. */
void gst_gid_poster_post (
    GstGidPoster *poster, gpointer element, GstGidStatsFunc create, gboolean now);

/** Rows of the properties `stats` and `stats-interval`. */
#define GST_GID_STATS_ROW(what, function) \
  { "stats", "Statistics", what, .type = G_TYPE_BOXED, .flags = G_PARAM_READABLE, .get = function }
#define GST_GID_STATS_INTERVAL_ROW(Type, field) \
  { "stats-interval", "Statistics interval", \
    "Interval of element messages with the statistics, in milliseconds (0 = disabled)", \
    GST_GID_UINT (Type, field.interval_ms, 0, G_MAXUINT, 1000), .flags = GST_GID_PLAYING }

/** Posts the error, and frees it. */
void gst_gid_post_error (gpointer element, GError *error);

/**
 * Posts an information message. Its debug text has the same content, because gst-launch-1.0 shows
 * only that.
 */
void gst_gid_post_info (gpointer element, GQuark domain, gint code, const gchar *format, ...)
    G_GNUC_PRINTF (4, 5);

/**
 * The same, and also logs it to standard error: `gst-launch-1.0 -q` hides all messages but errors.
 */
void gst_gid_post_notice (gpointer element, GQuark domain, gint code, const gchar *format, ...)
    G_GNUC_PRINTF (4, 5);

/**
 * Posts a warning, and logs it to standard error: frames were lost although the user asked for all
 * of them. So it is also seen while recording with `gst-launch-1.0 -q`.
 */
void gst_gid_post_loss (gpointer element, const gchar *detail, const gchar *format, ...)
    G_GNUC_PRINTF (3, 4);

G_END_DECLS

#endif
