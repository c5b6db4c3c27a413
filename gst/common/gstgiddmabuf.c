// SPDX-License-Identifier: MIT
#include "gstgiddmabuf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEVICE "/dev/udmabuf"

/* udmabuf requires a memfd that is writable and cannot shrink. */
static int
make_memfd (gsize size)
{
  int fd = memfd_create ("gid-dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  if (fd < 0)
    return -errno;
  if (ftruncate (fd, (off_t) size) < 0
      || fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
    int error = -errno;

    close (fd);
    return error;
  }
  return fd;
}

static int
make_udmabuf (int memfd, gsize size)
{
  struct udmabuf_create create = {
    .memfd = (guint32) memfd,
    .flags = UDMABUF_FLAGS_CLOEXEC,
    .size = size,
  };
  int device, fd;

  device = open (DEVICE, O_RDWR | O_CLOEXEC);
  if (device < 0)
    return -errno;
  fd = ioctl (device, UDMABUF_CREATE, &create);
  if (fd < 0)
    fd = -errno;
  close (device);
  return fd;
}

const gchar *
gst_gid_dmabuf_explain (int error)
{
  if (error == -ENOENT && access (DEVICE, F_OK) < 0)
    return "there is no /dev/udmabuf, which the kernel's module udmabuf makes";
  if (error == -EACCES && access (DEVICE, R_OK | W_OK) < 0)
    return "this user may not open /dev/udmabuf";
  return NULL;
}

int
gst_gid_dmabuf_init (GstGidDmabuf *self, gsize size)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  int memfd, error = 0;

  *self = GST_GID_DMABUF_NONE;
  if (size == 0 || size > G_MAXSSIZE)
    return -EINVAL;
  self->size = (size + page - 1) & ~(page - 1);
  memfd = make_memfd (self->size);
  if (memfd < 0)
    return memfd;
  self->fd = make_udmabuf (memfd, self->size);
  close (memfd);
  if (self->fd < 0)
    return self->fd;
  self->data =
      mmap (NULL, self->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, self->fd, 0);
  if (self->data == MAP_FAILED) {
    error = -errno;
    self->data = NULL;
    gst_gid_dmabuf_finish (self);
  }
  return error;
}

int
gst_gid_dmabuf_init_slot (GstGidDmabuf *self, struct gid_slab *slab, guint slot)
{
  struct gid_slab_info info;
  int fd = gid_slab_open_dmabuf (slab, slot);

  *self = GST_GID_DMABUF_NONE;
  if (fd < 0)
    return fd;
  gid_slab_get_info (slab, &info);
  self->fd = fd;
  self->size = info.slot_size;
  return 0;
}

void
gst_gid_dmabuf_finish (GstGidDmabuf *self)
{
  if (self->data)
    munmap (self->data, self->size);
  if (self->fd >= 0)
    close (self->fd);
  *self = GST_GID_DMABUF_NONE;
}

void
gst_gid_dmabuf_sync (const GstGidDmabuf *self, gboolean begin, gboolean write)
{
  struct dma_buf_sync sync = {
    .flags = (begin ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END)
        | (write ? DMA_BUF_SYNC_RW : DMA_BUF_SYNC_READ),
  };

  while (ioctl (self->fd, DMA_BUF_IOCTL_SYNC, &sync) < 0 && (errno == EINTR || errno == EAGAIN))
    ;
}
