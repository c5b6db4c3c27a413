# SPDX-License-Identifier: MIT
"""gid-cockpit: starts, stops and watches the domains that one configuration describes."""
