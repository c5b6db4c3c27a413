# SPDX-License-Identifier: MIT
SUMMARY = "gidway domain with the safety display"
DESCRIPTION = "A guest of the cockpit, which shows what other domains send."

require gidway-image.inc

REQUIRED_DISTRO_FEATURES += "opengl wayland"
GIDWAY_DOMAIN = "cluster"
IMAGE_INSTALL:append = " gid-cluster seatd"

start_display() {
    ln -s ${systemd_system_unitdir}/gid-cluster@.service \
        ${IMAGE_ROOTFS}${sysconfdir}/systemd/system/multi-user.target.wants/gid-cluster@${GIDWAY_DOMAIN}.service
}
ROOTFS_POSTPROCESS_COMMAND += "start_display"
