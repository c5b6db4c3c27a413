// SPDX-License-Identifier: MIT
/*
 * Shows a stream in a window, by Qt: an image is the memory that the producer wrote, and is painted
 * from there. The loop of Qt watches both descriptors. It waits for the stream, and again when it
 * goes.
 *
 * Usage: show [-d DOMAIN] STREAM. DOMAIN is whose stream it is (default: our own).
 *
 * Build: cmake -B build && cmake --build build
 */
#include <QtWidgets>

#include <cerrno>
#include <cstdio>
#include <drm_fourcc.h>
#include <gid/stream.h>

static QImage::Format find_format(const gid_layout &layout) {
	if (layout.modifier != DRM_FORMAT_MOD_LINEAR) {
		return QImage::Format_Invalid;
	}
	switch (layout.fourcc) {
	case DRM_FORMAT_XRGB8888:
		return QImage::Format_RGB32;
	case DRM_FORMAT_ARGB8888:
		return QImage::Format_ARGB32_Premultiplied;
	case DRM_FORMAT_XBGR8888:
		return QImage::Format_RGBX8888;
	case DRM_FORMAT_RGB888: /* B, G, R in memory */
		return QImage::Format_BGR888;
	case DRM_FORMAT_BGR888:
		return QImage::Format_RGB888;
	case DRM_FORMAT_R8:
		return QImage::Format_Grayscale8;
	default: /* YUV: have `gidsrc ! videoconvert ! gidsink` make another one */
		return QImage::Format_Invalid;
	}
}

class View : public QWidget {
public:
	View(gid_domain *domain, const char *owner, const char *stream) : domain(domain) {
		gid_consumer_options options = {};
		options.size = sizeof(options);
		options.drop_old = options.reconnect = true;
		error = gid_consumer_create(domain, owner, stream, &options, &consumer);
		if (error < 0) {
			return;
		}
		for (int fd : {gid_domain_get_fd(domain), gid_consumer_get_fd(consumer)}) {
			auto *notifier = new QSocketNotifier(fd, QSocketNotifier::Read, this);
			connect(notifier, &QSocketNotifier::activated, this, [this] { hear(); });
		}
		hear();
	}

	~View() override {
		let_go();
		gid_consumer_destroy(consumer);
	}

	int error = 0;

private:
	/* Both descriptors are asked for all that there is. */
	void hear() {
		gid_frame frame;
		gid_domain_dispatch(domain);
		while ((error = gid_consumer_receive(consumer, &frame)) == 1) {
			if (frame.gid == GID_NONE || !take(frame)) {
				gid_consumer_release(consumer, &frame);
			}
		}
		/* None is there now, or nobody sends: both may come. */
		error = error == -EAGAIN ? 0 : error;
		if (error < 0) {
			QCoreApplication::exit(EXIT_FAILURE);
		}
	}

	/* Holds the picture until the next one is there. */
	bool take(const gid_frame &frame) {
		gid_slab *next;
		gid_slab_info info;
		if (gid_slab_import(domain, frame.gid, &next) < 0) {
			return false;
		}
		gid_slab_get_info(next, &info);
		const gid_layout &layout = info.layout;
		const uchar *slot = nullptr;
		gid_box seen = {};
		if (gid_layout_check(&layout, info.slot_size) == 0 &&
				find_format(layout) != QImage::Format_Invalid &&
				gid_box_get_seen(frame.crop, layout.width, layout.height, &seen)) {
			slot = static_cast<const uchar *>(
					gid_slab_view(next, gid_slot_of(frame.gid)));
		}
		if (slot == nullptr) {
			fprintf(stderr, "show: a picture is left out: its format or crop is none of ours\n");
			gid_slab_unref(next);
			return false;
		}
		let_go();
		slab = next;
		held = frame;
		image = QImage(slot + layout.planes[0].offset, int(layout.width), int(layout.height),
				layout.planes[0].stride, find_format(layout));
		shown = QRect(seen.x, seen.y, seen.width, seen.height);
		if (!isVisible()) {
			resize(shown.size());
			show();
		}
		update();
		return true;
	}

	void let_go() {
		if (slab != nullptr) {
			image = QImage();
			gid_slab_unref(slab);
			gid_consumer_release(consumer, &held);
			slab = nullptr;
		}
	}

	/* Not what was taken back since: it may be another picture by now. */
	void paintEvent(QPaintEvent *) override {
		if (slab != nullptr && gid_slab_is_current(slab, held.gid)) {
			QPainter(this).drawImage(rect(), image, shown);
		}
	}

	gid_domain *domain;
	gid_consumer *consumer = nullptr;
	gid_slab *slab = nullptr; /* with the picture that is shown */
	gid_frame held;
	QImage image;
	QRect shown; /* of the image */
};

int main(int argc, char **argv) {
	QApplication application(argc, argv);
	QStringList words = application.arguments().mid(1);
	QByteArray owner;
	if (words.size() == 3 && words.takeFirst() == "-d") {
		owner = words.takeFirst().toUtf8();
	}
	gid_domain *domain;
	if (words.size() != 1) {
		fprintf(stderr, "Usage: show [-d DOMAIN] STREAM\n");
		return EXIT_FAILURE;
	}
	if (gid_domain_connect(nullptr, &domain) < 0) {
		fprintf(stderr, "show: %s\n", gid_domain_connect_error());
		return EXIT_FAILURE;
	}
	int status = EXIT_FAILURE;
	{
		View view(domain, owner.isEmpty() ? nullptr : owner.constData(),
				words[0].toUtf8().constData());
		if (view.error >= 0) {
			status = application.exec();
		}
		if (view.error < 0) {
			const char *why = gid_domain_error(domain); // gidd's own words, or none
			fprintf(stderr, "show: %s\n",
					why[0] != '\0' ? why : gid_strerror(view.error));
		}
	}
	gid_domain_destroy(domain);
	return status;
}
