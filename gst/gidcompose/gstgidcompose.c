// SPDX-License-Identifier: MIT
/**
 * SECTION:element-gidcompose
 * @title: gidcompose
 * @short_description: Composes videos with the 2D engine of another domain
 *
 * gidcompose composes several videos into one, like the compositor element, and has the same
 * properties for that. The work is done by gid-engine, in the domain that owns the engine. Buffers
 * from gidsrc, and buffers in memory that gidcompose proposes to upstream, are not copied: the
 * engine reads them in place. The composed pictures are frames of the engine's stream
 * `canvas/NAME`, and are not copied either.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 gidcompose name=c engine=cluster canvas=panel sink_1::xpos=640 ! gidsink stream=all \
 *   gidsrc stream=map ! c. gidsrc stream=movie ! c.
 * ]|
 */
#include "gstgidcompose.h"

#include <errno.h>

#include "common/gstgid.h"
#include "common/gstgidcrop.h"
#include "common/gstgidpicture.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* How often the engine may refuse the same picture before an error is posted. */
#define REFUSED_MAX 3

/* How long connecting to the engine may take if `reconnect` is FALSE. */
#define CONNECT_TIME (5 * G_TIME_SPAN_SECOND)

/*
 * What the engine can read, and what it can draw. It draws premultiplied alpha, but GStreamer's
 * alpha is straight: so the source pad has no formats with alpha.
 */
#define SINK_FORMATS \
  "{ BGRx, BGRA, RGBx, RGBA, xRGB, ARGB, xBGR, ABGR, RGB16, BGR, RGB, NV12, NV21, NV16, NV61, " \
  "NV24, I420, YV12, Y42B, Y444, YUY2, YVYU, UYVY, VYUY }"
#define SRC_FORMATS "{ BGRx, RGBx, xRGB, xBGR, RGB16 }"

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (SINK_FORMATS)));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (SRC_FORMATS)));

static void child_proxy_init (gpointer iface, gpointer data);

G_DEFINE_FINAL_TYPE_WITH_CODE (GstGidCompose, gst_gid_compose, GST_TYPE_VIDEO_AGGREGATOR,
    G_IMPLEMENT_INTERFACE (GST_TYPE_CHILD_PROXY, child_proxy_init));

/* --- start and stop --------------------------------------------------------------------------- */

static gboolean
gst_gid_compose_start (GstAggregator *agg)
{
  GstGidCompose *self = GST_GID_COMPOSE (agg);
  gchar *domain, *engine, *name;
  GError *error = NULL;

  GST_OBJECT_LOCK (self);
  domain = g_strdup (self->domain_name);
  engine = g_strdup (self->engine);
  name = g_strdup (self->canvas_name);
  gst_gid_copies_start (&self->copies);
  memset (&self->counts, 0, sizeof (self->counts));
  GST_OBJECT_UNLOCK (self);

  self->live = self->was_live = FALSE;
  self->waiting_since = g_get_monotonic_time ();
  gst_gid_poster_start (&self->poster);
  self->refused_in_row = 0;
  self->lost_layer = self->late_layer = FALSE;
  self->format = (GstGidFormat) { 0 };
  if (engine == NULL || name == NULL) {
    g_set_error (&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "No canvas to compose on. Set engine=DOMAIN, the domain that gid-engine runs in, and "
        "canvas=NAME, one of its configuration.");
  } else if ((self->domain = gst_gid_domain_get_shared (domain, &error))) {
    self->canvas = gst_gid_canvas_new (GST_ELEMENT_CAST (self), domain, engine, name, &error);
    if (self->canvas == NULL)
      g_clear_pointer (&self->domain, gst_gid_domain_unref);
  }
  g_free (domain);
  g_free (engine);
  g_free (name);
  if (error) {
    gst_gid_post_error (self, error);
    return FALSE;
  }
  return GST_AGGREGATOR_CLASS (gst_gid_compose_parent_class)->start (agg);
}

static gboolean
clear_pad (GstElement *element, GstPad *pad, gpointer data)
{
  gst_gid_compose_pad_clear_copies (GST_GID_COMPOSE_PAD (pad));
  return TRUE;
}

