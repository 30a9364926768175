"""The house's settings with short leases and pauses, for workers that a test kills."""

from dashboard.settings import *  # noqa: F403

LEAKLEDGER_LEASE_SECONDS = 2
LEAKLEDGER_LOOK_SECONDS = 1
LEAKLEDGER_RETRY_SECONDS = 1
