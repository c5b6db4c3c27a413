# SPDX-License-Identifier: MIT
"""Writes assurance.html, assurance.pdf, assurance.json and sbom.spdx.json."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assuring.detected import A_MILLION
from assuring.kit import FAULTS
from assuring.supply import Package, Program, spdx
from assuring.verdicts import Row, Verdicts


@dataclass(frozen=True)
class About:
    version: str
    tree: str
    when: str  # UTC
    seconds: float
    is_quick: bool
    calls: dict | None = None  # what the test of the sealed phase counted; None: it did not


def red_of(
    verdicts: Verdicts,
    programs: Sequence[Program],
    stacks: dict | None,
    detected: dict[str, int] | None,
) -> dict[str, int]:
    return verdicts.red | {
        "faults on the way that are not seen": (
            1 if detected is None else sum(A_MILLION - seen for seen in detected.values())
        ),
        "programs that lack hardening": sum(bool(one.lacks) for one in programs),
        "stacks that are not bounded": 1 if stacks is None else len(stacks["problems"]),
    }


def as_json(
    verdicts: Verdicts,
    programs: Sequence[Program],
    stacks: dict | None,
    detected: dict[str, int] | None,
    about: About,
) -> dict:
    """`stacks`: what `./run stack --json` wrote; `detected`: of a million faults, by each profile.

    None: not of these files.
    """
    red = red_of(verdicts, programs, stacks, detected)
    looked_at = stacks["programs"] if stacks is not None else []
    return {
        "version": about.version,
        "files": about.tree,
        "when": about.when,
        "results": "those that were there" if about.is_quick else "those of this run",
        "seconds": round(about.seconds, 1),
        "requirements": len(verdicts.requirements),
        "failures": len(verdicts.failures),
        "assumptions": len(verdicts.assumptions),
        "red": sum(red.values()),
        "red_by": red,
        "recursions": sum(len(one["recursions"]) for one in looked_at) if looked_at else None,
        "stack_bytes": {
            f"{one['program']} {thread['function']}": {
                "needs": thread["needs"],
                "has": thread["has"],
            }
            for one in looked_at
            for thread in one["threads"]
        },
        "detected_of_a_million": detected,
        "calls_after_seal": about.calls,
    }


def grouped(rows: Sequence[Row], by: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(getattr(row.item, by), []).append(row)
    return groups


def page(
    verdicts: Verdicts,
    programs: Sequence[Program],
    packages: Sequence[Package],
    stacks: dict | None,
    detected: dict[str, int] | None,
    about: About,
) -> str:
    import jinja2  # here, for --help is shown where nothing is installed

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("report.html.j2").render(
        about=about,
        red=red_of(verdicts, programs, stacks, detected),
        stacks=stacks,
        detected=detected,
        verdicts=verdicts,
        chapters=grouped(verdicts.requirements, "chapter"),
        interfaces=verdicts.kit.interfaces,
        failures=grouped(verdicts.failures, "at"),
        faults=FAULTS,
        programs=programs,
        packages=packages,
    )


def write(
    out: Path,
    verdicts: Verdicts,
    programs: Sequence[Program],
    packages: Sequence[Package],
    stacks: dict | None,
    detected: dict[str, int] | None,
    about: About,
) -> list[Path]:
    """The files that were written; the PDF only where a browser can make it."""
    out.mkdir(parents=True, exist_ok=True)
    html, pdf = out / "assurance.html", out / "assurance.pdf"
    html.write_text(page(verdicts, programs, packages, stacks, detected, about), encoding="utf-8")
    summary, bill = out / "assurance.json", out / "sbom.spdx.json"
    figures = as_json(verdicts, programs, stacks, detected, about)
    summary.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    bom = spdx(about.version, about.tree, about.when, list(packages))
    bill.write_text(json.dumps(bom, indent=2) + "\n", encoding="utf-8")
    pdf.unlink(missing_ok=True)
    _print_pdf(html, pdf)
    return [path for path in (html, pdf, summary, bill) if path.exists()]


def _print_pdf(html: Path, pdf: Path) -> None:
    if shutil.which("chromium") is None:
        return
    with tempfile.TemporaryDirectory(prefix="gid-", ignore_cleanup_errors=True) as profile:
        command = [
            *("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-background-networking", "--disable-dev-shm-usage"),
            *(f"--user-data-dir={profile}", "--no-pdf-header-footer"),
            *(f"--print-to-pdf={pdf.resolve()}", html.resolve().as_uri()),
        ]
        try:
            subprocess.run(command, capture_output=True, timeout=300)
        except subprocess.TimeoutExpired:
            pass  # a machine that is busy: there is no PDF, and the caller says so
