#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows a stream in browsers, by WebRTC: a page, and WHEP for it and for other players.

Usage: whep.py [-d DOMAIN] [--listen ADDRESS] [--port PORT] STREAM

Then open http://127.0.0.1:8889/ or give http://127.0.0.1:8889/whep to a player. Everybody who can
reach the address can watch. Each viewer is a reader of the stream, with an encoder of its own.
"""

import argparse
import itertools
import re
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import gi

try:
    gi.require_versions({"Gst": "1.0", "GstSdp": "1.0", "GstWebRTC": "1.0"})
except ValueError as error:
    sys.exit(f"whep.py: {error}: install gir1.2-gst-plugins-bad-1.0 and gstreamer1.0-nice")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

VIEWERS_MAX = 8
OFFER_MAX = 1 << 16  # bytes
GATHER = 5.0  # s: how long the addresses of this machine may take
ENCODER = "vp8enc deadline=1 cpu-used=8 target-bitrate=4000000 end-usage=cbr keyframe-max-dist=60"
State = GstWebRTC.WebRTCPeerConnectionState
OVER = (State.DISCONNECTED, State.FAILED, State.CLOSED)


class Viewer:
    """A pipeline from the stream to one browser, which expects this type of payload."""

    def __init__(self, source: str, payload: int) -> None:
        rtp = f"application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000,payload={payload}"
        self.pipeline = Gst.parse_launch(
            f"{source} ! videoconvert ! video/x-raw,format=I420 ! {ENCODER} ! rtpvp8pay ! {rtp} "
            "! webrtcbin name=peer bundle-policy=max-bundle"
        )
        self.peer = self.pipeline.get_by_name("peer")
        self.gathered = threading.Event()
        self.peer.connect("notify::ice-gathering-state", self.look)
        self.pipeline.set_state(Gst.State.PLAYING)

    def look(self, peer: Gst.Element, _: object) -> None:
        state = peer.get_property("ice-gathering-state")
        if state == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            self.gathered.set()

    def ask(self, what: str, about: object) -> Gst.Structure | None:
        """The reply, which has to be kept for as long as what is in it is used."""
        promise = Gst.Promise.new()
        self.peer.emit(what, about, promise)
        promise.wait()
        return promise.get_reply()

    def answer(self, message: GstSdp.SDPMessage) -> str:
        """What the browser is told: with all addresses at once, as WHEP wants it."""
        offer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.OFFER, message)
        self.ask("set-remote-description", offer)
        reply = self.ask("create-answer", None)
        answer = None if reply is None else reply.get_value("answer")
        if answer is None:
            raise ValueError("there is no answer to this offer")
        self.ask("set-local-description", answer)
        self.gathered.wait(GATHER)
        return self.peer.get_property("local-description").sdp.as_text()


class Server(ThreadingHTTPServer):
    def __init__(self, address: tuple[str, int], source: str) -> None:
        super().__init__(address, Handler)
        self.source, self.numbers = source, itertools.count(1)
        self.viewers: dict[str, Viewer] = {}  # by their paths
        self.adding = threading.Lock()

    def add(self, offer: str) -> tuple[str, str]:
        """A viewer's path, and the answer. ValueError: why there is none."""
        payload = re.search(r"^a=rtpmap:(\d{1,3}) VP8/90000\r?$", offer, re.M)
        result, message = GstSdp.SDPMessage.new_from_text(offer)
        if payload is None or result != GstSdp.SDPResult.OK or message.medias_len() == 0:
            raise ValueError("this is no offer to receive VP8")
        with self.adding:
            if len(self.viewers) >= VIEWERS_MAX:
                raise ValueError("there are too many viewers")
            path = f"/whep/{next(self.numbers)}"
            self.viewers[path] = viewer = Viewer(self.source, int(payload[1]))
        try:
            return path, viewer.answer(message)
        except ValueError:
            self.remove(path)
            raise

    def remove(self, path: str) -> bool:
        viewer = self.viewers.pop(path, None)
        if viewer is not None:
            viewer.pipeline.set_state(Gst.State.NULL)
        return viewer is not None

    def sweep(self) -> bool:
        """Viewers that went without a word."""
        for path, viewer in [*self.viewers.items()]:
            if viewer.peer.get_property("connection-state") in OVER:
                self.remove(path)
        return True


def is_address(host: str) -> bool:
    """Not a name: any page's could mean this machine (DNS rebinding), and its scripts watch."""
    return bool(re.fullmatch(r"(localhost|[\d.]+|\[[\da-fA-F:.]+\])(:\d+)?", host))


class Handler(BaseHTTPRequestHandler):
    timeout = 10  # s

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        good = is_address(self.headers.get("Host", ""))
        if not good:
            self.reply(403, "this server is asked by its address, and by no other name")
        return good

    def reply(self, status: int, body: str, kind: str = "text/plain", path: str = "/") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.send_header("Location", path)
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self) -> None:
        if self.path == "/":
            self.reply(200, Path(__file__).with_name("index.html").read_text(), "text/html")
        else:
            self.reply(404, "the page is /")

    def do_POST(self) -> None:
        size = self.headers.get("Content-Length", "")
        if self.path != "/whep" or self.headers.get_content_type() != "application/sdp":
            self.reply(404, "offers are sent to /whep, as application/sdp")
        elif not size.isdecimal() or int(size) > OFFER_MAX:
            self.reply(413, "the offer is too long")
        else:
            try:
                path, answer = self.server.add(self.rfile.read(int(size)).decode())
            except ValueError as error:
                self.reply(400, str(error))
            else:
                self.reply(201, answer, "application/sdp", path)

    def do_DELETE(self) -> None:
        gone = self.server.remove(self.path)
        self.reply(200 if gone else 404, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-d", "--domain", help="whose stream it is (default: our own)")
    parser.add_argument("--listen", default="127.0.0.1", help="default: %(default)s")
    parser.add_argument("--port", type=int, default=8889, help="default: %(default)s")
    parser.add_argument("stream")
    given = parser.parse_args()
    Gst.init(None)
    if not Gst.ElementFactory.find("nicesrc"):
        sys.exit("whep.py: GStreamer has no nicesrc: install gstreamer1.0-nice")
    owner = f"domain={given.domain}" if given.domain else ""
    try:
        server = Server((given.listen, given.port), f"gidsrc {owner} stream={given.stream}")
    except OSError as error:  # as where another one has the port
        sys.exit(f"whep.py: {given.listen}:{given.port}: {error.strerror}: try another --port")
    print(f"http://{given.listen}:{server.server_port}/ shows {given.stream}", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    GLib.timeout_add_seconds(1, server.sweep)
    loop = GLib.MainLoop()
    for number in (signal.SIGINT, signal.SIGTERM):
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, loop.quit)
    loop.run()
    for path in [*server.viewers]:
        server.remove(path)


if __name__ == "__main__":
    main()
