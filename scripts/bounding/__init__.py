# SPDX-License-Identifier: MIT
"""What `./run stack` is made of: who calls whom, and how many bytes of stack that takes."""
