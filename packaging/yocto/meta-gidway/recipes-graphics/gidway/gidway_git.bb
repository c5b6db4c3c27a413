# SPDX-License-Identifier: MIT
SUMMARY = "Graphics buffers shared between domains by their number"
DESCRIPTION = "A frame crosses from one domain (a virtual machine, a container, or plain processes) to another by \
its number, and nobody copies it."
SECTION = "graphics"
LICENSE = "MIT"
LIC_FILES_CHKSUM = "file://LICENSE;md5=7c3d346bd9c4c25ae4563f9245fd6ca5"

DEPENDS = "libdrm"
PV = "0.2.0+git"

inherit externalsrc features_check meson pkgconfig systemd useradd
inherit_defer ${@bb.utils.contains('PACKAGECONFIG', 'python', 'python3targetconfig', '', d)}

# The clone that this layer lies in, which stays as it is. Say EXTERNALSRC:pn-gidway for another one.
EXTERNALSRC ?= "${@os.path.normpath(d.getVar('THISDIR') + '/../../../../..')}"
EXTERNALSRC_SYMLINKS = ""

REQUIRED_DISTRO_FEATURES = "systemd"

# Of each part what it is built with, though others have it, too: ./run options builds each part with that alone.
PACKAGECONFIG ??= "daemon engine gstreamer \
    ${@bb.utils.contains('DISTRO_FEATURES', 'opengl', 'gles', '', d)} \
    ${@bb.utils.contains('DISTRO_FEATURES', 'opengl wayland', 'clients weston', '', d)} \
"
PACKAGECONFIG[clients] = "-Dclients=enabled,-Dclients=disabled,cairo libxkbcommon pixman systemd virtual/egl virtual/libgles2 wayland wayland-native wayland-protocols xxhash"
PACKAGECONFIG[daemon] = "-Ddaemon=enabled,-Ddaemon=disabled,libinih libpng pixman systemd"
PACKAGECONFIG[engine] = "-Dengine=enabled,-Dengine=disabled,libinih pixman systemd"
PACKAGECONFIG[gles] = "-Dgles=enabled,-Dgles=disabled,libepoxy"
PACKAGECONFIG[gstreamer] = "-Dgstreamer=enabled,-Dgstreamer=disabled,gstreamer1.0 gstreamer1.0-plugins-base systemd"
PACKAGECONFIG[libei] = "-Dlibei=enabled,-Dlibei=disabled,libei"
PACKAGECONFIG[man] = "-Dman=enabled,-Dman=disabled,scdoc-native"
PACKAGECONFIG[pipewire] = "-Dpipewire=enabled,-Dpipewire=disabled,pipewire"
PACKAGECONFIG[protection] = "-Dprotection=enabled,-Dprotection=disabled,nettle xz"
PACKAGECONFIG[python] = "-Dpython=enabled,-Dpython=disabled,python3 python3-cffi-native"
PACKAGECONFIG[weston] = "-Dweston=enabled,-Dweston=disabled,pixman wayland wayland-native wayland-protocols weston xxhash"
PACKAGECONFIG[wlroots] = "-Dwlroots=enabled,-Dwlroots=disabled,cairo glib-2.0 libdisplay-info libinih libseccomp pixman systemd virtual/egl virtual/libgles2 wayland wayland-native wayland-protocols wlroots xxhash"

EXTRA_OEMESON = "-Dtests=false"

do_install:append() {
    # A kernel's own recipe would build that module.
    rm -r ${D}${prefix}/src
    rm -rf ${D}${docdir}/gidway
    configure_daemon gidd ${S}/gidd/gidway.conf
    configure_daemon gid-cluster ${S}/packaging/systemd/cluster.conf
    configure_daemon gid-engine ${S}/packaging/systemd/engine.conf
}

# configure_daemon NAME FILE: gives it the example as its configuration, if it is built.
configure_daemon() {
    if [ -e ${D}${bindir}/$1 ]; then
        install -D -m 644 $2.example ${D}${sysconfdir}/gidway/$(basename $2)
    fi
}

# As Debian's packages, but for what is small by itself: programs without Python, and manuals.
PACKAGES =+ "libgid libgid-dev libgid-staticdev libgid-wlroots-dev libgid-wlroots-staticdev gidd gidctl \
    gid-clients gid-cluster gid-engine gid-pipewire gid-tools gstreamer1.0-gid python3-gid weston-gid \
"

