"""`manage.py gate PROJECT`: is the fix proven? Exit code 0: yes; 1: a finding is there after; 2: the runs prove nothing, or the question is wrong."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand
from django.core.serializers.json import DjangoJSONEncoder

from leaks.models import Project
from leaks.queries.gate_page import Asked, find_signature, proof
from leaks.rows.gate import GateAnswer
from leaks.words import GateResult

EXITS = {GateResult.PASS.value: 0, GateResult.FAIL.value: 1}
INVALID = 2


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="its slug")
        parser.add_argument(
            "--signature", default="", metavar="ID", help="public id (default: all that the run before shows)"
        )
        parser.add_argument(
            "--before",
            default="",
            metavar="SHA",
            help="commit, run or CI run that is red; default: where it was seen last",
        )
        parser.add_argument(
            "--after", default="", metavar="SHA", help="default: the newest later commit of the branch with a verdict"
        )
        parser.add_argument("--lane", default="", metavar="NAME", help="needed where a commit has several")
        parser.add_argument(
            "--branch", default="", metavar="NAME", help="where to look for a run after (default: the default branch)"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            answer = GateAnswer(missing=f"There is no project {options['project']!r}.")
        else:
            asked = Asked(*(options[name] for name in Asked._fields))
            answer = proof(project, asked, find_signature(project, asked.signature))
        self.stdout.write(json.dumps(asdict(answer), ensure_ascii=False, cls=DjangoJSONEncoder))
        self.stderr.write(self._said(answer))
        if code := EXITS.get(answer.result, INVALID):
            sys.exit(code)

    def _said(self, answer: GateAnswer) -> str:
        if answer.missing:
            return answer.missing
        return f"{answer.reason.replace('_', ' ')}: {answer.sentence} {answer.next_step}"
