"""How wide text is in DejaVu Sans at 11 px, close enough to Verdana: measured once, so that no font is needed where badges are made."""

# Tenths of a pixel -> the characters of that width.
TENTHS = {
    30: "'",
    31: "ijl",
    32: "IJ",
    35: " ,.·",
    37: "/:;\\|",
    39: "f",
    40: "-",
    43: "()[]t",
    44: "!",
    45: "r",
    51: '"',
    55: "*_`–",
    57: "s",
    58: "?z",
    60: "c",
    61: "L",
    63: "F",
    64: "k",
    65: "vxy",
    66: "P",
    67: "TYao",
    68: "e",
    70: "0123456789$ESbdghnpqu{}",
    72: "K",
    75: "ABVXZ",
    76: "R",
    77: "C",
    81: "U",
    82: "N",
    83: "H",
    85: "DG",
    86: "&",
    87: "OQ",
    90: "w",
    92: "#+<=>^~✓✗",
    95: "M",
    96: "●◌",
    104: "▣",
    105: "%",
    107: "m",
    109: "W",
    110: "@…—",
}
WIDTHS = {sign: width for width, signs in TENTHS.items() for sign in signs}
WIDEST = 110  # for all others: too much room does no harm


def text_width(text: str) -> int:
    """In whole pixels, rounded up."""
    return -(-sum(WIDTHS.get(sign, WIDEST) for sign in text) // 10)
