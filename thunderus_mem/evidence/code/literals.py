"""Strings and numbers by value, so that it does not matter how they are spelled."""

from __future__ import annotations

import re
from typing import Final

__all__ = [
    "c_escapes",
    "go_number",
    "loose_number",
    "python_escapes",
    "python_number",
    "rust_number",
    "script_number",
]

_MOST_DIGITS: Final = 300
"""Longer numbers stay as they are written: turning thousands of digits around takes quadratic time."""
_PYTHON_ESCAPE: Final = re.compile(
    r"\\(?:\n|([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|N\{([^{}\n]{1,100})\}|([\\'\"abfnrtv]))"
)
_C_ESCAPE: Final = re.compile(
    r"\\(?:(\n[ \t\n]*)|u\{([0-9a-fA-F_]{1,12})\}|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})"
    r"|([0-7]{1,3})|([\s\S]))"
)
_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\",
    "'": "'", '"': '"',
}  # fmt: skip
_WHOLE: Final = re.compile(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|[0-9]+")
_RUST_SUFFIX: Final = re.compile(r"([iu](?:8|16|32|64|128|size)|f(?:16|32|64|128))$")


_NUL: Final = "\ufdd0"
_NAMED: Final = "\ufdd1"
"""Characters that are none, for what must not stand in a token, and for a character given by its name."""


def _character(digits: str, base: int, written: str) -> str:
    code = int(digits, base)
    if code == 0:
        return _NUL
    return chr(code) if code < 0x110000 else written


def _python_escape(found: re.Match[str]) -> str:
    octal, two, four, eight, name, simple = found.groups()
    if octal:
        return _character(octal, 8, found[0])
    if name:
        return f"{_NAMED}{{{name.upper()}}}"
    if simple:
        return _SIMPLE[simple]
    digits = two or four or eight
    return _character(digits, 16, found[0]) if digits else ""


def _octet_escape(found: re.Match[str]) -> str:
    return found[0] if found[3] or found[4] or found[5] else _python_escape(found)


def python_escapes(text: str, octets: bool = False) -> str:
    """The value of what stands between the quotes of a Python string (of bytes, when ``octets``)."""
    if "\\" not in text:
        return text
    return _PYTHON_ESCAPE.sub(_octet_escape if octets else _python_escape, text)


def _c_escape(found: re.Match[str]) -> str:
    line, braced, two, four, eight, octal, other = found.groups()
    if line:
        return ""
    digits = (braced or "").replace("_", "") or two or four or eight
    if digits:
        return _character(digits, 16, found[0])
    return _character(octal, 8, found[0]) if octal else _SIMPLE.get(other, other)


def c_escapes(text: str) -> str:
    """The value of what stands between the quotes in JavaScript, Go or Rust."""
    return _C_ESCAPE.sub(_c_escape, text) if "\\" in text else text


def _whole(text: str) -> str:
    """A whole number in its decimal digits; "" when this is none, or a long one."""
    if len(text) > _MOST_DIGITS or not _WHOLE.fullmatch(text):
        return ""
    return str(int(text, 0)) if text[:1] != "0" or text[1:2].isalpha() else str(int(text, 10))


def _floating(text: str) -> str:
    """A number with a point or exponent by value; as it stands when it is too long or too large."""
    if len(text) > _MOST_DIGITS:
        return text
    try:
        value = float(text)
    except ValueError:
        return text
    return text if value in (float("inf"), float("-inf")) else repr(value)


def python_number(text: str) -> str:
    """A Python number by value: ``0x10`` is ``16``, ``1.0`` is not ``1``."""
    plain = text.replace("_", "").lower()
    if plain[:1] == "0" and plain.strip("0") and plain.isdigit():
        return plain  # an octal number of Python 2
    whole = _whole(plain)
    if whole:
        return whole
    if plain.endswith("j"):
        return _floating(plain[:-1]) + "j"
    return _floating(plain)


def script_number(text: str) -> str:
    """A number of JavaScript by value: all of them are floating, but those that end in ``n``."""
    plain = text.replace("_", "").lower()
    if plain.endswith("n") and not plain.startswith("0x"):
        return (_whole(plain[:-1]) or plain[:-1]) + "n"
    if len(plain) > 1 and plain[0] == "0" and plain.isdigit():
        return plain  # an old octal number
    if plain.endswith("n"):
        return (_whole(plain[:-1]) or plain[:-1]) + "n"
    whole = _whole(plain)
    if whole and len(whole) < 16:
        return whole
    value = _floating(plain)
    return value.removesuffix(".0")


def rust_number(text: str) -> str:
    """A number of Rust by value, its type behind it."""
    plain = text.replace("_", "")
    suffix = ""
    found = _RUST_SUFFIX.search(plain)
    if found and not (plain[:2].lower() == "0x" and found[0].startswith("f")):
        plain, suffix = plain[: found.start()], found[0]
    return (_whole(plain) or _floating(plain.lower())) + suffix


def go_number(text: str) -> str:
    """A number of Go by value; ``0755`` is octal."""
    plain = text.replace("_", "").lower()
    tail = ""
    if plain.endswith("i"):
        plain, tail = plain[:-1], "i"
    if (
        len(plain) > 1
        and plain[0] == "0"
        and not plain.strip("01234567")
        and len(plain) <= _MOST_DIGITS
        and not tail
    ):
        return str(int(plain, 8))
    if plain.startswith("0x") and ("p" in plain or "." in plain):
        return plain + tail
    return (_whole(plain) or _floating(plain)) + tail


def loose_number(text: str) -> str:
    """A number of any other language: small letters, no separators."""
    return text.replace("_", "").replace("'", "").lower()
