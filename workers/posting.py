"""Posts commit statuses to GitHub and GitLab: the same state is never posted twice, and an answer decides whether to try again."""

import json
import logging
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import quote

from django.conf import settings

from leaks import outbox
from leaks.addresses import address
from leaks.errors import PermanentError, TransientError
from leaks.ingest.faults import reach
from leaks.models import CommitStatus, StatusTarget
from leaks.outbox import Post
from leaks.statuses import CONTEXT
from leaks.visible import line
from leaks.words import StatusProvider
from workers import outgoing
from workers.outgoing import Answer
from workers.retry import Fate, judge_answer, pause

ANSWER_SHOWN = 200
# GitLab refuses the state that is there already; then all is as it should be.
SAME_STATE = re.compile(r"Cannot transition status via :?\w{1,40} from :(\w{1,40})")
NO_TOKEN = "No token is set, neither here nor in the environment."  # noqa: S105  a sentence

logger = logging.getLogger(__name__)


class Asked(NamedTuple):
    url: str
    body: Mapping[str, str]
    headers: Mapping[str, str]


def post_one() -> bool:
    """Post one status; whether there was one to post."""
    post = outbox.take_status()
    if post is None:
        return False
    reach("before_post")
    try:
        _post(post)
    except TransientError as error:
        post.again(pause(post.status.attempts), str(error))
    except PermanentError as error:
        post.refused(str(error))
    except Exception as error:  # whatever a provider does to us, the row must say so
        logger.exception("Posting status %s failed", post.status.pk)
        post.again(pause(post.status.attempts), f"{type(error).__name__}: {error}")
    return True


def _post(post: Post) -> None:
    status = post.status
    token = token_of(status.target)
    if not token:
        post.refused(NO_TOKEN)
        return
    asked = PROVIDERS[StatusProvider(status.target.provider)](status, token)
    answer = outgoing.post(
        asked.url, json.dumps(asked.body).encode(), {"Content-Type": "application/json", **asked.headers}
    )
    reach("posted")
    _settle(post, answer)


def _settle(post: Post, answer: Answer) -> None:
    judged = judge_answer(answer.status, answer.headers, post.status.attempts)
    said = f"{post.status.target.provider} answered with {answer.status}: {line(message_of(answer.text), ANSWER_SHOWN)}"
    if judged.fate is Fate.DONE or _is_there_already(post.status, answer):
        post.done()
    elif answer.status == 401:
        post.refused(f"{said}. The token is wrong, or has ended.")
    elif judged.fate is Fate.LIMITED:
        post.rest(judged.seconds, said)
    elif judged.fate is Fate.AGAIN:
        post.again(judged.seconds, said)
    else:
        post.failed(said)


def _is_there_already(status: CommitStatus, answer: Answer) -> bool:
    if status.target.provider != StatusProvider.GITLAB or answer.status != 400:
        return False
    found = SAME_STATE.search(answer.text)
    return found is not None and found[1] == status.state


def message_of(text: str) -> str:
    """Both providers put a sentence into `message`, GitLab at times an object."""
    try:
        told = json.loads(text)
    except ValueError:
        return text
    return str(told.get("message") or told.get("error") or text) if isinstance(told, dict) else text


# --- Providers -------------------------------------------------------------------------------------------------------

DEFAULT_URLS = {
    StatusProvider.GITHUB: "https://api.github.com",
    StatusProvider.GITLAB: "https://gitlab.com/api/v4",
}


def token_of(target: StatusTarget) -> str:
    """Its own, else that of the environment, which goes to no address that somebody typed."""
    if target.token or target.base_url:
        return target.token
    return {
        StatusProvider.GITHUB: settings.LEAKLEDGER_GITHUB_TOKEN,
        StatusProvider.GITLAB: settings.LEAKLEDGER_GITLAB_TOKEN,
    }[StatusProvider(target.provider)]


def _base(target: StatusTarget) -> str:
    return target.base_url.rstrip("/") or DEFAULT_URLS[StatusProvider(target.provider)]


def _common(status: CommitStatus) -> dict[str, str]:
    """`target_url` is left out where nobody has said under which address people find the page."""
    page = address(settings.LEAKLEDGER_URL, "commit", status.target.project.slug, status.commit.sha)
    fields = {"state": status.state, "description": status.description}
    return {**fields, "target_url": page} if page else fields


def _github(status: CommitStatus, token: str) -> Asked:
    """POST /repos/{owner}/{repo}/statuses/{sha}"""
    repository = quote(status.target.repository, safe="/")
    return Asked(
        f"{_base(status.target)}/repos/{repository}/statuses/{status.commit.sha}",
        {**_common(status), "context": CONTEXT.format(lane=status.lane.name)},
        {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )


def _gitlab(status: CommitStatus, token: str) -> Asked:
    """POST /projects/{id}/statuses/{sha}"""
    repository = quote(status.target.repository, safe="")
    return Asked(
        f"{_base(status.target)}/projects/{repository}/statuses/{status.commit.sha}",
        {**_common(status), "name": CONTEXT.format(lane=status.lane.name)},
        {"PRIVATE-TOKEN": token},
    )


PROVIDERS: Mapping[StatusProvider, Callable[[CommitStatus, str], Asked]] = {
    StatusProvider.GITHUB: _github,
    StatusProvider.GITLAB: _gitlab,
}