static gboolean
gst_gid_compose_stop (GstAggregator *agg)
{
  GstGidCompose *self = GST_GID_COMPOSE (agg);
  gboolean stopped;

  gst_gid_poster_post (&self->poster, self, gst_gid_compose_create_stats, TRUE);
  stopped = GST_AGGREGATOR_CLASS (gst_gid_compose_parent_class)->stop (agg);
  gst_element_foreach_sink_pad (GST_ELEMENT_CAST (self), clear_pad, NULL);
  g_clear_pointer (&self->canvas, gst_gid_canvas_free);
  g_clear_pointer (&self->domain, gst_gid_domain_unref);
  return stopped;
}

/* --- caps ------------------------------------------------------------------------------------- */

/* Layers may have any size, framerate and format, independent of the canvas. */
static gboolean
gst_gid_compose_sink_query (GstAggregator *agg, GstAggregatorPad *pad, GstQuery *query)
{
  GstCaps *caps, *given, *result;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &given);
      caps = gst_pad_get_pad_template_caps (GST_PAD_CAST (pad));
      result = given ? gst_caps_intersect_full (given, caps, GST_CAPS_INTERSECT_FIRST)
                     : gst_caps_ref (caps);
      gst_query_set_caps_result (query, result);
      gst_caps_unref (result);
      gst_caps_unref (caps);
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      gst_query_parse_accept_caps (query, &given);
      caps = gst_pad_get_pad_template_caps (GST_PAD_CAST (pad));
      gst_query_set_accept_caps_result (query, gst_caps_is_subset (given, caps));
      gst_caps_unref (caps);
      return TRUE;
    default:
      return GST_AGGREGATOR_CLASS (gst_gid_compose_parent_class)->sink_query (agg, pad, query);
  }
}

/* The first format that downstream accepts: the engine converts the layers' formats. */
static void
gst_gid_compose_find_best_format (
    GstVideoAggregator *vagg, GstCaps *downstream, GstVideoInfo *best, gboolean *alpha)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGBx,
    GST_VIDEO_FORMAT_xRGB, GST_VIDEO_FORMAT_xBGR, GST_VIDEO_FORMAT_RGB16 };

  *alpha = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstCaps *caps = gst_caps_new_simple (
        "video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string (formats[i]), NULL);
    gboolean possible = gst_caps_can_intersect (downstream, caps);

    gst_caps_unref (caps);
    if (possible) {
      gst_video_info_set_format (best, formats[i], 1, 1);
      return;
    }
  }
}

/* The canvas has the size of all layers together, and the highest framerate. */
static GstCaps *
gst_gid_compose_fixate_src_caps (GstAggregator *agg, GstCaps *caps)
{
  GstStructure *structure;
  gint width = 1, height = 1, fps_n = 25, fps_d = 1, par_n = 1, par_d = 1;
  gdouble fps = 0;

  caps = gst_caps_make_writable (caps);
  structure = gst_caps_get_structure (caps, 0);
  if (gst_structure_has_field (structure, "pixel-aspect-ratio")) {
    gst_structure_fixate_field_nearest_fraction (structure, "pixel-aspect-ratio", 1, 1);
    gst_structure_get_fraction (structure, "pixel-aspect-ratio", &par_n, &par_d);
  }

  GST_OBJECT_LOCK (agg);
  for (GList *l = GST_ELEMENT_CAST (agg)->sinkpads; l; l = l->next) {
    const GstVideoInfo *info = &GST_VIDEO_AGGREGATOR_PAD (l->data)->info;
    GstVideoRectangle box;
    gdouble rate;

    if (gst_aggregator_pad_is_inactive (l->data) || info->finfo == NULL
        || GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_UNKNOWN)
      continue;
    gst_gid_compose_pad_get_box (l->data, info, par_n, par_d, &box);
    width = MAX (width, box.w + MAX (box.x, 0));
    height = MAX (height, box.h + MAX (box.y, 0));
    if (GST_VIDEO_INFO_FPS_N (info) == 0 || GST_VIDEO_INFO_FPS_D (info) == 0)
      continue;
    gst_util_fraction_to_double (GST_VIDEO_INFO_FPS_N (info), GST_VIDEO_INFO_FPS_D (info), &rate);
    if (rate > fps) {
      fps = rate;
      fps_n = GST_VIDEO_INFO_FPS_N (info);
      fps_d = GST_VIDEO_INFO_FPS_D (info);
    }
  }
  GST_OBJECT_UNLOCK (agg);

  gst_structure_fixate_field_nearest_int (structure, "width", width);
  gst_structure_fixate_field_nearest_int (structure, "height", height);
  gst_structure_fixate_field_nearest_fraction (structure, "framerate", fps_n, fps_d);
  return gst_caps_fixate (caps);
}

