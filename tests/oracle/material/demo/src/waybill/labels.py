"""Labels for depot printers, in ZPL; positions in tenths of a millimetre."""

from __future__ import annotations

LONGEST_LABEL = 1500


def dots(tenths: int, dpi: int) -> int:
    """Tenths of a millimetre as printer dots."""
    return round(tenths * dpi / 254)


def text_field(x: int, y: int, text: str, dpi: int = 203) -> str:
    """One line of text at a position."""
    return f"^FO{dots(x, dpi)},{dots(y, dpi)}^FD{text}^FS"
