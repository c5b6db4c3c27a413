# SPDX-License-Identifier: MIT
"""Each example does what it says, and fits on a page."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.program import BUILD, TOP, devenv, wait_for

from lab.domains.configuration import configuration

EXAMPLES = TOP / "examples"
FRAME = re.compile(r"^frame (\d+): \d+ us on its way, first pixel ([0-9a-f]{8})$", re.M)


@pytest.fixture
def cockpit() -> Iterator[Cockpit]:
    cockpit = Cockpit()
    cockpit.start_all()
    cockpit.wait_links()
    yield cockpit
    cockpit.close()


def built(name: str) -> Path:
    return BUILD / "examples" / name


def receive(cockpit: Cockpit, stream: str, frames: int) -> list[tuple[str, str]]:
    """What `consume` in the cluster says of the open domain's stream."""
    command = [built("consume"), "-d", "open", stream, str(frames)]
    consumer = cockpit.run("cluster", command)
    assert consumer.wait() == 0
    return FRAME.findall(consumer.stdout)


def test_a_producer_and_a_consumer_in_either_order(cockpit: Cockpit) -> None:
    producer = cockpit.run("open", [built("produce"), "bar"])
    found = receive(cockpit, "bar", 200)  # the bar comes by once in 80, of which some may be lost
    numbers = [int(number) for number, _ in found]
    assert len(found) == 200 and numbers == sorted(set(numbers))
    assert {pixel for _, pixel in found} == {"ffffcc00", "ff203040"}
    producer.stop()


def test_a_consumer_waits_for_the_next_producer(cockpit: Cockpit) -> None:
    consumer = cockpit.run("cluster", [built("consume"), "-d", "open", "bar"])
    for _ in range(2):
        seen = len(consumer.stdout)
        producer = cockpit.run("open", [built("produce"), "bar"])
        wait_for(lambda seen=seen: len(consumer.stdout) > seen, "it to have more frames")
        producer.stop()
    assert consumer.is_running(), consumer.stderr
    consumer.stop()


def test_a_consumer_of_frames_that_say_they_are_of_the_future(cockpit: Cockpit) -> None:
    restless = BUILD / "tests/hostile/programs/hostile-restless"
    producer = cockpit.run("open", [restless, "dates", "bar", "64", "48"])
    consumer = cockpit.run("cluster", [built("consume"), "-d", "open", "bar", "30"])
    assert consumer.wait() == 0
    late = [int(us) for us in re.findall(r": (\S+) us on its way", consumer.stdout)]
    assert min(late) < 0 and max(map(abs, late)) <= 2**63 // 1000
    producer.stop()


def test_memory_that_exists_already_is_shared(cockpit: Cockpit) -> None:
    exporter = cockpit.run("open", [built("export-dmabuf"), "still", "60"])
    assert {pixel for _, pixel in receive(cockpit, "still", 3)} == {"ff000000"}
    exporter.stop()


def test_a_pipeline_in_python_sends_and_receives(cockpit: Cockpit) -> None:
    script = EXAMPLES / "pipeline.py"
    reader = cockpit.run(
        "cluster", [sys.executable, script, "receive", "-d", "open", "test", "10"], "reader"
    )
    sender = cockpit.run("open", [sys.executable, script, "send", "test", "60"], "sender")
    assert reader.wait() == 0
    assert reader.stdout.count("BGRx 320x240, 307200 bytes") == 10
    sender.stop()


def test_a_pipeline_in_python_ends_by_ctrl_c(cockpit: Cockpit) -> None:
    sender = cockpit.run("open", [sys.executable, EXAMPLES / "pipeline.py", "send", "test"])
    wait_for(lambda: cockpit.status("open")["streams"], "the stream to be there")
    sender.signal(signal.SIGINT)
    assert sender.wait() == -signal.SIGINT


def test_a_consumer_says_why_in_gidds_words(make_cockpit: Callable[[str], Cockpit]) -> None:
    cockpit = make_cockpit(configuration({"open": "", "cluster": ""}, {"open cluster": "bar"}))
    cockpit.start_all()
    for words, why in (
        (["bar"], "which is this program's own: check its name, or name its domain"),
        (["-d", "open", "barr"], "check its name and domain, and streams= of [share]"),
    ):
        reader = cockpit.run("cluster", [built("consume"), *words])
        assert reader.wait() == 1
        assert why in reader.stderr


def test_who_is_used_wrongly_says_how(cockpit: Cockpit) -> None:
    alone = [[name] for name in ("produce", "consume", "export-dmabuf")]
    for name, *words in (*alone, ["produce", "bar", "many"], ["consume", "bar", "x"]):
        program = cockpit.run("open", [built(name), *words], f"{name}-alone")
        assert program.wait() != 0
        assert f"Usage: {name}" in program.stderr


@pytest.mark.parametrize("name", sorted(os.listdir(EXAMPLES)))
def test_an_example_fits_on_a_page_and_begins_with_what_it_is(name: str) -> None:
    if name in ("README.md", "meson.build") or (EXAMPLES / name).is_dir():
        return
    text = (EXAMPLES / name).read_text()
    assert text.count("\n") < 120
    assert "Usage: " in text[:1200]


@pytest.mark.parametrize("name", ["browser/whep.py", "qt/show.cpp", "sdl/show.c"])
def test_one_in_a_folder_fits_on_two_pages(name: str) -> None:
    text = (EXAMPLES / name).read_text()
    assert text.count("\n") < 190
    assert "Usage: " in text[:1200]