FILES:libgid = "${libdir}/libgid${SOLIBS}"
FILES:libgid-dev = "${includedir}/gid/domain.h ${includedir}/gid/engine.h ${includedir}/gid/gid.h \
    ${includedir}/gid/protection.h ${includedir}/gid/stream.h ${includedir}/gid/timeline.h \
    ${libdir}/libgid${SOLIBSDEV} ${libdir}/pkgconfig/libgid.pc ${libdir}/pkgconfig/libgid-engine.pc \
    ${libdir}/pkgconfig/libgid-protection.pc ${datadir}/gidway/protocol \
"
FILES:libgid-staticdev = "${libdir}/libgid-engine.a ${libdir}/libgid-protection.a"
FILES:libgid-wlroots-dev = "${includedir}/gid/gid_buffer_v1.h ${libdir}/pkgconfig/libgid-wlroots.pc"
FILES:libgid-wlroots-staticdev = "${libdir}/libgid-wlroots.a"
FILES:gidd = "${sysconfdir}/gidway/gidway.conf ${bindir}/gidd ${nonarch_libdir}/sysusers.d/gidd.conf \
    ${nonarch_libdir}/tmpfiles.d/gidd.conf ${systemd_system_unitdir}/gidd@.service \
    ${systemd_system_unitdir}/gidd@.socket \
"
FILES:gidctl = "${bindir}/gidctl"
FILES:gid-clients = "${bindir}/gid-capture ${bindir}/gid-compose ${bindir}/gid-input ${bindir}/gid-map \
    ${bindir}/gid-meter ${bindir}/gid-telltale ${bindir}/gid-view \
"
FILES:gid-cluster = "${sysconfdir}/gidway/cluster.conf ${bindir}/gid-cluster \
    ${nonarch_libdir}/sysusers.d/gid-cluster.conf ${systemd_system_unitdir}/gid-cluster@.service \
"
FILES:gid-engine = "${sysconfdir}/gidway/engine.conf ${bindir}/gid-engine \
    ${nonarch_libdir}/sysusers.d/gid-engine.conf ${systemd_system_unitdir}/gid-engine@.service \
"
FILES:gid-pipewire = "${bindir}/gid-pipewire ${systemd_user_unitdir}/gid-pipewire@.service"
FILES:gid-tools = "${bindir}/gid-cockpit ${bindir}/gid-evaluate ${bindir}/gid-monitor ${bindir}/gid-recorder \
    ${bindir}/gid-timeline ${libdir}/gidway \
    ${libexecdir}/gidway ${systemd_system_unitdir}/gid-guest@.service ${datadir}/bash-completion \
    ${datadir}/fish ${datadir}/zsh ${datadir}/gidway/completions ${datadir}/gidway/gid_cockpit \
    ${datadir}/gidway/gid_console.py ${datadir}/gidway/gid_evaluate ${datadir}/gidway/gid_monitor \
    ${datadir}/gidway/gid_timeline ${datadir}/gidway/gid_vm \
"
FILES:gstreamer1.0-gid = "${libdir}/gstreamer-1.0/libgstgid.so"
FILES:python3-gid = "${PYTHON_SITEPACKAGES_DIR}/gid"
FILES:weston-gid = "${libdir}/weston/gid-buffer.so"

CONFFILES:gidd = "${sysconfdir}/gidway/gidway.conf"
CONFFILES:gid-cluster = "${sysconfdir}/gidway/cluster.conf"
CONFFILES:gid-engine = "${sysconfdir}/gidway/engine.conf"

RDEPENDS:gid-cluster = "gidd"
RDEPENDS:gid-engine = "gidd"
RDEPENDS:gid-tools = "python3-jinja2 python3-markupsafe python3-modules python3-numpy"
RDEPENDS:python3-gid = "python3-cffi python3-core python3-numpy"
RDEPENDS:weston-gid = "weston"
RRECOMMENDS:gid-tools = "python3-orjson python3-pillow"

# Instances are started by those who say which: gidd@open.
SYSTEMD_PACKAGES = "${@bb.utils.contains('PACKAGECONFIG', 'daemon', 'gidd gid-cluster gid-engine gid-tools', '', d)}"
SYSTEMD_AUTO_ENABLE = "disable"
SYSTEMD_SERVICE:gidd = "gidd@.service gidd@.socket"
SYSTEMD_SERVICE:gid-cluster = "${@bb.utils.contains('PACKAGECONFIG', 'wlroots', 'gid-cluster@.service', '', d)}"
SYSTEMD_SERVICE:gid-engine = "${@bb.utils.contains('PACKAGECONFIG', 'engine', 'gid-engine@.service', '', d)}"
SYSTEMD_SERVICE:gid-tools = "gid-guest@.service"

# As sysusers.d has them, which an image that cannot be written does not get at its start.
USERADD_PACKAGES = "gidd gid-cluster gid-engine"
GROUPADD_PARAM:gidd = "--system gidway"
GROUPADD_PARAM:gid-cluster = "--system gidway"
GROUPADD_PARAM:gid-engine = "--system gidway"
USERADD_PARAM:gidd = "--system --home-dir /run/gidway --no-create-home --shell /sbin/nologin --user-group gidd"
USERADD_PARAM:gid-cluster = "--system --home-dir /run/gid-cluster --no-create-home --shell /sbin/nologin --user-group gid-cluster"
USERADD_PARAM:gid-engine = "--system --home-dir /run/gidway --no-create-home --shell /sbin/nologin --user-group gid-engine"
