// SPDX-License-Identifier: MIT
#include "gstgidaccess.h"

#include <stdlib.h>
#include <string.h>

#include <systemd/sd-json.h>

/*
 * Maps names of domains to their numbers, by gidd's status: our own domain, and those linked to it.
 */
static GHashTable *
list_domains (struct gid_domain *domain)
{
  GHashTable *numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  sd_json_variant *status = NULL, *links;
  char *text = NULL;

  g_hash_table_insert (
      numbers, g_strdup (gid_domain_name (domain)), GUINT_TO_POINTER (gid_domain_number (domain)));
  if (gid_domain_status (domain, &text) == 0 && sd_json_parse (text, 0, &status, NULL, NULL) >= 0) {
    links = sd_json_variant_by_key (status, "links");
    for (size_t i = 0; links && i < sd_json_variant_elements (links); i++) {
      sd_json_variant *link = sd_json_variant_by_index (links, i);
      sd_json_variant *name = sd_json_variant_by_key (link, "domain");
      sd_json_variant *number = sd_json_variant_by_key (link, "number");

      if (name && sd_json_variant_is_string (name) && number)
        g_hash_table_insert (numbers, g_strdup (sd_json_variant_string (name)),
            GUINT_TO_POINTER (sd_json_variant_unsigned (number)));
    }
  }
  sd_json_variant_unref (status);
  free (text);
  return numbers;
}

gboolean
gst_gid_access_parse (GstGidAccess *self, GstGidDomain *domain, const gchar *property,
    const gchar *names, GError **error)
{
  GHashTable *numbers = list_domains (gst_gid_domain_get (domain));
  gchar **words = g_strsplit (names, ",", -1);
  gboolean good = TRUE;

  memset (self, 0, sizeof (*self));
  for (guint i = 0; words[i] && good; i++) {
    const gchar *word = g_strstrip (words[i]);
    guint64 number = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, word));

    if (number == 0)
      g_ascii_string_to_unsigned (word, 10, 1, GID_DOMAIN_MAX, &number, NULL);
    good = number >= 1 && number <= GID_DOMAIN_MAX;
    if (good) {
      self->allowed[number] = TRUE;
    } else {
      gchar **known = (gchar **) g_hash_table_get_keys_as_array (numbers, NULL);
      gchar *list = g_strjoinv (", ", known);

      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
          "There is no domain \"%s\" to be named in %s=; there are: %s", word, property, list);
      g_free (list);
      g_free (known);
    }
  }
  g_strfreev (words);
  g_hash_table_unref (numbers);
  return good;
}
