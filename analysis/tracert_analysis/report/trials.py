"""Repairs that were tried on the history of a dump, each once: whoever asks again gets the same."""

from tracert_analysis.load import Dump
from tracert_analysis.report.acts import Acts
from tracert_analysis.report.again import Edited
from tracert_analysis.report.clears import wrong_range
from tracert_analysis.report.counterfactual import counterfactual
from tracert_analysis.report.findings import shown
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.stories.content import WrongRange


class Trials:
    """What came of repairs, by the finding that they are for."""

    def __init__(self, questions: Questions, acts: Acts, dump: Dump) -> None:
        self._questions = questions
        self._acts = acts
        self._dump = dump
        self._edited: dict[int, Edited] = {}

    def of(self, root: Row, wrong: WrongRange | None) -> Edited:
        """What is left with the repair of `root`; `wrong` as `counterfactual` takes it."""
        number = root["finding"]
        if number not in self._edited:
            self._edited[number] = counterfactual(self._dump, root, wrong)
        return self._edited[number]

    def of_repeated(self, repetitions: list[Row]) -> Edited:
        """The same of a finding with its repetitions, as a report with that verdict would try it."""
        told = shown(self._questions, repetitions).row
        return self.of(repetitions[0], wrong_range(self._questions, self._acts, told))
