# ruff: noqa: E501
"""Terminal control sequences, bidirectional controls and invisible text; none may be printed raw."""

from __future__ import annotations

ESC, CSI, OSC, ST, BEL = "\x1b", "\x1b[", "\x1b]", "\x1b\\", "\x07"

_CURSOR = [f"{CSI}{letters}" for letters in (
    "2J", "3J", "J", "1J", "K", "2K", "H", "1;1H", "999;999H", "A", "99A", "B", "C", "D", "10D", "E", "F", "G", "f", "s", "u",
    "S", "T", "L", "M", "P", "X", "@", "?25l", "?25h", "?1049h", "?1049l", "?47h", "?1000h", "?1003h", "?2004h", "?5h", "?6h",
    "?7l", "4h", "20h", "r", "1;1r", "6n", "5n", "c", ">c", "0c", "?6c", "!p", "0q", "2 q", "i", "5i", "4i", "8;1;1t", "21t",
    "14t", "18t", "22;0t", "?15n", "?1$p", "1$w", "x", "m", "0m", "1m", "5m", "7m", "8m", "31m", "41m", "38;5;1m",
    "38;2;1;2;3m", "0;30;40m", "1;2;3", "999999999m",
)]  # fmt: skip
_OSC = [f"{OSC}{text}{end}" for text, end in (
    ("0;owned", BEL), ("1;owned", ST), ("2;owned", BEL), ("52;c;cm0gLXJm", BEL), ("52;c;cm0gLXJm", ST), ("52;c;?", BEL),
    ("8;;https://evil.example", ST), ("8;;", ST), ("8;id=1;file:///etc/passwd", BEL), ("9;notify", BEL), ("777;notify;a;b", BEL),
    ("1337;File=inline=1:AAAA", BEL), ("1337;SetMark", BEL), ("4;1;#ff0000", ST), ("4;1;?", BEL), ("10;?", BEL), ("11;?", ST),
    ("12;red", BEL), ("104", BEL), ("110", ST), ("133;A", BEL), ("50;x", BEL), ("7;file://h/x", ST), ("0;no end", ""),
)]  # fmt: skip
_STRINGS = [f"{ESC}{text}" for text in (
    "P1$r0m\x1b\\", "P+q544e\x1b\\", "Pq#0;2;0;0;0~\x1b\\", "_apc text\x1b\\", "_Gf=100;AAAA\x1b\\", "^pm text\x1b\\", "Xsos\x1b\\",
    "c", "7", "8", "D", "E", "M", "N", "O", "Z", "=", ">", "(0", "(B", ")0", "*0", "#8", "%G", "%@", " F", "l", "n", "o", "|", "}", "~",
    "\x1b", "[", "]", "[31", "]0;",
)]  # fmt: skip
_C1 = [f"{chr(code)}31mC1" for code in range(0x80, 0xA0)]
_C0 = [f"a{chr(code)}b" for code in (*range(1, 9), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F)]
_LINES = [
    "over\rwritten",
    "\r\x1b[Kgone",
    "a\b\b\bb",
    "a\x7f\x7fb",
    "a\u2028b",
    "a\u2029b",
    "a\x85b",
    "a\r\r\rb",
]
_BIDI = [
    f"a{char}b"
    for char in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u206a\u206f"
]
_HIDDEN = [
    f"a{char}b"
    for char in "\u200b\u200c\u200d\u2060\u2061\u2064\ufeff\u00ad\u034f\u180e\u3164\uffa0\ufff9\ufffb\U0001d173\U0001bca0"
]
_TAGS = [
    "a" + "".join(chr(0xE0000 + ord(char)) for char in "run") + "b",
    "a\U000e0001b",
    "a\U000e007fb",
    "a\U000e0100b",
]
_MARKUP = [
    "&#27;[31mx", "&#x1b;]52;c;eA==&#7;", "&#155;31m", "&#x202e;abc", "&rlm;a", "&#8203;", "&zwj;b", "&#x07;", "&Tab;x", "&NewLine;x",
    "[a](b\x1b[31m)", "[a](<b\u202e>)", "[a](%1b[31m)", "<http://x.example/%E2%80%AE>", "![\x1b[2J](x)", "`\x1b[31m`", "**\x1b[1m**",
    "<b\x1b[31m>", "<!-- \x1b[2J -->", "[\x1b]0;x\x07]: y", "\uf8e0b\x1b[31m\uf8e1", "\uf8e0r", "\uf000", "\uf8e0\uf010x\uf8e1",
]  # fmt: skip

SEQUENCES = tuple(dict.fromkeys(
    [*_CURSOR, *_OSC, *_STRINGS, *_C1, *_C0, *_LINES, *_BIDI, *_HIDDEN, *_TAGS, *_MARKUP]
))  # fmt: skip
