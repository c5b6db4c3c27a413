# SPDX-License-Identifier: MIT
"""What of the sources tests reach, by gcov: ./run coverage."""
