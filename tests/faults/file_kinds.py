"""Everything that can stand where a document should, by name: how it is made, and what lint has to say.

``rule`` is the one finding that has to name it; "" means that the document is served without an error.
"""

from __future__ import annotations

import os
import socket
import stat
from typing import TYPE_CHECKING, Final, NamedTuple

from commands import twice

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Kind(NamedTuple):
    """``make`` puts it at a path; ``name`` is the file's name where it is not ``<kind>.md``."""

    make: Callable[[Path], None]
    rule: str = ""
    name: bytes = b""


def good(name: str) -> str:
    """A document that reads."""
    return twice(name, f"Words of {name}.")


def _bytes(data: bytes) -> Callable[[Path], None]:
    return lambda path: _write(path, data)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _changed(change: Callable[[str], str | bytes]) -> Callable[[Path], None]:
    """A good document of the file's own name, changed."""

    def make(path: Path) -> None:
        data = change(good(path.name.removesuffix(".md")))
        _write(path, data if isinstance(data, bytes) else data.encode())

    return make


def _link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def _outside(path: Path) -> None:
    target = path.parents[5] / "outside.md"
    target.write_text(good("outside"))
    path.symlink_to(target)


def _hard(path: Path) -> None:
    target = path.parents[5] / "elsewhere.md"
    target.write_text(good("hard-link"))
    os.link(target, path)


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path may have 100 characters
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def _device(path: Path) -> None:
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero: reading it never ends


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "in-folder.md").write_text(good("in-folder"))


def _sparse(path: Path) -> None:
    path.write_text(good("sparse"))
    os.truncate(path, 8 << 30)