static gboolean
gst_gid_compose_negotiated_src_caps (GstAggregator *agg, GstCaps *caps)
{
  GstGidCompose *self = GST_GID_COMPOSE (agg);
  GstGidFormat format;

  if (!gst_gid_format_from_caps (&format, caps))
    return FALSE;
  self->resized |= format.fourcc != self->format.fourcc
      || gst_gid_format_width (&format) != gst_gid_format_width (&self->format)
      || gst_gid_format_height (&format) != gst_gid_format_height (&self->format);
  self->format = format;
  return GST_AGGREGATOR_CLASS (gst_gid_compose_parent_class)->negotiated_src_caps (agg, caps);
}

/* --- memory ----------------------------------------------------------------------------------- */

static gboolean
gst_gid_compose_propose_allocation (
    GstAggregator *agg, GstAggregatorPad *aggpad, GstQuery *decide, GstQuery *query)
{
  GstGidCompose *self = GST_GID_COMPOSE (agg);
  GstGidComposePad *pad = GST_GID_COMPOSE_PAD (aggpad);
  GstGidFormat format;
  GstCaps *caps;
  guint slots;

  gst_query_parse_allocation (query, &caps, NULL);
  if (caps == NULL || !gst_gid_format_from_caps (&format, caps) || format.dmabuf
      || self->domain == NULL)
    return FALSE;
  GST_OBJECT_LOCK (self);
  slots = self->slots;
  GST_OBJECT_UNLOCK (self);
  if (pad->offered_caps == NULL || !gst_caps_is_equal (pad->offered_caps, caps)
      || pad->offered->domain != self->domain) {
    gst_clear_object (&pad->offered);
    gst_caps_replace (&pad->offered_caps, caps);
    pad->offered =
        gst_gid_allocator_new (self->domain, NULL, caps, slots, FALSE, GST_ELEMENT_CAST (self));
  }
  gst_gid_pool_propose (pad->offered, caps, query);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_gid_crop_offer (GST_PAD_CAST (pad), query);
  return TRUE;
}

static gboolean
gst_gid_compose_decide_allocation (GstAggregator *agg, GstQuery *query)
{
  GstGidCompose *self = GST_GID_COMPOSE (agg);

  self->kind = gst_gid_view_decide (query);
  self->has_video_meta = gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* --- the engine ------------------------------------------------------------------------------- */

static GstFlowReturn
no_engine (GstGidCompose *self)
{
  const GstGidCanvas *canvas = self->canvas;

  if (self->was_live)
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("The engine of domain \"%s\" ended.", canvas->engine),
        ("reconnect=true waits for it to come back"));
  else
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("No gid-engine in domain \"%s\" serves a canvas \"%s\" to us: does it run, does its file "
         "have [canvas %s] with domain=%s, and does gidway.conf share engine/%s and canvas/%s?",
            canvas->engine, canvas->name, canvas->name, canvas->domain_name, canvas->name,
            canvas->name),
        ("reconnect=true waits for it to appear"));
  return GST_FLOW_ERROR;
}

/*
 * What to do while there is no engine. Live sources do not wait: the picture is skipped. For
 * others, aggregate() is called again after a moment, so that pads can be added and removed
 * meanwhile.
 */
static GstFlowReturn
wait_for_engine (GstGidCompose *self)
{
  gint64 now = g_get_monotonic_time ();
  gboolean reconnect;

  if (self->live) {
    self->waiting_since = now;
    self->live = FALSE;
    gst_gid_compose_post_state (self, FALSE);
  }
  GST_OBJECT_LOCK (self);
  reconnect = self->reconnect;
  GST_OBJECT_UNLOCK (self);
  if (!reconnect && (self->was_live || now - self->waiting_since > CONNECT_TIME))
    return no_engine (self);
  if (self->waiting_since != 0 && !self->was_live && now - self->waiting_since > CONNECT_TIME) {
    self->waiting_since = 0;
    gst_gid_compose_post_state (self, FALSE);
  }
  if (GST_PAD_IS_FLUSHING (GST_AGGREGATOR_SRC_PAD (self)))
    return GST_FLOW_FLUSHING;
  gst_gid_canvas_wait_a_moment (self->canvas);
  if (!GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (GST_AGGREGATOR_CAST (self))))
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  GST_OBJECT_LOCK (self);
  self->counts.skipped++;
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

