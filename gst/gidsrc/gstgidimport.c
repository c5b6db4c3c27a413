// SPDX-License-Identifier: MIT
#include "gstgidimport.h"

#include <errno.h>

#include "common/gstgid.h"

#define GST_CAT_DEFAULT gst_gid_debug

typedef struct _GstGidImportSlot
{
  GstGidImport *import;
  GstGidView kind;
  GstMemory *mem; /* created at the first frame */
  GstBuffer *idle; /* a buffer with the memory for the next frame, which has the reference */
  gsize offset; /* of the slot in the file or dma-buf */
  gboolean out;
  gboolean taken; /* reclaimed by the producer while in use */
  gint64 outdated_since; /* outdated since then, after the stream's end, in us; 0: it is not */
  struct gid_frame held; /* if `out`: the latest frame received in the slot */
  guint epoch; /* of that frame */
} GstGidImportSlot;

static GQuark
slot_quark (void)
{
  static GQuark quark;

  if (quark == 0)
    quark = g_quark_from_static_string ("GstGidImportSlot");
  return quark;
}

static GQuark
metas_quark (void)
{
  static GQuark quark;

  if (quark == 0)
    quark = g_quark_from_static_string ("GstGidMetas");
  return quark;
}

/* --- imports ---------------------------------------------------------------------------------- */

static void
import_unref (GstGidImport *self)
{
  GstGidReader *reader = self->reader;
  gboolean last;

  gst_gid_domain_lock (reader->domain);
  last = --self->refcount == 0;
  if (last) {
    gst_gid_reader_remove_holder (reader, self);
    gid_slab_on_revoked (self->slab, NULL, self);
    gid_slab_unref (self->slab);
  }
  gst_gid_domain_unlock (reader->domain);
  if (!last)
    return;
  g_free (self->slots);
  gst_clear_caps (&self->caps);
  g_free (self);
  gst_gid_reader_unref (reader);
}

/*
 * Asks libgid whether the producer has reclaimed the slot's frame: the result of
 * gid_consumer_holds(). Call with the lock held.
 */
static int
ask (const GstGidImportSlot *slot)
{
  const GstGidReader *reader = slot->import->reader;

  if (reader->consumer == NULL || slot->epoch != reader->epoch)
    return -ENOTCONN;
  return gid_consumer_holds (reader->consumer, &slot->held, slot->import->slab, NULL);
}

/* Longer than gidd needs to report the end of a slab on a busy machine. */
#define END_US (5 * G_USEC_PER_SEC)

/*
 * Whether the slot's frame was reclaimed since it was received, so that the slot may have another
 * picture. Call with the lock held.
 *
 * For frames of an earlier connection, the slab tells. When a slab ends, its slots become outdated
 * before it is revoked, and then their content is kept. So only a slot that stays outdated without
 * being revoked was reclaimed.
 */
static gboolean
was_taken (GstGidImportSlot *slot)
{
  const GstGidImport *import = slot->import;
  gint64 now;
  int ret = ask (slot);

  if (ret != -ENOTCONN)
    return ret == -ESTALE;
  if (import->revoked || gid_slab_is_current (import->slab, slot->held.gid)) {
    slot->outdated_since = 0;
    return FALSE;
  }
  now = g_get_monotonic_time ();
  if (slot->outdated_since == 0)
    slot->outdated_since = now;
  return now - slot->outdated_since >= END_US;
}

/* The GstGidTakenFunc of an import. Call with the lock held. */
static guint
count_taken (gpointer data)
{
  GstGidImport *self = data;
  guint count = 0;

  for (guint i = 0; i < self->info.slot_count * GST_GID_N_VIEWS; i++) {
    GstGidImportSlot *slot = &self->slots[i];

    if (slot->out && !slot->taken && was_taken (slot)) {
      slot->taken = TRUE;
      count++;
    }
  }
  return count;
}

/*
 * Called when the slab is revoked. Keeps the content of frames that downstream uses: the end of a
 * stream must not blank its last frames.
 */
