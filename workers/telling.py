"""Sends notices: one message for all that a rule is owed at a time.

At least once: a receiver that must not act twice looks at the delivery id, which stays the same over all attempts.
"""

import hashlib
import hmac
import logging
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException, SMTPSenderRefused

from django.conf import settings
from django.core.mail import EmailMessage

from leaks import outbox
from leaks.errors import PermanentError, TransientError
from leaks.ingest.faults import reach
from leaks.outbox import Batch
from leaks.visible import line
from leaks.words import Channel, NoticeKind
from workers import messages, outgoing
from workers.messages import Told
from workers.retry import Fate, judge_answer, pause

NOWHERE = "django.core.mail.backends.dummy.EmailBackend"
ANSWER_SHOWN = 200

logger = logging.getLogger(__name__)


class NotTaken(PermanentError):
    """The receiver does not want it, and never will."""


class Later(TransientError):
    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


def send_one() -> bool:
    """Send what waits for one rule; whether there was anything."""
    batch = outbox.take_batch()
    if batch is None:
        return False
    reach("before_send")
    try:
        CHANNELS[Channel(batch.rule.channel)](batch, told_of(batch))
    except Later as error:
        batch.again(error.seconds, str(error))
    except TransientError as error:
        batch.again(pause(batch.attempts), str(error))
    except PermanentError as error:
        batch.failed(str(error))
    except Exception as error:  # whatever a receiver does to us, the row must say so
        logger.exception("Sending %s failed", batch.public_id)
        batch.again(pause(batch.attempts), f"{type(error).__name__}: {error}")
    else:
        reach("sent")
        batch.done()
    return True


def told_of(batch: Batch) -> Told:
    """A test goes the way of its rule, alone or with others: what is real decides the kind."""
    notices = [sending.notice for sending in batch.sendings]
    real = [notice for notice in notices if notice.kind != NoticeKind.TEST] or notices
    project = batch.rule.project
    return Told(
        project.slug,
        project.name,
        project.default_branch,
        NoticeKind(real[0].kind),
        [notice.payload for notice in real],
        settings.LEAKLEDGER_URL,
    )


# --- Mail ------------------------------------------------------------------------------------------------------------


def _mail(batch: Batch, told: Told) -> None:
    if settings.EMAIL_BACKEND == NOWHERE:
        raise NotTaken("No mail server is set up: EMAIL_URL in the environment names it.")
    mail = EmailMessage(
        messages.subject(told),
        messages.body(told),
        to=[name.strip() for name in batch.rule.target.split(",")],
        headers={"Message-ID": f"<{batch.public_id}@leakledger>", "Auto-Submitted": "auto-generated"},
    )
    try:
        mail.send()
    except SMTPRecipientsRefused as error:
        # A temporary refusal (grey-listing) has a code below 500.
        codes = [code for code, _ in error.recipients.values()]
        raise _refused(max(codes, default=550), "The mail server refused the address.", batch) from error
    except (SMTPSenderRefused, SMTPResponseException) as error:
        raise _refused(error.smtp_code, f"The mail server refused: {error.smtp_code}.", batch) from error
    except (SMTPException, OSError) as error:
        raise TransientError(f"The mail server was not reached: {error}") from error


def _refused(code: int, sentence: str, batch: Batch) -> Exception:
    return NotTaken(sentence) if code >= 500 else Later(sentence, pause(batch.attempts))


# --- Webhook ---------------------------------------------------------------------------------------------------------


def signature(secret: str, content: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()


def _webhook(batch: Batch, told: Told) -> None:
    content = messages.document(told, batch.public_id)
    headers = {
        "Content-Type": "application/json",
        "X-Leakledger-Event": told.kind.value,
        "X-Leakledger-Delivery": batch.public_id,
        "X-Leakledger-Signature-256": signature(batch.rule.secret, content),
    }
    answer = outgoing.post(batch.rule.target, content, headers)
    judged = judge_answer(answer.status, answer.headers, batch.attempts)
    if judged.fate is Fate.DONE:
        return
    said = f"Answered with {answer.status}: {line(answer.text, ANSWER_SHOWN)}"
    if judged.fate is Fate.NEVER:
        raise NotTaken(said)
    raise Later(said, judged.seconds)


CHANNELS = {Channel.EMAIL: _mail, Channel.WEBHOOK: _webhook}