/* Returns an empty buffer, or none while the engine is away. */
static GstFlowReturn
gst_gid_compose_create_output_buffer (GstVideoAggregator *vagg, GstBuffer **buffer)
{
  GstGidCompose *self = GST_GID_COMPOSE (vagg);

  *buffer = NULL;
  if (!gst_gid_canvas_is_ready (self->canvas))
    return wait_for_engine (self);
  if (!self->live) {
    self->live = self->was_live = TRUE;
    gst_gid_compose_post_state (self, TRUE);
  }
  *buffer = gst_buffer_new ();
  return GST_FLOW_OK;
}

/*
 * Handles a list that the engine refused or lost. If a layer was reclaimed meanwhile, it is left
 * out when the picture is composed again. Grants may be lost because gidd was restarted.
 */
static GstFlowReturn
list_failed (GstGidCompose *self, int error)
{
  GstGidCanvas *canvas = self->canvas;

  if (error == -EINTR)
    return GST_FLOW_FLUSHING;
  if (error == -EPIPE || error == -ENOTCONN)
    return GST_AGGREGATOR_FLOW_NEED_DATA; /* which waits for the engine */
  GST_OBJECT_LOCK (self);
  self->counts.refused++;
  GST_OBJECT_UNLOCK (self);
  g_hash_table_remove_all (canvas->granted);
  self->resized = TRUE; /* the engine may not even have the canvas */
  if (++self->refused_in_row < REFUSED_MAX) {
    GST_WARNING_OBJECT (self, "%s", gid_canvas_error (canvas->canvas));
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  gst_element_message_full (GST_ELEMENT_CAST (self), GST_MESSAGE_ERROR, GST_RESOURCE_ERROR,
      gst_gid_domain_error_code (error),
      g_strdup_printf ("Cannot compose on the canvas \"%s\" of domain \"%s\": %s", canvas->name,
          canvas->engine, gid_canvas_error (canvas->canvas)),
      NULL, __FILE__, GST_FUNCTION, __LINE__);
  return GST_FLOW_ERROR;
}

/* --- pictures --------------------------------------------------------------------------------- */

/* Each reason is reported once. */
static void
tell_left_out (GstGidCompose *self, GstFlowReturn why)
{
  if (why == GST_GID_FLOW_NO_LAYER && !self->lost_layer)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("A layer is left out: its producer took the picture back before it was shown."),
        ("the producer's lease= says how long it may be held"));
  if (why == GST_GID_FLOW_LATE_LAYER && !self->late_layer)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("A layer is left out: its picture came behind the caps of the next ones, as where "
         "input-selector changes to a stream of another format."),
        (NULL));
  self->lost_layer |= why == GST_GID_FLOW_NO_LAYER;
  self->late_layer |= why == GST_GID_FLOW_LATE_LAYER;
}

/* From the top: a layer that is left out hides nothing, and a hidden layer needs no gid. */
static GstFlowReturn
name_layers (GstGidCompose *self, GArray *layers)
{
  for (guint i = layers->len; i > 0; i--) {
    GstGidLayer *layer = &g_array_index (layers, GstGidLayer, i - 1);
    GstFlowReturn ret = gst_gid_compose_name_layer (self, layer);

    if (ret == GST_FLOW_OK) {
      i = gst_gid_compose_drop_hidden (self, layers, i - 1) + 1;
    } else if (ret == GST_GID_FLOW_NO_LAYER || ret == GST_GID_FLOW_LATE_LAYER) {
      tell_left_out (self, ret);
      g_array_remove_index (layers, i - 1);
    } else {
      return ret;
    }
  }
  return GST_FLOW_OK;
}

static gboolean
covers_canvas (const GstGidLayer *layer, const GstVideoInfo *canvas)
{
  return layer->opaque && layer->box.x <= 0 && layer->box.y <= 0
      && layer->box.x + layer->box.w >= GST_VIDEO_INFO_WIDTH (canvas)
      && layer->box.y + layer->box.h >= GST_VIDEO_INFO_HEIGHT (canvas);
}

static int
draw_background (GstGidCompose *self)
{
  guint width = gst_gid_format_width (&self->format);
  guint height = gst_gid_format_height (&self->format);
  const struct gid_rectangle all = { 0, 0, width, height };
  GstGidBackground background;

  GST_OBJECT_LOCK (self);
  background = self->background;
  GST_OBJECT_UNLOCK (self);
  if (background == GST_GID_BACKGROUND_CHECKER)
    return gst_gid_canvas_draw_checker (self->canvas, width, height);
  return gid_list_fill (self->canvas->canvas, GID_OPERATOR_SRC,
      background == GST_GID_BACKGROUND_WHITE ? 0xffffffff : 0xff000000, &all, 1);
}

