// SPDX-License-Identifier: MIT
#include "gstgidprotection.h"

#include <errno.h>
#include <string.h>

G_DEFINE_ENUM_TYPE (GstGidProtectionProfile, gst_gid_protection_profile,
    { GID_PROTECTION_NONE, "No check", "none" },
    { GID_PROTECTION_CRC64, "CRC-64/XZ, against accidental changes", "crc64" },
    { GID_PROTECTION_CMAC, "AES-CMAC with the key of protection-key", "cmac" })

gboolean
gst_gid_protection_open (gint profile, const gchar *stream, const gchar *key,
    struct gid_protection **protection, GError **error)
{
  gboolean keyed = profile == GID_PROTECTION_CMAC;
  guint8 bytes[GID_PROTECTION_KEY_SIZE];
  int ret;

  *protection = NULL;
  if (keyed != (key != NULL)) {
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        keyed ? "protection=cmac needs protection-key=FILE"
              : "protection-key= is for protection=cmac alone");
    return FALSE;
  }
  ret = keyed ? gid_protection_read_key (key, bytes) : 0;
  if (ret < 0) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ, "protection-key=%s: %s",
        key, gid_protection_key_error (ret));
    return FALSE;
  }
  if (profile == GID_PROTECTION_NONE)
    return TRUE;
  ret = gid_protection_create (profile, stream, keyed ? bytes : NULL, protection);
  explicit_bzero (bytes, sizeof (bytes));
  if (ret < 0)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "protection=%s: %s",
        gid_protection_profile_name (profile),
        ret == -ENOSYS ? "this gidsink was built without the library that it needs"
                       : gid_strerror (ret));
  return ret == 0;
}
