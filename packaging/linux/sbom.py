"""Writes the list of what the package holds (SBOM, CycloneDX 1.6): every wheel, the interpreter, Qt, with licences.

Usage: sbom.py TREE FILE. What stands in it follows from the files in TREE alone, so that two builds are the same.
"""

from __future__ import annotations

import sys
import uuid
from importlib.metadata import Distribution, distributions
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

NAMESPACE = uuid.UUID("9d3e5a2c-51a5-4d0b-9c60-2f2f8f6f6f6c")
"""Of the serial numbers, which follow from the content."""


def main(tree: Path, file: Path) -> None:
    """Write the list of `tree` to `file`."""
    licences = LicenseFactory()
    found = sorted(distributions(path=[str(tree / "app")]), key=lambda one: one.metadata["Name"].lower())
    components = [_component(one, licences) for one in found if one.metadata["Name"] != "assent"]
    own = next(one for one in found if one.metadata["Name"] == "assent")
    interpreter = (tree / "python/licenses/python.version").read_text("ascii").strip()
    components.append(
        Component(
            name="python",
            version=interpreter,
            type=ComponentType.APPLICATION,
            purl=PackageURL("deb", "debian", "python3-minimal", interpreter),
            bom_ref="python",
            licenses=[licences.make_from_string("PSF-2.0")],
        )
    )
    bom = Bom(components=components)
    bom.metadata.component = Component(
        name="assent", version=own.version, type=ComponentType.APPLICATION, bom_ref="assent",
        licenses=[licences.make_from_string("Apache-2.0")],
    )  # fmt: skip
    bom.serial_number = uuid.uuid5(NAMESPACE, " ".join(f"{one.name}={one.version}" for one in components))
    bom.metadata.timestamp = None  # type: ignore[assignment] # no time of the build: two are the same
    file.write_text(JsonV1Dot6(bom).output_as_string(indent=1) + "\n", "utf-8")


def _component(one: Distribution, licences: LicenseFactory) -> Component:
    name = one.metadata["Name"]
    said = one.metadata.get("License-Expression") or one.metadata.get("License") or ""
    return Component(
        name=name,
        version=one.version,
        type=ComponentType.LIBRARY,
        purl=PackageURL("pypi", None, name.lower(), one.version),
        bom_ref=name.lower(),
        # Some have the whole text where the name of a licence belongs; it stands in the package's copyright file.
        licenses=[licences.make_from_string(said)] if said and len(said) < 100 else [],
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
