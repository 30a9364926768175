"""The lines of a batch, and the segments of lines."""


class Page:
    """Whole lines of a log. A lone "\\r" separates segments, which are read like lines and share their number."""

    __slots__ = ("_data", "flat", "has_segments", "size")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.flat = data.replace(b"\r", b"\n") if b"\r" in data else data  # where lines and segments end alike
        self.has_segments = self.flat is not data
        self.size = len(data)

    def breaks(self, end: int) -> bool:
        """Whether a line ends here, and not only a segment."""
        return self._data[end : end + 1] == b"\n"

    def count(self, start: int, end: int) -> int:
        return self._data.count(b"\n", start, end)

    def end(self, start: int) -> int:
        end = self.flat.find(b"\n", start)
        return end if end >= 0 else self.size

    def text(self, start: int, end: int) -> str:
        return self._data[start:end].decode("utf-8", "replace")

    def is_gap(self, start: int, end: int) -> bool:
        """Whether nothing stands between a "\\r" and what is next to it, which is no segment. An empty line is one."""
        return start == end and (self._data[end : end + 1] == b"\r" or self._data[max(0, start - 1) : start] == b"\r")