static void
import_revoked (void *data, struct gid_slab *slab)
{
  GstGidImport *self = data;

  self->revoked = TRUE;
  if (self->dmabuf >= 0)
    return; /* its memories map the dma-buf itself, so keeping copies elsewhere does not help */
  for (guint i = 0; i < self->info.slot_count; i++) {
    gboolean out = FALSE;
    int ret;

    for (guint view = 0; view < GST_GID_N_VIEWS; view++)
      out |= self->slots[i * GST_GID_N_VIEWS + view].out;
    if (out && (ret = gid_slab_keep (slab, i)) < 0)
      GST_WARNING ("a frame that is in use is lost: %s", gid_strerror (ret));
  }
}

/* Call with the lock held. */
static void
release_held (GstGidImportSlot *slot)
{
  GstGidReader *reader = slot->import->reader;

  if (slot->out && reader->consumer && slot->epoch == reader->epoch) {
    if (!slot->taken && ask (slot) == -ESTALE)
      reader->taken++;
    gid_consumer_release (reader->consumer, &slot->held);
  }
  slot->out = FALSE;
}

/* Call with the lock held. */
static void
give_back (GstGidImportSlot *slot)
{
  release_held (slot);
  slot->mem->offset = slot->offset;
  slot->mem->size = slot->import->size;
}

/*
 * The last reference of a memory was dropped: returns it to its slot, unless the import is retired.
 */
static gboolean
memory_dispose (GstMiniObject *object)
{
  GstMemory *mem = (GstMemory *) object;
  GstGidImportSlot *slot = gst_mini_object_get_qdata (object, slot_quark ());
  GstGidImport *import = slot->import;
  gboolean retired;

  gst_gid_domain_lock (import->reader->domain);
  if (GST_MINI_OBJECT_REFCOUNT_VALUE (object) > 0) {
    /* another frame was just received in this slot, and references the memory again */
    gst_gid_domain_unlock (import->reader->domain);
    return FALSE;
  }
  give_back (slot);
  retired = import->retired;
  if (retired)
    slot->mem = NULL;
  else
    gst_memory_ref (mem);
  gst_gid_domain_unlock (import->reader->domain);
  if (retired)
    import_unref (import);
  return retired;
}

/*
 * Whether downstream can read the slot's memory, wherever it maps it. Where a page is missing, to read
 * it would allocate it, charged to this program for as long as the owner keeps the file.
 */
static gboolean
has_pages (const GstGidImport *import, guint slot)
{
  return import->info.memory != GID_MEMORY_MEMFD || gid_slab_view (import->slab, slot) != NULL;
}

/* NULL: the slot's memory lacks pages. */
static GstMemory *
memory_new (GstGidImportSlot *slot, guint number)
{
  GstGidImport *import = slot->import;
  gboolean is_dmabuf = slot->kind == GST_GID_VIEW_DMABUF;
  guint64 begin = is_dmabuf ? import->dmabuf_offset : import->info.offset;
  /* the address of byte 0 of the descriptor; other slots may lack pages */
  const guint8 *base = (const guint8 *) gid_slab_view_untouched (import->slab, 0) - begin;
  GstMemory *mem;

  if (!has_pages (import, number))
    return NULL;
  mem = gst_gid_view_new (slot->kind, is_dmabuf ? import->dmabuf : import->info.fd, base,
      slot->offset + import->info.slot_size, slot->offset, import->size);
  GST_MINI_OBJECT_CAST (mem)->dispose = memory_dispose;
  gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (mem), slot_quark (), slot, NULL);
  import->refcount++;
  return mem;
}

/* --- buffers ---------------------------------------------------------------------------------- */

/*
 * Resets the buffer's fields, but not its metas. Returns FALSE if downstream has replaced its
 * memory.
 */
