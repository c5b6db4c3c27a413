# SPDX-License-Identifier: MIT
"""Other libraries with the arrays of frames, where Debian's packages of them are installed."""

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType

import gid
import numpy as np
import pytest
from lib.cockpit import Cockpit
from lib.pipeline import LEASE, LOSSLESS, Pipeline, gst_env, make_registry
from lib.program import TOP, wait_for
from pairs import LEASE as SECONDS

EXAMPLES = TOP / "examples"
WIDTH, HEIGHT = 66, 48  # of which rows are padded
PACKAGES = {"cv2": "python3-opencv", "av": "python3-av", "torch": "python3-torch"}


def need(name: str) -> ModuleType:
    return pytest.importorskip(
        name, reason=f"needs more: ./run shell --with {PACKAGES[name]} -- ./run test python"
    )


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).integers(16, 236, shape, np.uint8)


Domains = tuple[gid.Domain, gid.Domain]


def make_pair(domains: Domains, pixels: str) -> tuple[gid.Producer, gid.Consumer]:
    sends, reads = domains
    producer = sends.producer("test", pixels, WIDTH, HEIGHT, slots=4, lease=SECONDS)
    consumer = reads.consumer("test", sends.name)
    wait_for(lambda: producer.consumers, "the consumer to have subscribed")
    return producer, consumer


def test_opencv_reads_a_picture_where_it_lies(domains: Domains) -> None:
    cv2 = need("cv2")
    producer, consumer = make_pair(domains, "XR24")
    pixels = noise(HEIGHT, WIDTH, 4)
    producer.submit(pixels)
    with consumer.frame(SECONDS) as picture:
        assert picture.strides[0] > WIDTH * 4
        for change in (
            lambda a: cv2.cvtColor(a, cv2.COLOR_BGRA2GRAY),
            lambda a: cv2.resize(a, (20, 20)),
            lambda a: cv2.GaussianBlur(a[5:20, 3:30], (3, 3), 1),
            lambda a: cv2.UMat(a).get(),
            lambda a: cv2.imencode(".png", a)[1],
        ):
            assert np.array_equal(change(picture), change(pixels))


