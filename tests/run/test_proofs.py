# SPDX-License-Identifier: MIT
"""The proofs of tests/proofs: each holds, and refuses its mutants."""

import shutil
import subprocess
from pathlib import Path

import pytest
from lib.program import TOP
from proving import cbmc
from proving.catalog import MUTANTS, PROOFS, SOURCES


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", [proof.name for proof in PROOFS])
def test_a_proof_holds_and_refuses_its_mutants(name: str) -> None:
    if shutil.which("cbmc") is None:
        pytest.skip("there is no CBMC: ./run proofs and ./run assurance bring it")
    result = subprocess.run([TOP / "scripts/proofs", name], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 not as they should be" in result.stdout


def test_each_proof_has_a_mutant() -> None:
    """A proof that nothing can make fail would show nothing."""
    held = {proof.name for proof in PROOFS if not proof.is_refused}
    assert {mutant.proof for mutant in MUTANTS} == held


def test_mutants_are_of_the_sources_as_they_are() -> None:
    for mutant in MUTANTS:
        assert (TOP / mutant.file).read_text().count(mutant.old) == 1, mutant.name
    for proof in PROOFS:
        text = (TOP / "tests/proofs" / proof.file).read_text()
        assert f"\nvoid {proof.function}(void) {{" in text
        assert proof.file in SOURCES


def test_only_the_time_of_a_processor_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many proofs beside other work are no slower proofs."""
    monkeypatch.setattr(cbmc, "PATIENCE", 1)
    assert cbmc._run(tmp_path, "sleep", "1.5").returncode == 0
    with pytest.raises(cbmc.Broken, match="more than 1 s of a processor"):
        cbmc._run(tmp_path, "bash", "-c", "while :; do :; done")
