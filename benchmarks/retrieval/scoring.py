"""From the results of all engines to measures per half, part and kind. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.replay.scoring import Rate
from benchmarks.retrieval.collection import UNANSWERABLE
from benchmarks.retrieval.engines import OURS, PLAIN
from benchmarks.retrieval.measures import (
    DEPTH,
    area,
    before,
    calibration_error,
    found,
    mean,
    ndcg,
    paired_interval,
    recall,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from benchmarks.retrieval.collection import Collection as Set
    from benchmarks.retrieval.collection import Question
    from benchmarks.retrieval.engines import Shown

WITH_CLOSEST: Final = f"{OURS}, closest hits included"
ALWAYS: Final = f"{OURS}, abstaining switched off"
RANKINGS: Final = (OURS, ALWAYS)
"""Ours as shown, and ranking alone."""
LINKED: Final = f"{OURS}, supersession recorded"
ALIASED: Final = f"{OURS}, aliases for a sample"
SAMPLE: Final = f"{OURS}, only the sample"
ALIASED_SAMPLE: Final = f"{OURS}, only the sample, with aliases"
ALIASES: Final = (
    ("all, of which a sample has aliases", OURS, ALIASED),
    ("only the sample", SAMPLE, ALIASED_SAMPLE),
)

OWN: Final = "questions of this project"


class Asked(NamedTuple):
    """A collection, and by engine and question id what was shown. ``shared`` maps the id of a question to the
    share of its words, except common ones, that are in a document that answers it."""

    collection: Set
    shown: dict[str, dict[str, list[Shown]]]
    shared: dict[str, float]


class Case(NamedTuple):
    """One question, and by engine what was shown."""

    question: Question
    shown: dict[str, list[Shown]]
    shared: float


class Difference(NamedTuple):
    """Our mean value minus that of a rival, and the 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ({self.low:+.3f} … {self.high:+.3f})"


class Goal(NamedTuple):
    """What was aimed at, what was measured, and whether that is enough."""

    name: str
    target: str
    measured: str
    met: bool


def cases(asked: Sequence[Asked], half: str, *, public: bool) -> list[Case]:
    """The questions of one half: ours, or those of the published sets."""
    return [
        Case(
            question,
            {engine: by_id[question.id] for engine, by_id in one.shown.items() if question.id in by_id},
            one.shared.get(question.id, 0.0),
        )
        for one in asked
        if one.collection.half == half and one.collection.public == public
        for question in one.collection.questions
    ]


def answers(shown: Sequence[Shown], *, closest: bool = False) -> list[str]:
    """The paths that are answers; closest hits are none unless asked for."""
    return [one.path for one in shown if closest or not one.closest]


def ranking(case: Case, engine: str) -> list[str]:
    """The ranking of an engine."""
    if engine == WITH_CLOSEST:
        return answers(case.shown[OURS], closest=True)
    return answers(case.shown[engine])


def _hit(ranked: Sequence[str], question: Question) -> float:
    return float(found(ranked, question.relevant))


MEASURES: Final[dict[str, Callable[[Sequence[str], Question], float]]] = {
    "nDCG@10": lambda ranked, question: ndcg(ranked, question.answers),
    "any relevant in the first 5": _hit,
    "recall@10": lambda ranked, question: recall(ranked, question.relevant),
}


def rivals_of(chosen: Sequence[Case]) -> list[str]:
    """The other engines."""
    return [name for name in chosen[0].shown if not name.startswith(OURS)] if chosen else []


def answerable(chosen: Sequence[Case]) -> list[Case]:
    """The questions with an answer."""
    return [case for case in chosen if case.question.relevant]


def values(chosen: Sequence[Case], measure: str, engine: str) -> list[float]:
    """One measure of an engine for each answerable question."""
    of = MEASURES[measure]
    return [of(ranking(case, engine), case.question) for case in answerable(chosen)]


def difference(chosen: Sequence[Case], measure: str, ours: str, theirs: str) -> Difference:
    """One measure of two engines over the same questions."""
    one, other = values(chosen, measure, ours), values(chosen, measure, theirs)
    return Difference(mean(one) - mean(other), *paired_interval(one, other))


