# ruff: noqa: E501
"""Paths that must never be opened: traversal, absolute, devices and streams of other systems, disguises."""

from __future__ import annotations

_CLIMBS = [
    "..", "../x", "../../etc/passwd", "a/../../x", "a/..", "./..", "a/./../..", "..//x", "/..", "a/../b", "...", "a/.../b",
    "..\\x", "a\\..\\..\\x", "..\\..\\windows\\win.ini", "a/..\\..\\x", "..%2fx", "%2e%2e/x", "%2e%2e%2fx", "..%5cx",
    "..%252fx", "%252e%252e%252fx", "..%c0%afx", ".. /x", "..\u200b/x", "\u2025/x", "\uff0e\uff0e/x", "..\u2215x", "..\u2044x",
    "..\uff0fx", "..\uff3cx", "..\u29f8x",
]  # fmt: skip
_ABSOLUTE = [
    "/", "//", "/etc/passwd", "//server/share/x", "///x", "/proc/self/environ", "/dev/null", "/dev/stdin", "~", "~/x",
    "~root/x", "a/~/x", "~1", "C:", "C:/x", "C:x", "c:\\x", "\\\\server\\share", "\\\\?\\C:\\x", "\\\\.\\COM1", "\\x",
    "//?/C:/x", "file:///etc/passwd", "file:x", "http://x/y",
]  # fmt: skip
_CONTROLS = [
    "", " ", ".", "./", "././", "a\0b", "a\0", "\0", "a\nb", "a\rb", "a\tb", "a\x1b[2Jb", "a\x07", "a\x7fb", "a\x85b", "a\x9bb",
    "a\x01", "a\u2028b", "a\u2029b", "a\ud800b", "a\udcffb", "a\ue000b", "a\U000f0000b", "a\uffffb",
]  # fmt: skip
_HIDDEN = [
    f"a{letter}b"
    for letter in "\u200b\u200c\u200d\u2060\ufeff\u00ad\u061c\u180e\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    "\u034f\u115f\u1160\u3164\uffa0\ufe0f\ufe00\U000e0001\U000e0041\U000e0100\u00a0\u3000\ufff9\u206a\u17b4"
]
_WINDOWS = [
    "nul", "NUL", "nul.md", "Nul.tar.gz", "con", "CON.md", "prn", "aux", "AUX.txt", "COM1", "com1.md", "COM9", "com0", "LPT1",
    "lpt0.md", "lpt9", "CONIN$", "conout$", "CONIN$.md", "clock$", "a/nul/b", "a/con.md", "nul .md", "com\u00b9", "lpt\u00b2.md",
    "a.", "a..", "a ", "a/b. /c", "a /b", " a", "a/ b", "a. .", "a:stream", "a.md::$DATA", "a:b:c", "a<b", "a>b", 'a"b', "a|b",
    "a?b", "a*b", "*", "a\\b", "FACTS~1/x", "PROGRA~1", "a~1.md", "a/b~9",
]  # fmt: skip
_GIT = [
    ".git", ".git/config", ".git/hooks/pre-commit", ".GIT/config", ".Git/x", "a/.git/x", ".git /x", ".git./x", ".git. ./x",
    ".git::$INDEX_ALLOCATION/x", "git~1/x", "GIT~1", "GI7EBA~1", ".g\u200cit/x", ".gi\u200dt/x", ".git\u200e/x", "\ufeff.git/x",
    ".\uff47\uff49\uff54/x", "\uff0egit/x", ".git\\hooks\\x", "./.git/x", "a//.git//x", ".thunderus/../.git/x", ".g\u0131t\u200b/x",
]  # fmt: skip
_LONG = ["a" * 256, "a" * 5000, "a/" * 200 + "b", "ü" * 200, "x" * 241]

PAYLOADS = tuple(dict.fromkeys(_CLIMBS + _ABSOLUTE + _CONTROLS + _HIDDEN + _WINDOWS + _GIT + _LONG))
