################################################################################
#
# gidway
#
################################################################################

GIDWAY_VERSION = 0.2.0
# The clone that this tree lies in, without what was built there.
GIDWAY_SITE = $(realpath $(BR2_EXTERNAL_GIDWAY_PATH)/../..)
GIDWAY_SITE_METHOD = local
GIDWAY_OVERRIDE_SRCDIR_RSYNC_EXCLUSIONS = --exclude '/build*' --exclude '/out*'
GIDWAY_LICENSE = MIT
GIDWAY_LICENSE_FILES = LICENSE
GIDWAY_INSTALL_STAGING = YES
GIDWAY_DEPENDENCIES = host-pkgconf libdrm
# Buildroot removes manuals, has no libei, and no setting of meson's for an extension of another machine's Python.
GIDWAY_CONF_OPTS = -Dlibei=disabled -Dman=disabled -Dpython=disabled -Dtests=false
# For libgid-wlroots.a.
GIDWAY_MESON_EXTRA_BINARIES = objcopy='$(TARGET_OBJCOPY)'

ifeq ($(BR2_PACKAGE_GIDWAY_CLIENTS),y)
GIDWAY_CONF_OPTS += -Dclients=enabled
GIDWAY_DEPENDENCIES += cairo host-wayland libegl libgles libxkbcommon pixman systemd wayland wayland-protocols xxhash
else
GIDWAY_CONF_OPTS += -Dclients=disabled
endif

ifeq ($(BR2_PACKAGE_GIDWAY_DAEMON),y)
GIDWAY_CONF_OPTS += -Ddaemon=enabled
GIDWAY_DEPENDENCIES += inih libpng pixman systemd
else
GIDWAY_CONF_OPTS += -Ddaemon=disabled
endif

ifeq ($(BR2_PACKAGE_GIDWAY_ENGINE),y)
GIDWAY_CONF_OPTS += -Dengine=enabled
GIDWAY_DEPENDENCIES += inih pixman systemd
else
GIDWAY_CONF_OPTS += -Dengine=disabled
endif

ifeq ($(BR2_PACKAGE_GIDWAY_GLES),y)
GIDWAY_CONF_OPTS += -Dgles=enabled
GIDWAY_DEPENDENCIES += libepoxy
else
GIDWAY_CONF_OPTS += -Dgles=disabled
endif

ifeq ($(BR2_PACKAGE_GIDWAY_GSTREAMER),y)
GIDWAY_CONF_OPTS += -Dgstreamer=enabled
GIDWAY_DEPENDENCIES += gst1-plugins-base gstreamer1 systemd
else
GIDWAY_CONF_OPTS += -Dgstreamer=disabled
endif

ifeq ($(BR2_PACKAGE_GIDWAY_PIPEWIRE),y)
GIDWAY_CONF_OPTS += -Dpipewire=enabled
GIDWAY_DEPENDENCIES += pipewire
else
GIDWAY_CONF_OPTS += -Dpipewire=disabled
endif

ifeq ($(BR2_PACKAGE_GIDWAY_PROTECTION),y)
GIDWAY_CONF_OPTS += -Dprotection=enabled
GIDWAY_DEPENDENCIES += nettle xz
else
GIDWAY_CONF_OPTS += -Dprotection=disabled
endif

ifeq ($(BR2_PACKAGE_GIDWAY_WESTON),y)
GIDWAY_CONF_OPTS += -Dweston=enabled
GIDWAY_DEPENDENCIES += host-wayland pixman wayland wayland-protocols weston xxhash
else
GIDWAY_CONF_OPTS += -Dweston=disabled
endif

ifeq ($(BR2_PACKAGE_GIDWAY_WLROOTS),y)
GIDWAY_CONF_OPTS += -Dwlroots=enabled
GIDWAY_DEPENDENCIES += cairo host-wayland inih libdisplay-info libegl libgles libglib2 libseccomp pixman systemd wayland wayland-protocols wlroots xxhash
else
GIDWAY_CONF_OPTS += -Dwlroots=disabled
endif

# As sysusers.d has them, which Buildroot's systemd may be without.
define GIDWAY_USERS
	- - gidway -1 * - - - gidway programs
	gidd -1 gidd -1 * - - gidway gidway daemons
	gid-cluster -1 gid-cluster -1 * - - gidway gidway display
	gid-engine -1 gid-engine -1 * - - gidway gidway 2D engine
endef

define GIDWAY_CONFIGURE
	rm -rf $(TARGET_DIR)/usr/src/gid-dmabuf-$(GIDWAY_VERSION) $(TARGET_DIR)/usr/share/doc/gidway
	$(INSTALL) -D -m 644 $(@D)/gidd/gidway.conf.example $(TARGET_DIR)/etc/gidway/gidway.conf
	$(INSTALL) -D -m 644 $(@D)/packaging/systemd/cluster.conf.example $(TARGET_DIR)/etc/gidway/cluster.conf
	$(INSTALL) -D -m 644 $(@D)/packaging/systemd/engine.conf.example $(TARGET_DIR)/etc/gidway/engine.conf
endef
ifeq ($(BR2_PACKAGE_GIDWAY_DAEMON),y)
GIDWAY_POST_INSTALL_TARGET_HOOKS += GIDWAY_CONFIGURE
endif

$(eval $(meson-package))
