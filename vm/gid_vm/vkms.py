# SPDX-License-Identifier: MIT
"""What is changed in the kernel's virtual display, vkms, before it is built for guests.

Linux 6.12 to 7.2 lose pictures that are to be written back where the machine is busy, and take from
then on the end of each later one for that of the one before:

- A commit is on the screen before it says that it is to be written. With a refresh between the
  two, the commit counts as shown, and the next one may take its place before it was written.
- Whoever wants no more checksums, or has written its picture, stops the mixing of planes for all
  others that want it.

A test whose display is mended here says what gidway does, and not how busy the machine was.
"""

from pathlib import Path

EDITION = 3  # of these changes: what was built with others has another folder

# Of each file, the text that is replaced, where it is there, and by what.
CHANGES = (
    # Linux 6.12 has a writeback connector that may not be on beside its screen.
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
    # What is to be written belongs to the new state before that is shown.
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
    # Planes are mixed as long as somebody wants it.
    ("vkms_drv.h", "\tbool composer_enabled;\n", "\tint composer_enabled;\n"),
    (
        "vkms_composer.c",
        "\told_enabled = out->composer_enabled;\n\tout->composer_enabled = enabled;\n",
        "\told_enabled = !enabled;\n\tout->composer_enabled += enabled ? 1 : -1;\n",
    ),
)


def change_vkms(folder: Path) -> None:
    """`folder`: the driver's own, with its sources."""
    for name, old, new in CHANGES:
        file = folder / name
        if file.is_file():
            file.write_text(file.read_text().replace(old, new))