@pytest.mark.parametrize("name", ["consume", "export-dmabuf", "produce"])
def test_a_program_of_ones_own_is_built_in_the_shell(name: str, tmp_path: Path) -> None:
    """By the line in its head, and by flags that stand a clone with a space in its path."""
    folder = tmp_path / "my cockpit"
    folder.mkdir()
    source = shutil.copy(EXAMPLES / f"{name}.c", folder)
    (line,) = re.findall(r"^ \* Build: (.*)$", Path(source).read_text(), re.M)
    built = subprocess.run(
        ["sh", "-ec", f"{line} -Wall -Wextra -Werror -Wno-unused-parameter"],
        env=devenv(),
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    usage = subprocess.run([folder / "a.out"], env=devenv(), capture_output=True, text=True)
    assert f"Usage: {name}" in usage.stderr


STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Werror"
COMPILERS = {
    "gcc": ("c11", "c17", "c23"),
    "clang": ("c11", "c17", "c23"),
    "g++": ("c++17", "c++20", "c++23"),
    "clang++": ("c++17", "c++20", "c++23"),
}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_headers_stand_compilers_that_are_strict(compiler: str, tmp_path: Path) -> None:
    """Each by itself. From where a path names them, a program's warnings are of them, too."""
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    language = "c++" if compiler.endswith("++") else "c"
    for header in sorted((TOP / "libgid/include/gid").iterdir()):
        source = tmp_path / "one"
        source.write_text(f"#include <gid/{header.name}>\n")
        for standard in COMPILERS[compiler]:
            words = [compiler, "-x", language, f"-std={standard}", *STRICT.split()]
            done = subprocess.run(
                [*words, "-fsyntax-only", source], env=devenv(), capture_output=True, text=True
            )
            assert done.returncode == 0, f"{standard}: {done.stderr}"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment that knows an installed gidway by pkg-config alone, as from packages."""
    folder = tmp_path_factory.mktemp("installed")
    install = ["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", folder]
    subprocess.run(install, check=True, capture_output=True, timeout=120)
    (file,) = folder.rglob("libgid.pc")
    places = {"PKG_CONFIG_PATH": str(file.parent), "PKG_CONFIG_SYSROOT_DIR": str(folder)}
    return os.environ | places | {"LD_LIBRARY_PATH": str(file.parent.parent)}


def page(language: str) -> str:
    """What docs/own-program.md has users write, in this language."""
    text = (TOP / "docs" / "own-program.md").read_text()
    (block,) = re.findall(rf"^```{language} file=.*?\n(.*?)^```$", text, re.M | re.S)
    return block


BUILD_BY = {
    "cc": (None, "", "cc -o show show.c $(pkg-config --cflags --libs libgid)"),
    "make": ("make", "Makefile", "make"),
    "meson": ("meson", "meson.build", "meson setup b && ninja -C b && mv b/show ."),
    "cmake": ("cmake", "CMakeLists.txt", "cmake -B b && cmake --build b && mv b/show ."),
}


@pytest.mark.parametrize("by", BUILD_BY)
def test_a_program_of_ones_own_is_built_from_an_installation(
    by: str, prefix: dict[str, str], tmp_path: Path
) -> None:
    tool, file, commands = BUILD_BY[by]
    if tool is not None and shutil.which(tool) is None:
        pytest.skip(f"there is no {tool}: ./run shell --with {tool} -- ./run test examples")
    shutil.copy(EXAMPLES / "consume.c", tmp_path / "show.c")
    if file:
        (tmp_path / file).write_text(page(by))
    built = subprocess.run(
        ["sh", "-ec", commands], env=prefix, cwd=tmp_path, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stdout + built.stderr
    usage = subprocess.run([tmp_path / "show"], env=prefix, capture_output=True, text=True)
    assert "Usage: consume" in usage.stderr


OTHERS_PROJECT = """project('cockpit', 'c')
subproject('gidway', default_options: ['auto_features=disabled', 'daemon=enabled', 'tests=false'])
executable('show', 'show.c', dependencies: dependency('libgid'))
"""


@pytest.mark.at_length
def test_a_project_of_ones_own_has_gidway_as_a_part(tmp_path: Path) -> None:
    """As Meson's subproject: the library, and a program that says its version."""
    (tmp_path / "subprojects").mkdir()
    (tmp_path / "subprojects" / "gidway").symlink_to(TOP)
    (tmp_path / "meson.build").write_text(OTHERS_PROJECT)
    shutil.copy(EXAMPLES / "consume.c", tmp_path / "show.c")
    commands = "meson setup b && meson compile -C b show gidd"
    built = subprocess.run(
        ["sh", "-ec", commands], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert built.returncode == 0, built.stdout + built.stderr
    (gidd,) = (path for path in tmp_path.rglob("b/**/gidd") if path.is_file())
    said = subprocess.run([gidd, "--version"], capture_output=True, text=True)
    assert said.stdout.startswith("gidd ")
    usage = subprocess.run([tmp_path / "b/show"], capture_output=True, text=True)
    assert "Usage: consume" in usage.stderr


def test_what_pkg_config_says_in_the_shell_has_no_folder() -> None:
    """A shell splits what pkg-config says at spaces, whatever stands before them."""
    for package in sorted(path.name for path in (BUILD / "meson-uninstalled").iterdir()):
        name = package.removesuffix("-uninstalled.pc")
        words = ["pkg-config", "--cflags", "--libs", name]
        result = subprocess.run(words, env=devenv(), capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        assert f"-l{name.removeprefix('lib')}" in result.stdout.split()
        assert TOP.name not in result.stdout and BUILD.name not in result.stdout
