# SPDX-License-Identifier: MIT
SUMMARY = "gidway domain with Weston and GStreamer"
DESCRIPTION = "A guest of the cockpit, whose windows and films other domains show."

require gidway-image.inc

REQUIRED_DISTRO_FEATURES += "opengl wayland"
GIDWAY_DOMAIN = "open"
IMAGE_FEATURES += "weston"
IMAGE_INSTALL:append = " gid-clients gid-engine gstreamer1.0-gid gstreamer1.0-plugins-base-meta weston-gid"
