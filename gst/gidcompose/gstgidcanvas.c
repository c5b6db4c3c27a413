// SPDX-License-Identifier: MIT
#include "gstgidcanvas.h"

#include <errno.h>
#include <poll.h>

#include "common/gstgid.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* Interval at which waits check whether the pad is flushing, which nothing signals. */
#define WAIT_STEP_MS 20

/* Lists in flight: one, and one more after an interrupted wait. */
#define LISTS 4

/* Initial size of the canvas, before the first list. */
#define FIRST_SIZE 16

/* Slabs that are known to be granted. If there are more, granting one again does no harm. */
#define GRANTED_MAX 1024

/* The mask of the checker pattern, and its squares. */
#define CHECKER_SIZE 256
#define CHECKER_SQUARE 8
#define CHECKER_DARK 0xff505050
#define CHECKER_LIGHT 0xffa0a0a0

/* --- creation --------------------------------------------------------------------------------- */

/* Called with the reader's lock held. */
static void
state_changed (void *data, enum gid_consumer_state state, int reason)
{
  GstGidReader *reader = data;
  GstGidCanvas *self = reader->owner;

  if (state != GID_CONSUMER_LIVE)
    reader->epoch++;
  if (self)
    self->state = state;
}

static gboolean
subscribe (GstGidCanvas *self, GstElement *element, GError **error)
{
  const struct gid_consumer_options options = {
    .size = sizeof (options),
    .credit = GID_CREDIT_MAX,
    .drop_old = true,
    .reconnect = true,
    .state = state_changed,
    .data = self->reader,
  };
  gchar *stream = g_strdup_printf ("canvas/%s", self->name);
  GstGidDomain *domain = self->reader->domain;
  struct gid_consumer *consumer;
  int ret;

  gst_gid_domain_lock (domain);
  self->reader->owner = self;
  ret =
      gid_consumer_create (gst_gid_domain_get (domain), self->engine, stream, &options, &consumer);
  if (ret == 0) {
    gst_gid_reader_start (self->reader, consumer, stream, element, NULL);
    self->state = gid_consumer_get_state (consumer);
  } else {
    gst_gid_domain_set_error (domain, error, ret,
        "Cannot read the pictures of the engine, stream \"%s\" of domain \"%s\"", stream,
        self->engine);
  }
  gst_gid_domain_unlock (domain);
  g_free (stream);
  return ret == 0;
}

static gboolean
make_canvas (GstGidCanvas *self, GError **error)
{
  const struct gid_canvas_options options = {
    .size = sizeof (options),
    .width = FIRST_SIZE,
    .height = FIRST_SIZE,
    .lists = LISTS,
    .connect_ms = -1,
  };
  int ret;

  ret = gid_canvas_create (self->domain, self->engine, self->name, &options, &self->canvas);
  if (ret < 0)
    g_set_error (error, GST_RESOURCE_ERROR, gst_gid_domain_error_code (ret),
        "Cannot ask domain \"%s\" for the canvas \"%s\": %s", self->engine, self->name,
        *gid_canvas_create_error () ? gid_canvas_create_error () : gid_strerror (ret));
  return ret == 0;
}

GstGidCanvas *
gst_gid_canvas_new (GstElement *element, const gchar *domain, const gchar *engine,
    const gchar *name, GError **error)
{
  GstGidCanvas *self = g_new0 (GstGidCanvas, 1);
  GstGidDomain *pictures = gst_gid_domain_new (domain, error);
  int ret;

  self->engine = g_strdup (engine);
  self->name = g_strdup (name);
  self->granted = g_hash_table_new (NULL, NULL);
  self->imports = gst_gid_imports_new ();
  if (pictures == NULL)
    goto error;
  self->reader = gst_gid_reader_new (pictures, FALSE);
  ret = gid_domain_connect (domain, &self->domain);
  if (ret < 0) {
    g_set_error (error, GST_RESOURCE_ERROR, gst_gid_domain_error_code (ret),
        "No connection to gidd: %s", gid_domain_connect_error ());
    goto error;
  }
  self->number = gid_domain_number (self->domain);
  self->domain_name = g_strdup (gid_domain_name (self->domain));
  if (make_canvas (self, error) && subscribe (self, element, error))
    return self;

error:
  gst_gid_canvas_free (self);
  return NULL;
}

