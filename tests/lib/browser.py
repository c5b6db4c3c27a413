# SPDX-License-Identifier: MIT
"""Pages of gidway in a real browser, as wide and as dark as is asked for, and axe to judge them."""

import base64
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import pytest
from gid_vm.folder import cache_home

AXE = "axe-core-python==0.1.0"  # ships axe.min.js, MPL 2.0 Deque Systems

# name, width in CSS pixels, dark
VIEWS = [("wide", 1400, False), ("wide-dark", 1400, True), ("phone", 400, False)]
VIEWS += [("phone-dark", 400, True)]

ARGUMENTS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run", "--disable-dev-shm-usage"),
    "--hide-scrollbars",
)


class Browser:
    """A headless Chromium."""

    def __init__(self, folder: Path) -> None:
        webdriver = pytest.importorskip("selenium.webdriver")
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in (*ARGUMENTS, f"--user-data-dir={folder}"):
            options.add_argument(argument)
        service = webdriver.ChromeService("/usr/bin/chromedriver")
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.set_script_timeout(120)

    def close(self) -> None:
        self.driver.quit()

    def open(self, page: Path, width: int, dark: bool) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get(page.as_uri())

    def run(self, script: str, *arguments: object) -> object:
        return self.driver.execute_script(script, *arguments)

    def shoot(self, to: Path) -> None:
        """A picture of the whole page."""
        height = self.run("return document.documentElement.scrollHeight")
        shot = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot",
            {
                "captureBeyondViewport": True,
                "clip": {
                    **{"x": 0, "y": 0, "scale": 1},
                    "width": self.run("return innerWidth"),
                    "height": min(int(height), 16000),
                },
            },
        )
        to.write_bytes(base64.b64decode(shot["data"]))

    def print_pdf(self, to: Path) -> None:
        """The page as it is printed, in the size that it asks for."""
        found = self.driver.execute_cdp_cmd(
            "Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True}
        )
        to.write_bytes(base64.b64decode(found["data"]))

    def errors(self) -> list[str]:
        """What the page's scripts complained of."""
        return [line["message"] for line in self.driver.get_log("browser")]

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        return self.run("return document.documentElement.scrollWidth - innerWidth")

    def violations(self) -> list[str]:
        """Of WCAG 2.2, level A and AA, as axe finds them."""
        self.run(axe())
        found = self.driver.execute_async_script(
            """const done = arguments[arguments.length - 1];
            const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
            axe.run(document, { runOnly: { type: "tag", values: tags } })
              .then((result) => done(result.violations));"""
        )
        return [
            f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
            for one in found
        ]


@cache
def axe() -> str:
    """The script, out of the Python package that ships it, kept in the cache."""
    kept = cache_home() / "gidway" / "axe" / "axe.min.js"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        _fetch(kept)
    return kept.read_text()


def _fetch(to: Path) -> None:
    with tempfile.TemporaryDirectory(dir=to.parent) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries=1"]
        try:
            subprocess.run([*command, "--dest", folder, AXE], check=True, timeout=120)
            with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
                script = wheel.read("axe_core_python/axe.min.js")
        except (subprocess.SubprocessError, OSError, StopIteration, KeyError) as error:
            pytest.skip(f"axe cannot be fetched, so nobody checks what is accessible: {error}")
        partial = Path(folder) / "axe.min.js"
        partial.write_bytes(script)
        partial.rename(to)
