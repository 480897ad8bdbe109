"""Functions that give back what they are given, in another form: a secret stays one through them, and no others."""

from __future__ import annotations

from functools import lru_cache

from runner.model.expression import expression
from runner.model.modules import is_standard
from runner.risk.model.acts import THING, VALUE_OF
from runner.risk.model.outline_data import words
from runner.risk.trace.files import OF_OUTSIDE
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


def answered(labels: frozenset[str], name: str) -> frozenset[str]:
    """Return those labels of an object that what its method `name` gives has as well.

    A client of a service is made with a key, and what the service answers is not that key. What the language itself
    makes of a value, or a program of its own, is still that value.
    """
    root = name.partition(".")[0].partition(":")[0].removesuffix("()")
    if not labels or "()." not in name or root[:1] in "~$" or is_standard(root) or root in OF_LANGUAGE:
        return labels
    if gives_back(name) or TELLS.search(name.rpartition("().")[2]):
        return labels
    return frozenset(label for label in labels if not label.startswith(VALUE_OF))


ASKED = "@aws-sdk/"
"""Begins the names of clients that are asked by commands, which are objects: `client.send(new GetCommand({...}))`."""
TELLS = expression(r"(?i)token|secret|key|pass|credential|config|option|setting|string|json|ur[il]|dsn|href|auth")
"""What the names of methods have in them that tell what a client was made with."""
OF_LANGUAGE = words("fs crypto buffer process util stream url child_process node require getenv environ str bytes open")
"""Beginnings of names that are of Node.js or Python, beside the modules of the latter."""


def kept(labels: frozenset[str], name: str) -> frozenset[str]:
    """Return those labels of arguments that what a function gives has as well.

    An answer is no key that it is for, and a figure is not the file of which it was made.
    """
    if not labels or not name or gives_back(name):
        return labels
    if name.startswith(ASKED) and name.endswith(".send"):  # a command that asks for a secret gives it
        return frozenset(label for label in labels if not label.startswith((OF_OUTSIDE, THING, VALUE_OF)))
    return frozenset(label for label in labels - secrets(labels) if not label.startswith((OF_OUTSIDE, THING)))