void
gst_gid_canvas_free (GstGidCanvas *self)
{
  gst_gid_imports_retire (self->imports, TRUE);
  g_hash_table_unref (self->imports);
  g_hash_table_unref (self->granted);
  if (self->reader) {
    gst_gid_domain_lock (self->reader->domain);
    gst_gid_reader_leave (self->reader);
    gst_gid_domain_unlock (self->reader->domain);
    gst_gid_reader_unref (self->reader);
  }
  gid_canvas_destroy (self->canvas);
  gid_slab_destroy (self->checker, false);
  gid_domain_destroy (self->domain);
  g_free (self->engine);
  g_free (self->name);
  g_free (self->domain_name);
  g_free (self);
}

gboolean
gst_gid_canvas_is_ready (GstGidCanvas *self)
{
  gboolean live;

  if (!gid_canvas_is_connected (self->canvas)) {
    gid_domain_dispatch (self->domain);
    gid_canvas_dispatch (self->canvas);
  }
  gst_gid_domain_lock (self->reader->domain);
  live = self->state == GID_CONSUMER_LIVE;
  gst_gid_domain_unlock (self->reader->domain);
  return live && gid_canvas_is_connected (self->canvas);
}

void
gst_gid_canvas_wait_a_moment (GstGidCanvas *self)
{
  struct pollfd fds[] = {
    { .fd = gid_domain_get_fd (self->domain), .events = POLLIN },
    { .fd = gid_canvas_get_fd (self->canvas), .events = POLLIN },
  };

  poll (fds, G_N_ELEMENTS (fds), WAIT_STEP_MS);
}

/* --- lists ------------------------------------------------------------------------------------ */

gboolean
gst_gid_canvas_grant (
    GstGidCanvas *self, GstGidDomain *domain, struct gid_slab *slab, gid_id gid, GError **error)
{
  gpointer key = GUINT_TO_POINTER (gid_slab_key (gid));
  int ret;

  if (g_hash_table_contains (self->granted, key))
    return TRUE;
  gst_gid_domain_lock (domain);
  ret = gid_slab_grant (slab, gid_canvas_engine (self->canvas));
  if (ret < 0)
    gst_gid_domain_set_error (
        domain, error, ret, "Cannot let the engine of domain \"%s\" read a layer", self->engine);
  gst_gid_domain_unlock (domain);
  if (ret < 0)
    return FALSE;
  if (g_hash_table_size (self->granted) >= GRANTED_MAX)
    g_hash_table_remove_all (self->granted);
  g_hash_table_add (self->granted, key);
  return TRUE;
}

static int
make_checker (GstGidCanvas *self)
{
  struct gid_layout layout;
  guint8 *mask;
  int ret;

  gid_layout_init (
      &layout, GST_MAKE_FOURCC ('R', '8', ' ', ' '), CHECKER_SIZE, CHECKER_SIZE, CHECKER_SIZE);
  ret = gid_slab_create (self->domain, &layout, 0, 1, NULL, &self->checker);
  if (ret < 0)
    return ret;
  mask = gid_slab_data (self->checker, 0);
  for (guint y = 0; y < CHECKER_SIZE; y++) {
    for (guint x = 0; x < CHECKER_SIZE; x++)
      mask[y * CHECKER_SIZE + x] = (x ^ y) & CHECKER_SQUARE ? 0xff : 0;
  }
  return 0;
}

int
gst_gid_canvas_draw_checker (GstGidCanvas *self, guint width, guint height)
{
  const struct gid_rectangle all = { 0, 0, width, height };
  guint columns = (width + CHECKER_SIZE - 1) / CHECKER_SIZE;
  guint rows = (height + CHECKER_SIZE - 1) / CHECKER_SIZE;
  struct gid_glyph *glyphs;
  int ret = 0;

  if (self->checker == NULL)
    ret = make_checker (self);
  if (ret == 0)
    ret = gid_canvas_share (self->canvas, self->checker);
  if (ret < 0)
    return ret;
  glyphs = g_new (struct gid_glyph, columns * rows);
  for (guint i = 0; i < columns * rows; i++)
    glyphs[i] = (struct gid_glyph) { 0, 0, CHECKER_SIZE, CHECKER_SIZE, i % columns * CHECKER_SIZE,
      i / columns * CHECKER_SIZE };
  gid_list_fill (self->canvas, GID_OPERATOR_SRC, CHECKER_DARK, &all, 1);
  ret = gid_list_masks (
      self->canvas, CHECKER_LIGHT, gid_slab_gid (self->checker, 0), glyphs, columns * rows);
  g_free (glyphs);
  return ret;
}

