# SPDX-License-Identifier: MIT
"""From the drawing of telltales to what gid-cluster watches over them by, and a trial of that."""
