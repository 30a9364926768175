"""Text out of logs inside Markdown, for GitHub and GitLab: shown as it is, and nothing else.

A name may hold a mention, a link, HTML, a table's bar or the end of a code span. Names go into code spans whose fence is longer than
any run of backticks in them; sentences have their marks written as entities. No tables: a bar could not be told apart in all of them.
"""

import re

from leaks.visible import line

NAME_LENGTH = 160
# What begins or ends something in Markdown, what mentions somebody or something, what is a link by itself.
# A reference is looked for in the finished page, where an entity is the sign itself: a space without width keeps it from its name.
REFERENCES = re.compile(r"[@#!~$&%](?=\w)")
MARKS = re.compile(r"[\\`*_{}\[\]<>#|~@&!$^]|(?<=[a-z]):(?=//)|(?<=www)\.")
TICKS = re.compile(r"`{1,500}")


def code(text: object, length: int = NAME_LENGTH) -> str:
    """A name as a code span; an empty one is a dash, for an empty span is none."""
    shown = line(text, length)
    if not shown:
        return "–"
    fence = "`" * (max(map(len, TICKS.findall(shown)), default=0) + 1)
    room = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{room}{shown}{room}{fence}"


def prose(text: object, length: int = 1000) -> str:
    """A sentence, its marks as entities."""
    kept_apart = REFERENCES.sub(lambda found: f"{found[0]}\u200b", line(text, length))
    return MARKS.sub(lambda found: f"&#{ord(found[0])};", kept_apart)


def link(words: str, address: str) -> str:
    """`words` is Markdown already. An address of ours has nothing to escape but what would end it."""
    return f"[{words}]({address.replace('(', '%28').replace(')', '%29').replace(' ', '%20')})" if address else words