static gboolean
clean_buffer (GstBuffer *buffer)
{
  GstGidMetas *metas = gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (buffer), metas_quark ());

  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_TAG_MEMORY)
      || gst_buffer_n_memory (buffer) != 1)
    return FALSE;
  GST_BUFFER_FLAGS (buffer) = 0;
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET (buffer) = GST_BUFFER_OFFSET_END (buffer) = GST_BUFFER_OFFSET_NONE;
  return gst_gid_metas_clean (metas, buffer);
}

/*
 * The last reference of a buffer was dropped: keeps it for the slot, unless the memory is still in
 * use.
 */
static gboolean
recycle_buffer (GstBuffer *buffer)
{
  GstMemory *mem = gst_buffer_peek_memory (buffer, 0);
  GstGidImportSlot *slot = gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (mem), slot_quark ());
  GstGidDomain *domain;
  gboolean keep;

  if (slot == NULL)
    return FALSE;
  /* the memory is alive, and with it the slot */
  domain = slot->import->reader->domain;
  gst_gid_domain_lock (domain);
  keep = !slot->import->retired && GST_MINI_OBJECT_REFCOUNT_VALUE (mem) == 1;
  if (keep) {
    give_back (slot);
    slot->idle = buffer;
  }
  gst_gid_domain_unlock (domain);
  return keep;
}

static gboolean
buffer_dispose (GstMiniObject *object)
{
  GstBuffer *buffer = GST_BUFFER_CAST (object);

  /* revived, so that it is writable for clean_buffer() */
  gst_buffer_ref (buffer);
  if (!clean_buffer (buffer) || !recycle_buffer (buffer)) {
    object->dispose = NULL;
    gst_buffer_unref (buffer);
  }
  return FALSE;
}

static GstBuffer *
buffer_new (GstMemory *mem)
{
  GstBuffer *buffer = gst_buffer_new ();

  gst_buffer_append_memory (buffer, mem);
  GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);
  GST_MINI_OBJECT_CAST (buffer)->dispose = buffer_dispose;
  gst_mini_object_set_qdata (
      GST_MINI_OBJECT_CAST (buffer), metas_quark (), g_new0 (GstGidMetas, 1), g_free);
  return buffer;
}

/* --- import and retirement of slabs ----------------------------------------------------------- */

/*
 * dma-bufs of slabs that were exported as such, and on request of memory windows. Call with the
 * domain's lock held.
 */
static void
find_dmabuf (GstGidImport *self)
{
  self->dmabuf = -1;
  if (self->info.memory != GID_MEMORY_DMABUF && !self->reader->wants_dmabufs)
    return;
  self->dmabuf = gid_slab_get_dmabuf (self->slab, &self->dmabuf_offset);
  if (self->dmabuf < 0 && self->info.memory == GID_MEMORY_WINDOW)
    GST_WARNING (
        "slab %u: no dma-bufs: %s", gid_slab_of (self->info.gid), gid_strerror (self->dmabuf));
}

/*
 * Returns 0; -EPROTO if the slab's description is invalid; or the error that would keep its end from
 * being heard: downstream would keep frames whose memory is gone. Call with the domain's lock held.
 */