int
gst_gid_canvas_wait (GstGidCanvas *self, guint64 fence, GstPad *pad)
{
  int ret;

  do {
    ret = gid_canvas_wait (self->canvas, fence, WAIT_STEP_MS);
    if (ret == -ETIMEDOUT && GST_PAD_IS_FLUSHING (pad))
      return -EINTR;
  } while (ret == -ETIMEDOUT);
  return ret;
}

/* --- pictures --------------------------------------------------------------------------------- */

/*
 * Receives the frame with this timestamp, and releases all others. Returns 0, -EAGAIN or -EPIPE.
 * Call with the reader's lock held.
 */
static int
receive (GstGidCanvas *self, guint64 pts, struct gid_frame *frame)
{
  struct gid_consumer *consumer = self->reader->consumer;
  int ret;

  while ((ret = gid_consumer_receive (consumer, frame)) == 1) {
    gst_gid_reader_hurry (self->reader);
    if (frame->gid != GID_NONE && frame->pts == pts)
      return 0;
    gid_consumer_release (consumer, frame);
  }
  return self->state == GID_CONSUMER_LIVE ? ret : -EPIPE;
}

static int
wait_for_frame (GstGidCanvas *self, guint64 pts, GstPad *pad, struct gid_frame *frame)
{
  struct pollfd fd = { .events = POLLIN };
  int ret;

  while (TRUE) {
    gst_gid_domain_lock (self->reader->domain);
    ret = receive (self, pts, frame);
    fd.fd = gid_consumer_get_fd (self->reader->consumer);
    gst_gid_domain_unlock (self->reader->domain);
    if (ret != -EAGAIN)
      return ret;
    if (GST_PAD_IS_FLUSHING (pad))
      return -EINTR;
    GST_LOG_OBJECT (pad, "the picture is not there: others hold all slots of the canvas");
    poll (&fd, 1, WAIT_STEP_MS);
  }
}

static void
describe (GstBuffer *buffer, GstGidMetas *metas, const GstGidImport *import)
{
  const struct gid_layout *layout = &import->info.layout;
  gsize offset[GST_VIDEO_MAX_PLANES] = { layout->planes[0].offset };
  gint stride[GST_VIDEO_MAX_PLANES] = { layout->planes[0].stride };

  gst_gid_metas_set_video (metas, buffer, GST_VIDEO_INFO_FORMAT (&import->format.info),
      layout->width, layout->height, layout->plane_count, offset, stride);
}

int
gst_gid_canvas_take (GstGidCanvas *self, guint64 pts, GstGidView kind, GstPad *pad,
    GstBuffer **buffer, GstGidImport **import)
{
  struct gid_frame frame;
  GstGidMetas *metas;
  int ret;

  ret = wait_for_frame (self, pts, pad, &frame);
  if (ret < 0)
    return ret;
  ret = gst_gid_imports_find (self->imports, self->reader, frame.gid, import);
  gst_gid_domain_lock (self->reader->domain);
  *buffer = ret < 0 ? NULL : gst_gid_import_take (*import, &frame, kind, &metas);
  if (*buffer == NULL)
    gid_consumer_release (self->reader->consumer, &frame);
  gst_gid_domain_unlock (self->reader->domain);
  if (*buffer == NULL)
    return -EPIPE; /* it was freed when the engine ended */
  describe (*buffer, metas, *import);
  return 0;
}

gboolean
gst_gid_canvas_is_short (GstGidCanvas *self)
{
  struct gid_canvas_stats canvas;
  struct gid_consumer_stats stats;

  gid_canvas_get_stats (self->canvas, &canvas);
  gst_gid_domain_lock (self->reader->domain);
  gid_consumer_get_stats (self->reader->consumer, &stats);
  gst_gid_domain_unlock (self->reader->domain);
  /*
   * one slot for the picture being drawn and one for the next; without credit there is no next one
   */
  return stats.held + 2 > canvas.slots || (stats.credit > 0 && stats.held >= stats.credit)
      || gst_gid_reader_is_too_late (&stats);
}