/* Submits the list of one picture. */
static int
submit (GstGidCompose *self, GArray *layers, guint64 pts, guint64 *fence)
{
  struct gid_canvas *canvas = self->canvas->canvas;
  const GstGidLayer *first = (const GstGidLayer *) (void *) layers->data;
  int ret;

  if (self->resized) {
    ret = gid_canvas_resize (canvas, self->format.fourcc, gst_gid_format_width (&self->format),
        gst_gid_format_height (&self->format));
    if (ret < 0)
      return ret;
    self->resized = FALSE;
  }
  ret = gid_list_begin (canvas);
  if (ret < 0)
    return ret;
  if (layers->len == 0 || !covers_canvas (first, &self->format.info))
    draw_background (self);
  for (guint i = 0; i < layers->len; i++)
    gid_list_layer (canvas, &g_array_index (layers, GstGidLayer, i).layer);
  gid_list_present (canvas, true, pts);
  return gid_list_submit (canvas, fence);
}

/* If downstream does not support GstVideoMeta, or holds too many slots of the canvas. */
static GstFlowReturn
fill_with_copy (GstGidCompose *self, GstBuffer *buffer, GstBuffer *picture, GstGidCopyReason reason)
{
  gsize size = GST_VIDEO_INFO_SIZE (&self->format.info);
  GstBuffer *copy;

  if (!gst_gid_compose_count_copy (self, reason, size))
    return GST_FLOW_ERROR;
  copy = gst_buffer_new_allocate (NULL, size, NULL);
  if (copy == NULL || !gst_gid_picture_copy (copy, picture, &self->format)) {
    gst_clear_buffer (&copy);
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("A picture could not be copied."), (NULL));
    return GST_FLOW_ERROR;
  }
  gst_buffer_append_memory (buffer, gst_buffer_get_memory (copy, 0));
  gst_buffer_unref (copy);
  return GST_FLOW_OK;
}

static GstFlowReturn
fill_buffer (GstGidCompose *self, GstBuffer *buffer, GstBuffer *picture, const GstGidImport *import)
{
  if (!import->is_plain && !self->has_video_meta)
    return fill_with_copy (self, buffer, picture, GST_GID_COPY_PLAIN_LAYOUT);
  if (gst_gid_canvas_is_short (self->canvas))
    return fill_with_copy (self, buffer, picture, GST_GID_COPY_CANVAS_SLOTS);
  gst_buffer_copy_into (buffer, picture, GST_BUFFER_COPY_META | GST_BUFFER_COPY_MEMORY, 0, -1);
  return GST_FLOW_OK;
}

static GstFlowReturn
compose (GstGidCompose *self, GArray *layers, GstBuffer *buffer)
{
  GstPad *pad = GST_AGGREGATOR_SRC_PAD (self);
  guint64 fence, pts = GST_BUFFER_PTS (buffer);
  GstBuffer *picture;
  GstGidImport *import;
  GstFlowReturn flow;
  int ret;

  flow = name_layers (self, layers);
  if (flow != GST_FLOW_OK)
    return flow;
  ret = submit (self, layers, pts, &fence);
  if (ret == 0)
    ret = gst_gid_canvas_wait (self->canvas, fence, pad);
  if (ret == 0)
    ret = gst_gid_canvas_take (self->canvas, pts, self->kind, pad, &picture, &import);
  if (ret < 0)
    return list_failed (self, ret);
  flow = fill_buffer (self, buffer, picture, import);
  gst_buffer_unref (picture);
  return flow;
}

static GstFlowReturn
gst_gid_compose_aggregate_frames (GstVideoAggregator *vagg, GstBuffer *buffer)
{
  GstGidCompose *self = GST_GID_COMPOSE (vagg);
  GArray *layers = gst_gid_compose_collect_layers (self);
  GstFlowReturn ret = compose (self, layers, buffer);

  if (ret == GST_FLOW_OK) {
    self->refused_in_row = 0;
    GST_OBJECT_LOCK (self);
    self->counts.frames++;
    self->counts.layers += layers->len;
    GST_OBJECT_UNLOCK (self);
  }
  g_array_unref (layers);
  gst_gid_poster_post (&self->poster, self, gst_gid_compose_create_stats, FALSE);
  return ret;
}

