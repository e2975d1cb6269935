"""What the page of one clean-up plan shows: candidates by rule, keepers and why, what is chosen, how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from banks.access import KeyScope
from memories.models import Memory
from memories.rules.cleanup import CLUSTERING, CleanupRule
from memories.rules.cleanupclusters import KeptFor
from memories.rules.cleanupplans import PlanState
from memories.services.applying import most_of
from memories.services.plans import PlanItemFilter, list_clusters, list_first_items, list_plan_items
from memories.web.actors import agent_names
from memories.web.addresses import Address
from memories.web.choices import Choice
from memories.web.jobwords import JobRow, row_of_job
from memories.web.planwords import KEPT_FOR, STATES, RuleText, left_as, outcome_of, rule_texts
from memories.web.rows import opened, row_of
from memories.web.worddiff import Piece, word_diff
from memoryhub.lib.crypto import CryptoError
from memoryhub.lib.pagination import CursorInvalid, CursorMismatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banks.access import Access
    from memories.models import CleanupPlan, CleanupPlanItem
    from memories.services.plans import PlanItemPage
    from memories.web.requests import HubRequest
    from memories.web.rows import MemoryRow, State

PAGE = 50
CLUSTERS = 20
FIRST = 5
ALIKE = "alike"


@dataclass(frozen=True, slots=True)
class ItemLine:
    """A candidate: its text, every rule that names it, whether it is chosen, what became of it."""

    row: MemoryRow
    reasons: list[str]
    is_ticked: bool
    is_exempt: bool
    stays: bool
    percent: int | None
    pieces: list[Piece]
    outcome: State | None


@dataclass(frozen=True, slots=True)
class ClusterCard:
    """Memories that say the same: the one that stays and why, and the others beside it."""

    keeper: ItemLine | None
    why: str
    others: list[ItemLine]


@dataclass(frozen=True, slots=True)
class Group:
    """The candidates of one rule: all of them, how many are chosen, and the first few."""

    rule: str
    text: RuleText
    total: int
    chosen: int
    url: str
    lines: list[ItemLine] = field(default_factory=list)

    @property
    def more(self) -> int:
        """How many are not shown here."""
        return self.total - len(self.lines)


@dataclass(frozen=True, slots=True)
class PlanPage:
    """Everything memories/plan.html draws."""

    plan: CleanupPlan
    state: State
    here: str
    tabs: list[Choice]
    groups: list[Group]
    lines: list[ItemLine]
    clusters: list[ClusterCard]
    next_url: str
    view: str
    live: int
    most: int
    job: JobRow | None
    left: list[tuple[str, int]]
    query: str
    may_choose: bool
    may_apply: bool

    @property
    def percent(self) -> str:
        """The share of the live memories that is chosen, in words."""
        share = 100 * self.plan.count / max(self.live, 1)
        return f"{share:.0f} %" if share >= 1 or not share else "less than 1 %"

    @property
    def is_large(self) -> bool:
        """Whether it has to be confirmed twice."""
        return self.plan.count > self.most

    @property
    def archived(self) -> int:
        """How many were archived."""
        return self.plan.changeset.count if self.plan.changeset else 0


def plan_page(request: HubRequest, plan: CleanupPlan) -> PlanPage:
    """The page that this address means."""
    access, here = request.access, Address(request.path)
    texts = rule_texts(plan.thresholds)
    named = [CleanupRule(rule) for rule in plan.rules]
    view = request.GET.get("view", "")
    view = view if view in {*named, ALIKE, *plan.skipped} else ""
    show = Shown(access, {rule: text.title for rule, text in texts.items()}, agent_names(access))
    first = list_first_items(access, plan, 0 if view else FIRST)
    groups = [_group(show, plan, texts[rule], here, (rule, first[rule])) for rule in named if first[rule].total]
    lines, clusters, following = _page(show, plan, view, request.GET.get("cursor") or None)
    live = Memory.objects.visible_to(access).live().count()
    return PlanPage(
        plan=plan,
        state=STATES[PlanState(plan.state)],
        here=str(here.having(view=view, cursor=request.GET.get("cursor", ""))),
        tabs=_tabs(here, view, groups, plan),
        groups=groups,
        lines=lines,
        clusters=clusters,
        next_url=str(here.having(view=view, cursor=following)) if following else "",
        view=view,
        live=live,
        most=most_of(access, live),
        job=row_of_job(plan.job, access.has(KeyScope.OPS_WRITE)) if plan.job else None,
        left=[(left_as(code), count) for code, count in plan.skipped.items()],
        query=_query(plan),
        may_choose=plan.state == PlanState.READY,
        may_apply=access.has(KeyScope.CLEANUP_APPLY),
    )


def _query(plan: CleanupPlan) -> str:
    try:
        return plan.query or ""
    except CryptoError:
        return ""


def _tabs(here: Address, view: str, groups: Sequence[Group], plan: CleanupPlan) -> list[Choice]:
    tabs = [Choice("Everything", str(here), plan.candidates, not view)]
    tabs += [
        Choice(one.text.title, one.url, one.total, one.rule == view) for one in groups if one.rule not in CLUSTERING
    ]
    if alike := [one for one in groups if one.rule in CLUSTERING]:
        tabs.append(Choice("Duplicates", str(here.having(view=ALIKE)), sum(one.total for one in alike), view == ALIKE))
    tabs += [Choice(left_as(code), str(here.having(view=code)), n, code == view) for code, n in plan.skipped.items()]
    return tabs


@dataclass(frozen=True, slots=True)
class Shown:
    """Who looks, and the names of rules and agents."""

    access: Access
    rules: dict[CleanupRule, str]
    agents: dict[str, str]

    def line(self, item: CleanupPlanItem, keeper: str | None = None) -> ItemLine:
        """A candidate; beside a ``keeper``'s text, with the words that differ from it."""
        row = row_of(item.memory, self.agents)
        differs = keeper is not None and row.text is not None and not item.stays and keeper != row.text
        return ItemLine(
            row=row,
            reasons=[self.rules[CleanupRule(reason)] for reason in item.reasons],
            is_ticked=item.is_ticked,
            is_exempt=item.is_exempt,
            stays=item.stays,
            percent=None if item.similarity is None else round(100 * item.similarity),
            pieces=word_diff(keeper, row.text) if differs and keeper and row.text else [],
            outcome=outcome_of(item.outcome, is_hidden=item.memory.archived_at is not None),
        )


