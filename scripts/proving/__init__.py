# SPDX-License-Identifier: MIT
"""What `./run proofs` is made of: the proofs of tests/proofs, and mutants that they refuse."""
