# SPDX-License-Identifier: MIT
"""Writes assurance.html, assurance.pdf, assurance.json and sbom.spdx.json."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from assuring.bill import spdx
from assuring.evidence import Evidence
from assuring.kit import FAULTS, MISHAPS
from assuring.verdicts import Row


def as_json(found: Evidence) -> dict:
    about, verdicts = found.about, found.verdicts
    looked_at = found.stacks["programs"] if found.stacks is not None else []
    return {
        "version": about.version,
        "files": about.tree,
        "when": about.when,
        "results": about.results,
        "seconds": round(about.seconds, 1),
        "requirements": len(verdicts.requirements),
        "failures": len(verdicts.failures),
        "assumptions": len(verdicts.assumptions),
        "rules": len(verdicts.rules),
        "red": sum(found.red.values()),
        "red_by": found.red,
        "not_looked_at": found.not_looked_at,
        "passed_only_alone": verdicts.only_alone,
        "recursions": sum(len(one["recursions"]) for one in looked_at) if looked_at else None,
        "stack_bytes": {
            f"{one['program']} {thread['function']}": {
                "needs": thread["needs"],
                "has": thread["has"],
            }
            for one in looked_at
            for thread in one["threads"]
        },
        "coverage": found.coverage["sets"] if found.coverage is not None else None,
        "light_ms": None
        if found.lights is None
        else {light.role: light.total for light in found.lights},
        "detected_of_a_million": found.detected,
        "calls_after_seal": found.calls,
    }


def grouped(rows: Sequence[Row], by: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(getattr(row.item, by), []).append(row)
    return groups


def page(found: Evidence) -> str:
    import jinja2  # here, for --help is shown where nothing is installed

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    verdicts = found.verdicts
    return environment.get_template("report.html.j2").render(
        found=found,
        about=found.about,
        verdicts=verdicts,
        chapters=grouped(verdicts.requirements, "chapter"),
        interfaces=verdicts.kit.interfaces,
        parts=verdicts.kit.parts,
        failures=grouped(verdicts.failures, "at"),
        faults=FAULTS,
        mishaps=MISHAPS,
    )


def write(out: Path, found: Evidence) -> list[Path]:
    """The files that were written; the PDF only where a browser can make it."""
    out.mkdir(parents=True, exist_ok=True)
    html, pdf = out / "assurance.html", out / "assurance.pdf"
    html.write_text(page(found), encoding="utf-8")
    summary, bill = out / "assurance.json", out / "sbom.spdx.json"
    summary.write_text(json.dumps(as_json(found), indent=2) + "\n", encoding="utf-8")
    about = found.about
    bom = spdx(
        *(about.version, about.tree, about.when, about.release),
        found.packages,
        found.crates,
    )
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