/* Posts the final statistics before EOS, after which the application may stop the pipeline. */
static GstFlowReturn
gst_gid_compose_aggregate (GstAggregator *agg, gboolean timeout)
{
  GstGidCompose *self = GST_GID_COMPOSE (agg);
  GstFlowReturn ret = GST_AGGREGATOR_CLASS (gst_gid_compose_parent_class)->aggregate (agg, timeout);

  if (ret == GST_FLOW_EOS)
    gst_gid_poster_post (&self->poster, self, gst_gid_compose_create_stats, TRUE);
  return ret;
}

/* --- pads ------------------------------------------------------------------------------------- */

static GstPad *
gst_gid_compose_request_new_pad (
    GstElement *element, GstPadTemplate *templ, const gchar *name, const GstCaps *caps)
{
  GstPad *pad = GST_ELEMENT_CLASS (gst_gid_compose_parent_class)
                    ->request_new_pad (element, templ, name, caps);

  if (pad)
    gst_child_proxy_child_added (GST_CHILD_PROXY (element), G_OBJECT (pad), GST_OBJECT_NAME (pad));
  return pad;
}

static void
gst_gid_compose_release_pad (GstElement *element, GstPad *pad)
{
  gst_child_proxy_child_removed (GST_CHILD_PROXY (element), G_OBJECT (pad), GST_OBJECT_NAME (pad));
  GST_ELEMENT_CLASS (gst_gid_compose_parent_class)->release_pad (element, pad);
}

static GObject *
get_child (GstChildProxy *proxy, guint index)
{
  GObject *pad;

  GST_OBJECT_LOCK (proxy);
  pad = g_list_nth_data (GST_ELEMENT_CAST (proxy)->sinkpads, index);
  if (pad)
    g_object_ref (pad);
  GST_OBJECT_UNLOCK (proxy);
  return pad;
}

static guint
count_children (GstChildProxy *proxy)
{
  guint count;

  GST_OBJECT_LOCK (proxy);
  count = GST_ELEMENT_CAST (proxy)->numsinkpads;
  GST_OBJECT_UNLOCK (proxy);
  return count;
}

static void
child_proxy_init (gpointer iface, gpointer data)
{
  GstChildProxyInterface *proxy = iface;

  proxy->get_child_by_index = get_child;
  proxy->get_children_count = count_children;
}

/* --- the object ------------------------------------------------------------------------------- */

static void
gst_gid_compose_finalize (GObject *object)
{
  gst_gid_compose_finish_properties (GST_GID_COMPOSE (object));
  G_OBJECT_CLASS (gst_gid_compose_parent_class)->finalize (object);
}

static void
gst_gid_compose_class_init (GstGidComposeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *agg_class = GST_AGGREGATOR_CLASS (klass);
  GstVideoAggregatorClass *vagg_class = GST_VIDEO_AGGREGATOR_CLASS (klass);

  object_class->finalize = gst_gid_compose_finalize;
  gst_gid_compose_install_properties (object_class);

  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &sink_template, GST_TYPE_GID_COMPOSE_PAD);
  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &src_template, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_set_static_metadata (element_class, "gidway compositor",
      "Filter/Editor/Video/Compositor",
      "Composes videos with the 2D engine of another domain, without a copy", "The gidway authors");
  gst_type_mark_as_plugin_api (GST_TYPE_GID_BACKGROUND, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_GID_COMPOSE_PAD, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_GID_OPERATOR, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_GID_SIZING, 0);

  element_class->request_new_pad = gst_gid_compose_request_new_pad;
  element_class->release_pad = gst_gid_compose_release_pad;
  agg_class->start = gst_gid_compose_start;
  agg_class->stop = gst_gid_compose_stop;
  agg_class->aggregate = gst_gid_compose_aggregate;
  agg_class->sink_query = gst_gid_compose_sink_query;
  agg_class->fixate_src_caps = gst_gid_compose_fixate_src_caps;
  agg_class->negotiated_src_caps = gst_gid_compose_negotiated_src_caps;
  agg_class->propose_allocation = gst_gid_compose_propose_allocation;
  agg_class->decide_allocation = gst_gid_compose_decide_allocation;
  vagg_class->find_best_format = gst_gid_compose_find_best_format;
  vagg_class->create_output_buffer = gst_gid_compose_create_output_buffer;
  vagg_class->aggregate_frames = gst_gid_compose_aggregate_frames;
}

static void
gst_gid_compose_init (GstGidCompose *self)
{
  gst_gid_compose_init_properties (self);
}