static int
import_new (GstGidReader *reader, struct gid_slab *slab, GstGidImport **import)
{
  GstGidImport *self;
  struct gid_slab_info info;
  GstCaps *caps;
  int ret;

  gid_slab_get_info (slab, &info);
  caps = gst_gid_caps_from_slab (&info);
  if (caps == NULL)
    return -EPROTO;

  self = g_new0 (GstGidImport, 1);
  ret = info.revoked ? 0 : gid_slab_on_revoked (slab, import_revoked, self);
  if (ret < 0) {
    gst_caps_unref (caps);
    g_free (self);
    return ret;
  }
  self->refcount = 1;
  self->reader = gst_gid_reader_ref (reader);
  self->slab = gid_slab_ref (slab);
  self->info = info;
  self->revoked = info.revoked;
  self->caps = caps;
  gst_gid_format_from_caps (&self->format, caps);
  self->width = gst_gid_format_width (&self->format);
  self->height = gst_gid_format_height (&self->format);
  self->is_plain = gst_gid_layout_is_default (&info.layout, &self->format);
  self->size = gid_layout_size (&info.layout);
  if (self->is_plain && GST_VIDEO_INFO_SIZE (&self->format.info) <= info.slot_size)
    self->size = GST_VIDEO_INFO_SIZE (&self->format.info);
  find_dmabuf (self);
  self->slots = g_new0 (GstGidImportSlot, info.slot_count * GST_GID_N_VIEWS);
  for (guint i = 0; i < info.slot_count * GST_GID_N_VIEWS; i++) {
    GstGidImportSlot *slot = &self->slots[i];

    slot->import = self;
    slot->kind = i % GST_GID_N_VIEWS;
    slot->offset = slot->kind == GST_GID_VIEW_DMABUF ? self->dmabuf_offset : info.offset;
    slot->offset += i / GST_GID_N_VIEWS * info.slot_size;
  }
  gst_gid_reader_add_holder (reader, count_taken, self);
  GST_INFO ("slab %u: %u slots of %" GST_PTR_FORMAT, gid_slab_of (info.gid), info.slot_count, caps);
  *import = self;
  return 0;
}

static void
set_size (GstGidImport *self, guint width, guint height)
{
  if (width == gst_gid_format_width (&self->format)
      && height == gst_gid_format_height (&self->format))
    return;
  /* in alternate interlacing, caps have the height of the whole frame */
  if (GST_VIDEO_INFO_INTERLACE_MODE (&self->format.info) == GST_VIDEO_INTERLACE_MODE_ALTERNATE)
    height *= 2;
  self->caps = gst_caps_make_writable (self->caps);
  gst_caps_set_simple (self->caps, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
  gst_gid_format_from_caps (&self->format, self->caps);
}

void
gst_gid_import_set_raw (GstGidImport *self)
{
  GstCaps *raw = gst_video_info_to_caps (&self->format.info);

  gst_caps_replace (&self->caps, raw);
  gst_caps_unref (raw);
  gst_gid_format_from_caps (&self->format, self->caps);
}

gboolean
gst_gid_import_set_shown (GstGidImport *self, const struct gid_frame *frame)
{
  const struct gid_box *crop = &frame->crop;

  /* with DMA_DRM only GstVideoCropMeta has the crop: elements do not access the pixels */
  if (crop->width == 0 || crop->height == 0)
    set_size (self, self->width, self->height);
  else if (!gid_box_is_within (*crop, self->info.layout.width, self->info.layout.height))
    return FALSE;
  else if (!self->format.dmabuf)
    set_size (self, crop->width, crop->height);
  return TRUE;
}

static void
import_retire (GstGidImport *self)
{
  GstGidDomain *domain = self->reader->domain;

  gst_gid_domain_lock (domain);
  self->retired = TRUE;
  for (guint i = 0; i < self->info.slot_count * GST_GID_N_VIEWS; i++) {
    GstGidImportSlot *slot = &self->slots[i];

    if (slot->idle)
      gst_gid_domain_drop_later (domain, GST_MINI_OBJECT_CAST (g_steal_pointer (&slot->idle)));
    else if (slot->mem && !slot->out)
      gst_gid_domain_drop_later (domain, GST_MINI_OBJECT_CAST (slot->mem));
  }
  gst_gid_domain_unlock (domain);
  import_unref (self);
}

GHashTable *
gst_gid_imports_new (void)
{
  return g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) import_retire);
}

static gboolean
is_gone (gpointer key, gpointer value, gpointer all)
{
  return all || ((GstGidImport *) value)->revoked;
}

void
gst_gid_imports_retire (GHashTable *imports, gboolean all)
{
  g_hash_table_foreach_remove (imports, is_gone, GINT_TO_POINTER (all));
}

static int
add_import (GHashTable *imports, GstGidReader *reader, struct gid_slab *slab, GstGidImport **import)
{
  int ret = import_new (reader, slab, import);

  if (ret == 0)
    g_hash_table_insert (imports, GUINT_TO_POINTER (gid_slab_key ((*import)->info.gid)), *import);
  return ret;
}