def _padded(size: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        data = good(path.name.removesuffix(".md")).encode()
        _write(path, data + (b"word " * (size // 5 + 1))[: size - len(data) - 1] + b"\n")

    return make


def _encoded(encoding: str) -> Callable[[Path], None]:
    return _changed(lambda text: text.encode(encoding))


_BOM: Final = b"\xef\xbb\xbf"
_MIB: Final = 1 << 20

KINDS: Final[dict[str, Kind]] = {
    # Bytes that are a document.
    "bom": Kind(_changed(lambda text: _BOM + text.encode())),
    "crlf": Kind(_changed(lambda text: text.replace("\n", "\r\n"))),
    "bom-and-crlf": Kind(_changed(lambda text: _BOM + text.replace("\n", "\r\n").encode())),
    "mixed-line-ends": Kind(_changed(lambda text: text.replace("\n", "\r\n", 5))),
    "no-line-end": Kind(_changed(lambda text: text.rstrip("\n"))),
    "blanks-behind-fences": Kind(_changed(lambda text: text.replace("---\n", "---  \t\n"))),
    "closed-by-dots": Kind(_changed(lambda text: "...".join(text.rsplit("---", 1)))),
    "rule-in-the-body": Kind(_changed(lambda text: text + "\n---\n\nMore.\n")),
    "frontmatter-twice": Kind(_changed(lambda text: text + "\n---\nid: fact.second\n---\n")),
    "lone-cr-in-the-body": Kind(_changed(lambda text: text + "a\rb\n")),
    "letters-of-many-scripts": Kind(_changed(lambda text: text + "été 日本 ключ 🦊 \U0001f469\n")),
    "hard-link": Kind(_hard),
    # Bytes that are no text.
    "utf-16-le": Kind(_encoded("utf-16-le"), "TM002"),
    "utf-16-be": Kind(_encoded("utf-16-be"), "TM002"),
    "utf-16-with-bom": Kind(_encoded("utf-16"), "TM002"),
    "utf-32-le": Kind(_encoded("utf-32-le"), "TM002"),
    "utf-32-with-bom": Kind(_encoded("utf-32"), "TM002"),
    "latin-1-in-the-body": Kind(_changed(lambda text: text.encode() + b"caf\xe9\n"), "TM001"),
    "latin-1-in-the-header": Kind(
        _changed(lambda text: text.encode().replace(b"Twice", b"caf\xe9")), "TM001"
    ),
    "windows-quotes": Kind(_changed(lambda text: text.encode() + b"\x93quoted\x94\n"), "TM001"),
    "half-a-character-at-the-end": Kind(_changed(lambda text: text.encode() + "日".encode()[:2]), "TM001"),
    "overlong-slash": Kind(_changed(lambda text: text.encode() + b"\xc0\xaf\n"), "TM001"),
    "lone-surrogate": Kind(_changed(lambda text: text.encode() + b"\xed\xa0\x80\n"), "TM001"),
    "beyond-unicode": Kind(_changed(lambda text: text.encode() + b"\xf5\x80\x80\x80\n"), "TM001"),
    "nul-in-the-header": Kind(_changed(lambda text: text.replace("Twice", "Tw\0ice")), "TM002"),
    "nul-in-the-body": Kind(_changed(lambda text: text + "a\0b\n"), "TM002"),
    "only-nul": Kind(_bytes(b"\0" * 4096), "TM002"),
    "picture": Kind(_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "TM002"),
    "compressed": Kind(_bytes(b"\x1f\x8b\x08" + bytes(range(1, 200))), "TM001"),
    # Text that is no document.
    "empty": Kind(_bytes(b""), "TM004"),
    "only-blank-lines": Kind(_bytes(b"\n \n\r\n\t\n"), "TM004"),
    "only-bom": Kind(_bytes(_BOM), "TM004"),
    "two-boms": Kind(_changed(lambda text: _BOM * 2 + text.encode()), "TM004"),
    "bom-behind-the-fence": Kind(_changed(lambda text: text.replace("---\n", "---\n\ufeff", 1)), "TM006"),
    "only-cr": Kind(_changed(lambda text: text.replace("\n", "\r")), "TM004"),
    "rule-first": Kind(_changed(lambda text: "\n" + text), "TM004"),
    "text-first": Kind(_changed(lambda text: "# Title\n\n" + text), "TM004"),
    "indented-fence": Kind(_changed(lambda text: " " + text), "TM004"),
    "more-behind-the-fence": Kind(_changed(lambda text: text.replace("---\n", "--- yaml\n", 1)), "TM004"),
    "four-dashes": Kind(_changed(lambda text: "-" + text), "TM004"),
    "toml": Kind(_changed(lambda text: text.replace("---", "+++")), "TM004"),
    "json": Kind(_bytes(b'{"id": "fact.json", "title": "T", "kind": "fact"}\n'), "TM004"),
    "only-a-fence": Kind(_bytes(b"---"), "TM005"),
    "no-closing-fence": Kind(_changed(lambda text: text.rpartition("---")[0]), "TM005"),
    "closed-by-four-dashes": Kind(_changed(lambda text: "----".join(text.rsplit("---", 1))), "TM005"),
    "header-without-a-kind": Kind(_bytes(b"---\nid: fact.x\ntitle: T\n---\n\nBody.\n"), "TM011"),
    "line-separator-in-the-header": Kind(
        _changed(lambda text: text.replace("Twice", "a\u2028id: b")), "TM006"
    ),
    "next-line-in-the-header": Kind(_changed(lambda text: text.replace("Twice", "a\u0085b")), "TM006"),
    "escape-in-the-header": Kind(_changed(lambda text: text.replace("Twice", "a\x1b[2Jb")), "TM006"),
    # Too large, the first to be read with pleasure, the others to be read at all.
    "a-mebibyte": Kind(_padded(_MIB), "TM302"),
    "a-mebibyte-and-a-byte": Kind(_padded(_MIB + 1), "TM003"),
    "two-mebibytes": Kind(_padded(2 * _MIB), "TM003"),
    "sparse-eight-gib": Kind(_sparse, "TM003"),
    # What is no file.
    "fifo": Kind(os.mkfifo, "TM002"),
    "socket": Kind(_socket, "TM002"),
    "device": Kind(_device, "TM002"),
    "folder": Kind(_folder),
    "link-to-itself": Kind(_link("link-to-itself.md"), "TM002"),
    "link-to-nothing": Kind(_link("nothing-there.md"), "TM002"),
    "link-to-a-document": Kind(_link("good.md"), "TM002"),
    "link-to-a-folder": Kind(_link("."), "TM002"),
    "link-to-outside": Kind(_outside, "TM002"),
    "link-to-a-device": Kind(_link("/dev/zero"), "TM002"),
    # Names that not every system has.
    "name-with-a-line-end": Kind(_bytes(good("line-end").encode()), "TM002", b"line\nend.md"),
    "name-no-utf-8": Kind(_bytes(good("no-utf-8").encode()), "TM002", b"no-\xff-utf.md"),
    "name-with-a-colon": Kind(_bytes(good("colon").encode()), "TM002", b"a:colon.md"),
    "name-of-a-device": Kind(_bytes(good("device-name").encode()), "TM002", b"nul.md"),
    "name-with-an-escape": Kind(_bytes(good("escape").encode()), "TM002", b"a\x1b[2J.md"),
    "name-hidden": Kind(_bytes(good("hidden").encode()), "TM511", b".hidden.md"),
}

LISTED_ALL_THE_SAME: Final = frozenset({"a-mebibyte"})
NOT_LISTED: Final = frozenset({"folder"})
"""Served or left alone, but not under their own name."""
