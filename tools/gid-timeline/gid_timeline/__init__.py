# SPDX-License-Identifier: MIT
"""gid-timeline: where every millisecond of a frame goes, from a Weston timeline log."""