def by_kind(chosen: Sequence[Case]) -> dict[str, list[Case]]:
    """The answerable questions by kind; those of a published set by its name."""
    kinds = dict.fromkeys(case.question.kind for case in answerable(chosen))
    return {kind: [case for case in chosen if case.question.kind == kind] for kind in kinds}


def rate(chosen: Collection[Case], says: Callable[[Case], bool]) -> Rate:
    """How many of some questions meet a condition."""
    return Rate(sum(map(says, chosen)), len(chosen))


def answered(case: Case, engine: str = OURS) -> bool:
    """Whether an engine gives an answer; closest hits are none."""
    return bool(answers(case.shown[engine]))


def answered_right(case: Case, engine: str = OURS) -> bool:
    """Whether a document that answers is among the first five answers."""
    return found(answers(case.shown[engine]), case.question.relevant)


def false_answer(case: Case, engine: str = OURS) -> bool:
    """Whether an engine shows anything for a question without an answer; closest hits count."""
    return bool(case.shown[engine])


def top_score(case: Case, engine: str = OURS) -> float:
    """The highest score shown; 0 for nothing."""
    return max((one.score for one in case.shown[engine]), default=0.0)


def judged(chosen: Sequence[Case], depth: int) -> list[tuple[float, bool]]:
    """The scores of the first ``depth`` hits of all questions, and whether each answers."""
    return [
        (one.score, one.path in case.question.relevant) for case in chosen for one in case.shown[OURS][:depth]
    ]


class Answering(NamedTuple):
    """How an engine decides whether to answer. ``shares`` and ``half`` are questions that have one word, or
    half of their words, in common with a document that answers. ``precise`` are questions that get an
    answer, with one that answers in the first five."""

    shares: Rate
    half: Rate
    right: Rate
    precise: Rate
    everyday: Rate
    near: Rate
    all_false: Rate
    false_without_closest: Rate
    area: float

    @property
    def rates(self) -> tuple[Rate, ...]:
        """All but the area."""
        return (
            *(self.shares, self.half, self.right, self.precise),
            *(self.everyday, self.near, self.all_false, self.false_without_closest),
        )


def answering(chosen: Sequence[Case], engine: str = OURS) -> Answering:
    """The decisions of an engine over our questions."""
    real = answerable(chosen)
    unanswerable = [case for case in chosen if not case.question.relevant]

    def says(asked: Sequence[Case], does: Callable[[Case, str], bool]) -> Rate:
        return rate(asked, lambda case: does(case, engine))

    def of_kind(kind: str) -> list[Case]:
        return [case for case in unanswerable if case.question.kind == kind]

    return Answering(
        shares=says([case for case in real if case.shared > 0], answered),
        half=says([case for case in real if case.shared >= 0.5], answered),
        right=says(real, answered_right),
        precise=says([case for case in chosen if answered(case, engine)], answered_right),
        everyday=says(of_kind(UNANSWERABLE[0]), false_answer),
        near=says(of_kind(UNANSWERABLE[1]), false_answer),
        all_false=says(unanswerable, false_answer),
        false_without_closest=says(unanswerable, answered),
        area=area(
            [top_score(case, engine) for case in real], [top_score(case, engine) for case in unanswerable]
        ),
    )


def calibration(chosen: Sequence[Case], depth: int) -> float:
    """The expected calibration error of our score over the first ``depth`` hits."""
    return calibration_error(judged(chosen, depth))


def current_first(chosen: Sequence[Case], engine: str) -> Rate:
    """How often the current document is listed above the outdated ones, where any of them is listed."""
    asked = [
        case
        for case in chosen
        if case.question.outdated
        and engine in case.shown
        and not {*_current(case), *case.question.outdated}.isdisjoint(ranking(case, engine))
    ]
    return rate(asked, lambda case: before(ranking(case, engine), _current(case), case.question.outdated))


def _current(case: Case) -> frozenset[str]:
    return case.question.relevant - set(case.question.outdated)


class Aliases(NamedTuple):
    """What aliases change in the questions of one kind: measure → value without and with them."""

    documents: str
    questions: int
    values: dict[str, tuple[float, float]]


