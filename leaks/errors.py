"""What can go wrong, sorted by whether trying again can help.

The retry policy of the workers and the HTTP answers both read this hierarchy: a `PermanentError` sets a state and stops, a
`TransientError` is tried again with back-off.
"""


class LeakledgerError(Exception):
    """Base of every error that is ours. `str(error)` is one sentence fit to be shown to a person."""


class PermanentError(LeakledgerError):
    """The same input gives the same failure for ever."""


class TransientError(LeakledgerError):
    """The surroundings failed (disk, network, database); the same input may succeed later."""


class BadSubmission(PermanentError):
    """A submission that lacks a field or holds a value outside its domain. `field` names the culprit."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class UnknownProject(PermanentError):
    """No project of that name, or none the caller may know of."""


class TooLarge(PermanentError):
    """More bytes than a bound allows, counted after decompression."""


class Unreadable(PermanentError):
    """Bytes that claim to be compressed and are not, or a file that cannot be opened."""


class LostLease(TransientError):
    """Another worker took the log over; who lost the lease writes nothing."""


class Conflict(PermanentError):
    """Somebody changed the subject meanwhile; the message says what changed."""
