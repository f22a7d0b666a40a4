"""Settings, read from the environment once."""

from __future__ import annotations

import os

CARRIER_TIMEOUT = float(os.environ.get("CARRIER_TIMEOUT", "10"))
DATABASE_URL = os.environ.get("WAYBILL_DATABASE_URL", "postgresql://localhost/waybill")