int
gst_gid_imports_find_slab (
    GHashTable *imports, GstGidReader *reader, struct gid_slab *slab, GstGidImport **import)
{
  struct gid_slab_info info;
  int ret;

  gid_slab_get_info (slab, &info);
  *import = g_hash_table_lookup (imports, GUINT_TO_POINTER (gid_slab_key (info.gid)));
  if (*import && (*import)->slab == slab)
    return 0;
  g_hash_table_remove (imports, GUINT_TO_POINTER (gid_slab_key (info.gid)));
  gst_gid_domain_lock (reader->domain);
  ret = add_import (imports, reader, slab, import);
  gst_gid_domain_unlock (reader->domain);
  return ret;
}

int
gst_gid_imports_find (GHashTable *imports, GstGidReader *reader, gid_id gid, GstGidImport **import)
{
  struct gid_slab *slab;
  int ret;

  *import = g_hash_table_lookup (imports, GUINT_TO_POINTER (gid_slab_key (gid)));
  if (*import && !(*import)->revoked)
    return 0;
  gst_gid_imports_retire (imports, FALSE);
  ret = gid_slab_import (gst_gid_domain_lock (reader->domain), gid, &slab);
  if (ret == 0) {
    ret = add_import (imports, reader, slab, import);
    gid_slab_unref (slab);
  }
  gst_gid_domain_unlock (reader->domain);
  return ret;
}

GstGidImport *
gst_gid_import_of_memory (GstMemory *mem, gid_id *gid)
{
  GstGidImportSlot *slot = gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (mem), slot_quark ());
  GstGidDomain *domain;
  gboolean out;

  if (slot == NULL || mem->offset != slot->offset)
    return NULL;
  domain = slot->import->reader->domain;
  gst_gid_domain_lock (domain);
  out = slot->out;
  if (out)
    *gid = slot->held.gid;
  gst_gid_domain_unlock (domain);
  return out ? slot->import : NULL;
}

int
gst_gid_import_check_memory (GstMemory *mem)
{
  GstGidImportSlot *slot = gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (mem), slot_quark ());
  GstGidDomain *domain;
  int ret = 0;

  if (slot == NULL)
    return 0; /* a copy */
  domain = slot->import->reader->domain;
  gst_gid_domain_lock (domain);
  if (slot->taken || was_taken (slot))
    ret = -ESTALE;
  else if (slot->outdated_since > 0)
    ret = -EAGAIN;
  gst_gid_domain_unlock (domain);
  return ret;
}

GstBuffer *
gst_gid_import_take (
    GstGidImport *self, const struct gid_frame *frame, GstGidView kind, GstGidMetas **metas)
{
  guint number = gid_slot_of (frame->gid);
  GstGidImportSlot *slot;
  GstBuffer *buffer;

  if (number >= self->info.slot_count)
    return NULL;
  if (self->dmabuf >= 0)
    kind = GST_GID_VIEW_DMABUF;
  slot = &self->slots[number * GST_GID_N_VIEWS + kind];
  buffer = g_steal_pointer (&slot->idle);
  if (buffer == NULL) {
    if (slot->mem == NULL)
      slot->mem = memory_new (slot, number);
    else if (slot->out)
      gst_memory_ref (slot->mem);
    if (slot->mem == NULL)
      return NULL;
    buffer = buffer_new (slot->mem);
  }
  /*
   * The picture was sent again while in use, for example a still picture: the new frame alone keeps
   * the slot. A sink holds its last buffer until the next one, so otherwise such frames would
   * accumulate.
   */
  release_held (slot);
  slot->out = TRUE;
  slot->taken = FALSE;
  slot->outdated_since = 0;
  slot->held = *frame;
  slot->epoch = self->reader->epoch;
  *metas = gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (buffer), metas_quark ());
  return buffer;
}