def test_opencv_reads_the_planes_of_nv12(domains: Domains) -> None:
    cv2 = need("cv2")
    producer, consumer = make_pair(domains, "NV12")
    planes = noise(HEIGHT * 3 // 2, WIDTH)
    with producer.slot() as (luma, chroma):
        luma[...], chroma[...] = planes[:HEIGHT], planes[HEIGHT:].reshape(chroma.shape)
    with consumer.frame(SECONDS) as (luma, chroma):
        shown = cv2.cvtColorTwoPlane(luma, chroma, cv2.COLOR_YUV2BGR_NV12)
        assert np.array_equal(shown, cv2.cvtColor(planes, cv2.COLOR_YUV2BGR_NV12))


def test_opencv_draws_into_slots_only(domains: Domains) -> None:
    cv2 = need("cv2")
    producer, consumer = make_pair(domains, "XR24")
    pixels = noise(HEIGHT, WIDTH, 4)
    producer.submit(pixels)
    with consumer.frame(SECONDS) as picture:
        with pytest.raises(cv2.error, match="readonly"):
            cv2.line(picture, (0, 0), (9, 9), (1, 2, 3, 4))
        with producer.slot() as mine:
            assert cv2.flip(picture, 1, dst=mine) is mine
    with consumer.frame(SECONDS) as picture:
        assert np.array_equal(picture, pixels[:, ::-1])


def test_opencv_takes_pipelines(cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch) -> None:
    """VideoCapture and VideoWriter with our elements: no frame is lost on either way."""
    cv2 = need("cv2")
    for name, value in gst_env(cockpit.env("cluster"), make_registry()).items():
        monkeypatch.setenv(name, value)
    film = "videotestsrc num-buffers=60 ! video/x-raw,format=BGRx,width=320,height=240"
    sender = Pipeline(cockpit, "open", f"{film} ! gidsink stream=movie {LEASE} {LOSSLESS}")
    source = "gidsrc domain=open stream=movie is-live=false ! videoconvert"
    capture = cv2.VideoCapture(f"{source} ! video/x-raw,format=BGR ! appsink", cv2.CAP_GSTREAMER)
    count = 0
    while capture.read()[0]:
        count += 1
    assert count == 60
    sender.finish()
    reader = Pipeline(
        cockpit,
        "open",
        "gidsrc domain=cluster stream=back is-live=false ! fakesink name=watch sync=false",
    )
    sink = f"videoconvert ! video/x-raw,format=BGRx ! gidsink stream=back {LEASE} {LOSSLESS}"
    writer = cv2.VideoWriter(f"appsrc ! {sink}", cv2.CAP_GSTREAMER, 0, 30.0, (320, 240))
    for value in range(20):
        writer.write(np.full((240, 320, 3), value, np.uint8))
    writer.release()
    assert len(set(reader.finish().sums)) == len(reader.sums) == 20


def test_pyav_encodes_and_decodes(domains: Domains, tmp_path: Path) -> None:
    """A film without loss: what comes out of it is what was read."""
    av = need("av")
    producer, consumer = make_pair(domains, "XR24")
    path, sent = tmp_path / "film.mkv", [noise(HEIGHT, WIDTH, 4) // (i + 1) for i in range(10)]
    with av.open(str(path), "w") as film:
        track = film.add_stream("ffv1", rate=30)
        track.width, track.height, track.pix_fmt = WIDTH, HEIGHT, "bgr0"
        for number, pixels in enumerate(sent):
            producer.submit(pixels)
            with consumer.frame(SECONDS) as picture:
                shown = av.VideoFrame.from_ndarray(picture, format="bgra").reformat(format="bgr0")
            shown.pts = number
            film.mux(track.encode(shown))
        film.mux(track.encode())
    decoded = 0
    with av.open(str(path)) as film:
        for shown, pixels in zip(film.decode(video=0), sent, strict=True):
            producer.submit(shown.reformat(format="bgra").to_ndarray())
            with consumer.frame(SECONDS) as picture:
                assert np.array_equal(picture[..., :3], pixels[..., :3])
            decoded += 1
    assert decoded == 10


def test_torch_shares_the_memory(domains: Domains) -> None:
    """It has no tensors that cannot be written, and says so."""
    torch = need("torch")
    producer, consumer = make_pair(domains, "R8")
    with producer.slot() as mine:
        torch.from_numpy(mine)[...] = torch.arange(WIDTH, dtype=torch.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with consumer.frame(SECONDS) as picture:
            tensor = torch.from_numpy(picture)
            assert tensor.data_ptr() == picture.ctypes.data
            assert tensor[HEIGHT - 1].tolist() == list(range(WIDTH))


# --- the examples that take them ---


def camera(cockpit: Cockpit) -> Pipeline:
    source = "videotestsrc is-live=true pattern=ball ! video/x-raw,format=BGRx,width=320,height=240"
    return Pipeline(cockpit, "open", f"{source} ! gidsink stream=camera lease=60000")


def test_an_example_finds_edges(cockpit: Cockpit) -> None:
    need("cv2")
    camera(cockpit)
    command = [sys.executable, EXAMPLES / "opencv" / "edges.py", "open", "camera", "edges"]
    program = cockpit.run("cluster", command)
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        frame = domain.consumer("edges", "cluster").frame(SECONDS)
        with frame as picture:
            assert picture.shape == (240, 320)
            assert 20 < np.count_nonzero(picture == 255) < 500  # a ring
    program.signal(signal.SIGINT)
    program.wait()


def test_an_example_makes_a_film(cockpit: Cockpit, tmp_path: Path) -> None:
    av = need("av")
    camera(cockpit)
    path = tmp_path / "film.mkv"
    command = [sys.executable, EXAMPLES / "pyav" / "film.py", "open", "camera", "30", str(path)]
    done = subprocess.run(
        command, env=os.environ | cockpit.env("cluster"), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    with av.open(str(path)) as film:
        shown = [frame.to_ndarray(format="gray") for frame in film.decode(video=0)]
    assert len(shown) == 30 and len({picture.tobytes() for picture in shown}) > 10
    assert all(0.005 < (picture > 128).mean() < 0.2 for picture in shown)  # the ball