def _group(
    show: Shown, plan: CleanupPlan, text: RuleText, here: Address, named: tuple[CleanupRule, PlanItemPage]
) -> Group:
    rule, first = named
    view = ALIKE if rule in CLUSTERING else rule.value
    return Group(
        rule=rule.value,
        text=text,
        total=first.total,
        chosen=plan.by_reason.get(rule, 0),
        url=str(here.having(view=view)),
        lines=[show.line(item) for item in first.items],
    )


def _page(
    show: Shown, plan: CleanupPlan, view: str, cursor: str | None
) -> tuple[list[ItemLine], list[ClusterCard], str | None]:
    if not view:
        return [], [], None
    try:
        return _page_at(show, plan, view, cursor)
    except (CursorInvalid, CursorMismatch):
        return _page_at(show, plan, view, None)


def _page_at(
    show: Shown, plan: CleanupPlan, view: str, cursor: str | None
) -> tuple[list[ItemLine], list[ClusterCard], str | None]:
    if view == ALIKE:
        members, following = list_clusters(show.access, plan, CLUSTERS, cursor)
        return [], [_cluster(show, group) for group in members], following
    wanted = PlanItemFilter(outcome=view) if view in plan.skipped else PlanItemFilter(reason=CleanupRule(view))
    page = list_plan_items(show.access, plan, wanted, PAGE, cursor)
    return [show.line(item) for item in page.items], [], page.next_cursor


def _cluster(show: Shown, members: Sequence[CleanupPlanItem]) -> ClusterCard:
    kept = next((item for item in members if item.stays), None)
    text = opened(kept.memory) if kept else None
    cluster = members[0].cluster
    chosen_by_hand = kept is not None and cluster.proposed_id != kept.memory_id
    return ClusterCard(
        keeper=show.line(kept) if kept else None,
        why="you chose it" if chosen_by_hand else KEPT_FOR[KeptFor(cluster.why)],
        others=[show.line(item, text) for item in members if not item.stays],
    )
