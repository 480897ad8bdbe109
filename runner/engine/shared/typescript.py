"""TypeScript runs as JavaScript, without its types: Node.js takes them out of files of another name only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.request import Language

if TYPE_CHECKING:
    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.risk.worker.assessor import Assessor

TYPESCRIPT = "request.typescript"
"""Id of the finding that says that code is TypeScript."""


async def runnable(assessor: Assessor, request: Request, assessment: Assessment | None, agent: str) -> str:
    """Return the code of `request` as it is run. Parsed for `agent`, in a process of the classifier."""
    findings = assessment.findings if assessment is not None else ()
    if request.language is Language.JAVASCRIPT and any(finding.id == TYPESCRIPT for finding in findings):
        return await assessor.without_types(request.code, agent=agent)
    return request.code
