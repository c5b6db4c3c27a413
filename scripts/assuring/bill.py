# SPDX-License-Identifier: MIT
"""The bill of materials, SPDX 2.3: what scanners of vulnerabilities take."""

import re
from collections.abc import Sequence
from urllib.parse import quote

from assuring.crates import Crate
from assuring.supply import Package, Release


def spdx(
    version: str,
    tree: str,
    created: str,
    release: Release,
    listed: Sequence[Package],
    crates: Sequence[Crate] = (),
) -> dict:
    ours = _package("gidway", version, "MIT AND GPL-2.0-only")
    ours |= {"comment": f"files: {tree}", "primaryPackagePurpose": "APPLICATION"}
    ours["externalRefs"] = [_purl(f"pkg:generic/gidway@{quote(version)}")]
    system = _system(release)
    packages, relations = [ours, system], [_relation("SPDXRef-DOCUMENT", "DESCRIBES", "gidway")]
    for one in listed:
        if one.version:
            packages.append(_debians(one, release))
            relations.append(_relation(system["SPDXID"], "CONTAINS", one.name))
            if one.runs:
                kind = "DYNAMIC_LINK" if one.is_linked else "DEPENDS_ON"
                relations.append(_relation("gidway", kind, one.name))
            else:
                relations.append(_relation(one.name, "DEV_DEPENDENCY_OF", "gidway"))
    for crate in crates:
        packages.append(_crate(crate))
        relations.append(_relation(packages[-1]["SPDXID"], "OPTIONAL_DEPENDENCY_OF", "gidway"))
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"gidway-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/gidway-{version}-{tree}",
        "creationInfo": {"created": created, "creators": ["Tool: gidway-assurance"]},
        "packages": packages,
        "relationships": relations,
    }


def _letters(name: str) -> str:
    """Those that an identifier may have."""
    return re.sub(r"[^A-Za-z0-9.]", "-", name)


def _identifier(name: str) -> str:
    return name if name.startswith("SPDXRef-") else f"SPDXRef-{_letters(name)}"


def _relation(one: str, kind: str, other: str) -> dict:
    return {
        "spdxElementId": _identifier(one),
        "relationshipType": kind,
        "relatedSpdxElement": _identifier(other),
    }


def _package(name: str, version: str, licence: str = "NOASSERTION") -> dict:
    return {
        "SPDXID": _identifier(name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }


def _system(release: Release) -> dict:
    """Scanners know by it whose faults and versions are meant; Trivy by such an identifier."""
    found = _package(release.system, release.number)
    found["SPDXID"] = f"SPDXRef-OperatingSystem-{_letters(release.system)}"
    found["primaryPackagePurpose"] = "OPERATING_SYSTEM"
    if release.system == "debian":
        cpe = f"cpe:2.3:o:debian:debian_linux:{release.number}:*:*:*:*:*:*:*"
        found["externalRefs"] = [_reference("SECURITY", "cpe23Type", cpe)]
    return found


def _debians(one: Package, release: Release) -> dict:
    """Debian's names of licences are not all SPDX's: they are a comment."""
    found = _package(one.name, one.version)
    found["comment"] = one.role
    if one.licences:
        found["licenseComments"] = "by Debian's copyright file: " + "; ".join(one.licences)
    where = {"arch": one.architecture, "distro": f"{release.system}-{release.number}"}
    if one.source:
        found["sourceInfo"] = f"built package from: {one.source} {one.source_version}"
        where["upstream"] = f"{one.source}@{one.source_version}"
    words = "&".join(f"{key}={quote(value, safe='')}" for key, value in where.items() if value)
    name = f"pkg:deb/{release.system}/{quote(one.name)}@{quote(one.version)}?{words}"
    found["externalRefs"] = [_purl(name)]
    if one.source and release.system == "debian":
        found["externalRefs"].append(_reference("SECURITY", "advisory", one.tracker))
    return found


def _crate(one: Crate) -> dict:
    found = _package(one.name, one.version)
    found["SPDXID"] = f"SPDXRef-Crate-{_letters(one.name)}-{_letters(one.version)}"
    found["comment"] = "for who uses or builds the crates of rust/"
    found["checksums"] = [{"algorithm": "SHA256", "checksumValue": one.sha256}]
    found["externalRefs"] = [_purl(f"pkg:cargo/{quote(one.name)}@{quote(one.version)}")]
    return found


def _purl(name: str) -> dict:
    return _reference("PACKAGE-MANAGER", "purl", name)


def _reference(category: str, kind: str, locator: str) -> dict:
    return {
        "referenceCategory": category,
        "referenceType": kind,
        "referenceLocator": locator,
    }
