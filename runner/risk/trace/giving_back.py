"""Functions that give back what they are given, in another form: a secret stays one through them, and no others."""

from __future__ import annotations

from functools import lru_cache

from runner.model.expression import expression
from runner.risk.model.outline_data import words
from runner.risk.trace.shown import secrets

FORMS = expression(
    r"(?i)encode|decode|dump|stringif|format|compress|deflate|crypt|quote|escape|hexlify|b64|base64|btoa|atob|inspect"
    r"|join|concat|copy|clone|replace|strip(?!e)|trim|split|slice|serializ|parse|loads|pack|stringio|bytesio|mime|blob"
    r"|formdata|params|buffer|gzip|lower|upper|reverse|shuffle"
)
"""What the names of functions have in them that change only how something is written or held."""
HOLDERS = words(
    "str repr bytes bytearray list tuple dict set frozenset sorted reversed map filter zip iter next enumerate max min "
    "String Array Object Map Set from of assign entries values items keys append push add update setdefault get_or "
    "Request URL Headers File Message EmailMessage Promise resolve all race partial call apply bind Namespace "
    "fromEntries freeze chain islice tee getattr vars namedtuple attachment set_content"
)
"""Functions that hold what they are given, or that pass it on."""


@lru_cache(4096)
def gives_back(name: str) -> bool:
    """Return whether what the function `name` gives may be what it was given."""
    last = name.replace("()", "").replace("[]", "").rpartition(".")[2]
    return last in HOLDERS or FORMS.search(last) is not None


def kept(labels: frozenset[str], name: str) -> frozenset[str]:
    """Return those labels of arguments that what a function gives has as well: an answer is no key that it is for."""
    if not labels or not name or gives_back(name):
        return labels
    return labels - secrets(labels)
