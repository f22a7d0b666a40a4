"""C5: the log cut at every byte of its last records: earlier lines and the torn bytes are kept."""

from __future__ import annotations

import glob
import json
import os
import random

import report

from thunderus_mem.log.append import append_record
from thunderus_mem.store.files import read_file

RECORDS = [
    (
        json.dumps(
            {"event_id": f"evt_{number}", "text": "äöü – 漢字 " * (3 + number * 4)}, ensure_ascii=False
        )
        + "\n"
    ).encode()
    for number in range(4)
]
NEXT = b'{"event_id": "evt_next"}\n'


def _append_after(folder: str, tail: bytes, whole: bytes, case: str) -> None:
    """Append to a log that ends in ``tail``; ``whole`` are the bytes that must precede the new line."""
    path = os.path.join(folder, case, "events.jsonl")
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as stream:
        stream.write(RECORDS[0] + tail)
    kept = os.path.join(folder, case, "kept")
    offset = append_record(path, NEXT, quarantine_dir=kept)
    with open(path, "rb") as stream:
        data = stream.read()
    assert data == RECORDS[0] + whole + NEXT
    assert offset == len(RECORDS[0] + whole)
    aside = b"".join(read_file(name, 1 << 20) for name in sorted(glob.glob(os.path.join(kept, "*"))))
    if whole.startswith(tail):
        assert aside == b""
    else:
        assert whole + aside == tail


def test_log_cut_at_every_byte_of_the_last_records(tmp_path) -> None:
    last = b"".join(RECORDS[1:])
    for size in range(len(last) + 1):
        tail = last[:size]
        whole = tail[: tail.rfind(b"\n") + 1]
        if tail + b"\n" in (RECORDS[1], RECORDS[1] + RECORDS[2], last):
            whole = tail + b"\n"
        _append_after(str(tmp_path), tail, whole, str(size))
    report.add("C5", "every byte", tried=len(last) + 1, healed=len(last) - 6)
    assert len(last) > 500


def test_log_tails_of_zeros_and_noise(tmp_path) -> None:
    noise = random.Random(5)
    tails = [b"\0" * size for size in (1, 2, 511, 4096, 70_000)]
    tails += [
        bytes(noise.choice([byte for byte in range(256) if byte != 10]) for _ in range(size))
        for size in range(1, 200)
    ]
    tails += [
        b"[1]",
        b'"text"',
        b"12",
        b"null",
        b"[" * 30_000,
        b'{"a":' * 5_000,
        b"\xff\xfe{",
        b'{"a": NaN',
        b"\r",
        b"{}\r\r}",
    ]
    for number, tail in enumerate(tails):
        _append_after(str(tmp_path), tail, b"", str(number))
    report.add("C5", "noise", tried=len(tails), healed=len(tails))
