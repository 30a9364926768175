"""Leak checks of few records: as wholes they are told by their bytes, like other reports, where many processes leak the same.

Records are taken one by one, which costs least where a check has many. Nothing here decides what a check says: whoever reads it, the
evidence is the same, so this is only a guess at what costs less, and it learns from how the last ones went.
"""

from leaks.parsing.known import HEADER_END, Found

MOST_RECORDS = 2
LARGEST = 1 << 12  # bytes from the banner to the SUMMARY
NEAR = 300  # bytes from the banner to the first record
BANNER = b"ERROR: LeakSanitizer: detected memory leaks\n"
SUMMARY = b"\nSUMMARY: "
CREDIT = 64  # checks that may be read in vain
PATIENCE = 4  # of them, for each batch


class SmallChecks:
    def __init__(self) -> None:
        self._credit = CREDIT
        self._left = 0

    def end(self, data: bytes, record: Found) -> int:
        """Where the small check ends that begins with this record; 0 if it is better taken by its records."""
        if self._credit <= 0 or record.prefix:
            return 0
        banner = data.rfind(BANNER, max(0, record.start - NEAR), record.start)
        summary = data.find(SUMMARY, record.end, banner + LARGEST) if banner >= 0 else -1
        if summary < 0 or data.count(HEADER_END, banner, summary) > MOST_RECORDS:
            return 0
        self._left += 1
        return summary + len(SUMMARY)

    def note(self, recognised: int) -> None:
        """How many of those that were left for others were known to them."""
        self._credit = min(CREDIT, self._credit + 2 * recognised - self._left + PATIENCE)
        self._left = 0
