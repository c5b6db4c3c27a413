// SPDX-License-Identifier: MIT
/** Statistics as element messages from time to time, errors of others' as the element's own, and what
 * people are to know. */
#ifndef GST_GID_POSTER_H
#define GST_GID_POSTER_H

#include "gstgidproperty.h"

G_BEGIN_DECLS

/** The `stats` of an element. */
typedef GstStructure *(*GstGidStatsFunc) (gpointer element);

typedef struct
{
  guint interval_ms; /* `stats-interval`: the element's lock */
  gint64 posted; /* the streaming thread's */
} GstGidPoster;

/** The first interval begins. */
void gst_gid_poster_start (GstGidPoster *poster);

/** Posts them where it is time or `now`. */
void gst_gid_poster_post (
    GstGidPoster *poster, gpointer element, GstGidStatsFunc create, gboolean now);

/** The rows `stats` and `stats-interval`. */
#define GST_GID_STATS_ROW(what, function) \
  { "stats", "Statistics", what, .type = G_TYPE_BOXED, .flags = G_PARAM_READABLE, .get = function }
#define GST_GID_STATS_INTERVAL_ROW(Type, field) \
  { "stats-interval", "Statistics interval", \
    "Milliseconds between element messages with the statistics (0: none)", \
    GST_GID_UINT (Type, field.interval_ms, 0, G_MAXUINT, 1000), .flags = GST_GID_PLAYING }

/** Posts the error, and frees it. */
void gst_gid_post_error (gpointer element, GError *error);

/**
 * Posts an information for people. All of it stands in its debug text, too: that is what
 * gst-launch-1.0 shows of an information.
 */
void gst_gid_post_info (gpointer element, GQuark domain, gint code, const gchar *format, ...)
    G_GNUC_PRINTF (4, 5);

/**
 * The same, and a line of the log, which goes to standard error: `gst-launch-1.0 -q` hides what is on
 * the bus but errors.
 */
void gst_gid_post_notice (gpointer element, GQuark domain, gint code, const gchar *format, ...)
    G_GNUC_PRINTF (4, 5);

/**
 * Frames were lost that nobody wanted to lose: a warning, and a line of the log. Who records by
 * `gst-launch-1.0 -q` is to know.
 */
void gst_gid_post_loss (gpointer element, const gchar *detail, const gchar *format, ...)
    G_GNUC_PRINTF (3, 4);

G_END_DECLS

#endif
