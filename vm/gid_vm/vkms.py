# SPDX-License-Identifier: MIT
"""Patches for the kernel's virtual display, vkms, which are applied when it is built for guests.

Linux 6.12 to 7.2 lose write-back jobs on a busy machine, and from then on take the end of each
later job for that of the one before:

- A commit is shown before its write-back job is queued. If a refresh comes between the two,
  the commit counts as shown, and the next one may replace it before the job ran.
- A client that stops its checksums, or whose write-back is done, stops composition for all other
  clients that need it.

So tests of displays show what gidway does, and not how busy the machine was.
"""

from pathlib import Path

EDITION = 3  # the version of these changes: part of the name of build folders

# For each file: a text, and its replacement, if the text is there.
CHANGES = (
    # Linux 6.12: the writeback connector may not be enabled together with its screen.
    (
        "vkms_output.c",
        "\tdrm_mode_config_reset(dev);\n",
        """\t{
\t\tstruct drm_encoder *each;

\t\tdrm_for_each_encoder(each, dev)
\t\t\teach->possible_clones = (1u << dev->mode_config.num_encoder) - 1;
\t}
\tdrm_mode_config_reset(dev);
""",
    ),
    # The job is attached to the new state before that is shown.
    (
        "vkms_writeback.c",
        "= output->composer_state;",
        "= to_vkms_crtc_state(connector_state->crtc->state);",
    ),
    (
        "vkms_drv.c",
        "\tdrm_atomic_helper_commit_planes(dev, old_state, 0);\n\n"
        "\tdrm_atomic_helper_commit_modeset_enables(dev, old_state);\n",
        "\tdrm_atomic_helper_commit_modeset_enables(dev, old_state);\n\n"
        "\tdrm_atomic_helper_commit_planes(dev, old_state, 0);\n",
    ),
    # Counts the clients that need composition.
    ("vkms_drv.h", "\tbool composer_enabled;\n", "\tint composer_enabled;\n"),
    (
        "vkms_composer.c",
        "\told_enabled = out->composer_enabled;\n\tout->composer_enabled = enabled;\n",
        "\told_enabled = !enabled;\n\tout->composer_enabled += enabled ? 1 : -1;\n",
    ),
)


def change_vkms(folder: Path) -> None:
    """`folder`: the driver's sources."""
    for name, old, new in CHANGES:
        file = folder / name
        if file.is_file():
            file.write_text(file.read_text().replace(old, new))