def aliased(chosen: Sequence[Case], kind: str = "paraphrase") -> list[Aliases]:
    """The effect of aliases, among all documents and among those that have some; "" for all kinds."""
    found = []
    for documents, without, with_them in ALIASES:
        seen = [case for case in chosen if with_them in case.shown]
        asked = [case for case in answerable(seen) if kind in ("", case.question.kind)]
        values = {
            name: (
                mean([of(ranking(case, without), case.question) for case in asked]),
                mean([of(ranking(case, with_them), case.question) for case in asked]),
            )
            for name, of in MEASURES.items()
        }
        unanswerable = [case for case in seen if not case.question.relevant]
        if not kind:
            values["false answers"] = (
                mean([false_answer(case, without) for case in unanswerable]),
                mean([false_answer(case, with_them) for case in unanswerable]),
            )
        if asked:
            found.append(Aliases(documents, len(asked), values))
    return found


def goals(own: Sequence[Case], public: Sequence[Case]) -> list[Goal]:
    """What search must reach on questions it was not tuned to."""
    found = []
    for part, chosen in ((OWN, own), ("published sets", public)):
        for engine in RANKINGS if chosen else ():
            for measure in ("nDCG@10", "recall@10"):
                found += _against_rivals(part, chosen, measure, engine)
    if not own:
        return found
    said = answering(own)
    first = current_first(own, LINKED)
    errors = {"first hits": calibration(own, 1), "all hits": calibration(own, DEPTH)}
    return [
        *found,
        Goal(
            "answered, of the questions that share a word",
            "≥ 87 %",
            percent(said.shares),
            _share(said.shares) >= 0.87,
        ),
        *(
            Goal(name, "≤ 5 %", percent(of), _share(of) <= 0.05)
            for name, of in (
                ("false answers", said.all_false),
                ("false answers, closest hits not counted", said.false_without_closest),
            )
        ),
        Goal("AUC of the score", "≥ 0.88", f"{said.area:.3f}", said.area >= 0.88),
        *(
            Goal(f"expected calibration error of {hits}", "≤ 0.1", f"{error:.3f}", error <= 0.1)
            for hits, error in errors.items()
        ),
        Goal(
            "current before outdated, supersession recorded", "≥ 95 %", percent(first), _share(first) >= 0.95
        ),
    ]


def percent(one: Rate) -> str:
    """A rate with its interval, to one decimal."""
    low, high = (100 * edge for edge in one.interval)
    return f"{100 * _share(one):.1f} % ({low:.1f}–{high:.1f}), {one.hits:,}/{one.total:,}"


def _share(one: Rate) -> float:
    return one.hits / one.total if one.total else 0.0


def _against_rivals(part: str, chosen: Sequence[Case], measure: str, engine: str) -> list[Goal]:
    ours, plain = (mean(values(chosen, measure, name)) for name in (engine, PLAIN))
    above = [name for name in rivals_of(chosen) if difference(chosen, measure, engine, name).high < 0]
    name = f"{measure}, {part}, {engine.removeprefix(OURS).strip(', ') or 'answers only'}"
    return [
        Goal(name, f"> {PLAIN}", f"{ours:.3f}, {PLAIN} {plain:.3f}", ours > plain),
        Goal(name, "no rival above by more than the interval", ", ".join(above) or "none", not above),
    ]


def misses(chosen: Sequence[Case]) -> list[str]:
    """The questions that are answered wrongly, for a reader. Not for sealed questions."""
    found = []
    for case in chosen:
        wrong = not answered_right(case) if case.question.relevant else false_answer(case)
        if wrong:
            shown = [
                f"{one.score:.2f}{'?' if one.closest else ''} {one.path}" for one in case.shown[OURS][:3]
            ]
            plain = "; plain FTS5 finds it" if found_by(case, PLAIN) else ""
            found.append(
                f"- {case.question.id} {case.question.kind}: {case.question.text}{plain}\n"
                f"  wanted {sorted(case.question.relevant)}; shown {shown}"
            )
    return found


def found_by(case: Case, engine: str) -> bool:
    """Whether an engine finds an answer in its first five."""
    return bool(case.question.relevant) and answered_right(case, engine)
