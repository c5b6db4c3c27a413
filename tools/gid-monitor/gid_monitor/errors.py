# SPDX-License-Identifier: MIT
"""What a user can put right."""


class DesignError(Exception):
    """Of a drawing, of what was made of it, or of what is there to draw with."""
