# SPDX-License-Identifier: MIT
"""Watches by WHEP, as a player does: watch_whep.py URL. Writes what is in the middle of the four
quarters of each picture: "WIDTHxHEIGHT R,G,B R,G,B R,G,B R,G,B".
"""

import sys
import threading
import urllib.request

import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import Gst, GstApp, GstSdp, GstWebRTC  # noqa: E402, F401

DECODE = (
    "rtpvp8depay ! vp8dec ! videoconvert ! video/x-raw,format=RGB ! appsink name=sink sync=false"
)
VP8 = "application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000,payload=100"


def ask(peer: Gst.Element, what: str, about: object) -> Gst.Structure | None:
    """The reply, which has to be kept for as long as what is in it is used."""
    promise = Gst.Promise.new()
    peer.emit(what, about, promise)
    promise.wait()
    return promise.get_reply()


def main() -> None:
    Gst.init(None)
    gathered, decoders = threading.Event(), []
    there = threading.Event()
    pipeline = Gst.Pipeline()
    peer = Gst.ElementFactory.make("webrtcbin")
    peer.set_property("bundle-policy", "max-bundle")
    pipeline.add(peer)

    def look(peer: Gst.Element, _: object) -> None:
        state = peer.get_property("ice-gathering-state")
        if state == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            gathered.set()

    def decode(peer: Gst.Element, pad: Gst.Pad) -> None:
        decoder = Gst.parse_bin_from_description(DECODE, True)
        pipeline.add(decoder)
        decoder.sync_state_with_parent()
        pad.link(decoder.get_static_pad("sink"))
        decoders.append(decoder)
        there.set()

    peer.connect("notify::ice-gathering-state", look)
    peer.connect("pad-added", decode)
    direction = GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY
    peer.emit("add-transceiver", direction, Gst.Caps.from_string(VP8))
    pipeline.set_state(Gst.State.PLAYING)
    reply = ask(peer, "create-offer", None)
    ask(peer, "set-local-description", reply.get_value("offer"))
    gathered.wait()
    text = peer.get_property("local-description").sdp.as_text()
    headers = {"Content-Type": "application/sdp"}
    request = urllib.request.Request(sys.argv[1], text.encode(), headers)
    with urllib.request.urlopen(request) as answered:
        assert answered.status == 201
        _, message = GstSdp.SDPMessage.new_from_text(answered.read().decode())
        print(answered.headers["Location"], flush=True)
    kind = GstWebRTC.WebRTCSDPType.ANSWER
    ask(peer, "set-remote-description", GstWebRTC.WebRTCSessionDescription.new(kind, message))
    there.wait()
    sink = decoders[0].get_by_name("sink")
    while (sample := sink.pull_sample()) is not None:
        size = sample.get_caps().get_structure(0)
        width, height = size.get_value("width"), size.get_value("height")
        buffer = sample.get_buffer()
        pixels = np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.uint8)
        picture = pixels.reshape(height, -1)[:, : width * 3].reshape(height, width, 3)
        quarters = picture[height // 4 :: height // 2, width // 4 :: width // 2]
        colours = (",".join(map(str, pixel)) for pixel in quarters.reshape(-1, 3))
        print(f"{width}x{height}", *colours, flush=True)


if __name__ == "__main__":
    main()
