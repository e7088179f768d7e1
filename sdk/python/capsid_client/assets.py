"""Assets: what they hold, and how a draft of one becomes complete."""

from __future__ import annotations

import platform
import sys
from typing import Any, Dict, List, Mapping, Optional, Sequence, TypedDict

from .content import asset_id, stamp_asset, verify
from .errors import AssetIdMismatch, HubAnswerInvalid, InputInvalid
from .redact import redact
from .text import inert

#: The version of the schema that drafts are completed to.
SCHEMA_VERSION = "1.5.0"

_INTENTS = ("repair", "optimize", "innovate", "explore")

#: What hubs put into an asset when they hand it out, and what is no part of what was hashed.
_HUB_MEMBERS = frozenset(
    "credit_cost gdi_score success_rate reuse_count ranking_score source_node_id fetched_at receipt hub_receipt "
    "already_purchased _semantic_similarity semantic_similarity _search_score search_score _match_score match_score "
    "_retrieval_rank retrieval_rank".split()
)


class BlastRadius(TypedDict, total=False):
    """How far a change reached."""

    files: int
    lines: int


class Outcome(TypedDict, total=False):
    """How it went."""

    #: ``success`` or ``failed``.
    status: str
    #: 0 to 1.
    score: float


class ProblemIds(TypedDict, total=False):
    """Ids of a problem, from the same problem down to the same kind of problem."""

    exact: str
    message: str
    site: str
    template: str


#: The problem that a log showed. ``class`` is such as ``compile_error`` or ``test_failure``.
ProblemRecord = TypedDict(
    "ProblemRecord",
    {
        "v": int,
        "tool": str,
        "family": str,
        "code": Optional[str],
        "class": str,
        "text": str,
        "symbols": List[str],
        "test": Optional[str],
        "frame": Optional[str],
        "place": Optional[str],
        "ids": ProblemIds,
        "also": List[str],
    },
    total=False,
)


class ProofRecord(TypedDict, total=False):
    """What proves a change: the command, its runs and what they are worth."""

    v: int
    #: ``none``, ``passes``, ``fail_to_pass`` or ``fail_to_pass_reverts``.
    grade: str
    command: Optional[str]
    command_source: Optional[str]
    runs: List[Dict[str, Any]]
    flaky: Optional[Dict[str, Any]]
    check_files: List[str]
    output_sha256: Optional[str]


class Gene(TypedDict, total=False):
    """A strategy: which signals it answers, what to do, how to prove that it worked."""

    type: str
    schema_version: str
    id: str
    category: str
    signals_match: List[str]
    preconditions: List[str]
    strategy: List[str]
    constraints: Dict[str, Any]
    validation: List[str]
    summary: str
    asset_id: str


class Capsule(TypedDict, total=False):
    """A solution that worked."""

    type: str
    schema_version: str
    id: str
    trigger: List[str]
    gene: str
    summary: str
    confidence: float
    blast_radius: BlastRadius
    outcome: Outcome
    success_streak: int
    content: str
    diff: str
    strategy: List[str]
    code_snippet: str
    env_fingerprint: Dict[str, Any]
    source_type: str
    reused_asset_id: str
    #: What was fixed, in at most 72 characters.
    title: str
    #: The cause and the change.
    explanation: str
    problem: ProblemRecord
    proof: ProofRecord
    #: The asset that this solution was made after.
    parent: str
    #: ``alternative``: another solution of the same problem.
    lineage: str
    resolution_status: str
    execution_trace: List[Dict[str, Any]]
    asset_id: str


class EvolutionEvent(TypedDict, total=False):
    """The record of how a capsule came about."""

    type: str
    schema_version: str
    id: str
    intent: str
    signals: List[str]
    outcome: Outcome
    capsule_id: str
    genes_used: List[str]
    mutations_tried: int
    total_cycles: int
    #: Holds ``problem``, ``proof`` and ``title`` of a cycle that has them.
    meta: Dict[str, Any]
    asset_id: str


def env_fingerprint() -> Dict[str, Any]:
    """Where something was made, without telling who made it. The same machine gives the same one every time, so that
    what is published twice has one id."""
    systems = {"linux": "linux", "darwin": "darwin", "win32": "win32"}
    machines = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
    machine = platform.machine().lower()
    return {
        "platform": systems.get(sys.platform, sys.platform),
        "arch": machines.get(machine, machine),
        "node_version": f"python-{sys.version_info[0]}.{sys.version_info[1]}",
    }


def bundle(
    gene: Mapping[str, object],
    capsule: Mapping[str, object],
    event: Optional[Mapping[str, object]] = None,
    *,
    clean: bool = True,
) -> List[Dict[str, Any]]:
    """A bundle as it is published, made of drafts: types, versions, links, fingerprint and ids are filled in where they
    are missing. The drafts stay as they are. What has an id that holds is taken as it is."""
    whole_gene = _complete_draft(_read_draft(gene, "gene", clean), "Gene", {})
    signals = whole_gene.get("signals_match")
    draft = _read_draft(capsule, "capsule", clean)
    outcome = draft.get("outcome")
    is_success = isinstance(outcome, Mapping) and outcome.get("status") == "success"
    defaults = {
        "trigger": signals,
        "gene": whole_gene["asset_id"],
        "success_streak": 1 if is_success else 0,
        "env_fingerprint": env_fingerprint(),
    }
    whole_capsule = _complete_draft(draft, "Capsule", defaults)
    assets = [whole_gene, whole_capsule]
    if event is not None:
        category = whole_gene.get("category")
        links = {
            "intent": category if category in _INTENTS else "optimize",
            "signals": whole_capsule.get("trigger"),
            "outcome": whole_capsule.get("outcome"),
            "blast_radius": whole_capsule.get("blast_radius"),
            "env_fingerprint": whole_capsule.get("env_fingerprint"),
            "capsule_id": whole_capsule["asset_id"],
            "genes_used": [whole_gene["asset_id"]],
        }
        assets.append(_complete_draft(_read_draft(event, "event", clean), "EvolutionEvent", links))
    return assets


def _read_draft(draft: Mapping[str, object], name: str, clean: bool) -> Dict[str, Any]:
    if not isinstance(draft, Mapping):
        raise InputInvalid(f"The {name} is no dict.", fix=f"Give the {name} as a dict of its fields.")
    # Refuses what has no form in JSON, before anything else is done with it.
    asset_id(draft)
    return dict(redact(draft)) if clean else dict(draft)


def _complete_draft(draft: Dict[str, Any], kind: str, links: Mapping[str, object]) -> Dict[str, Any]:
    if draft.get("type", kind) != kind:
        raise InputInvalid(f"A {kind} is wanted, and `type` says `{inert(str(draft['type']), 40)}`.")
    # Somebody hashed it as it is: one more member would make it another asset.
    if draft.get("asset_id") and verify(draft):
        return draft
    whole: Dict[str, Any] = {"type": kind, "schema_version": SCHEMA_VERSION}
    whole.update((name, value) for name, value in draft.items() if name != "asset_id")
    for name, value in links.items():
        if value is not None:
            whole.setdefault(name, value)
    if "id" not in whole:
        # Made of the content, so that the same draft has the same id every time.
        prefix = {"Gene": "gene", "Capsule": "capsule", "EvolutionEvent": "evt"}[kind]
        whole["id"] = f"{prefix}_{asset_id(whole)[7:19]}"
    return stamp_asset(whole)


def check_fetched_asset(received: object, wanted: Optional[Sequence[str]] = None) -> Dict[str, Any]:
    """A fetched asset as it was published, or why it is not used. ``wanted`` are the ids that were asked for."""
    if not isinstance(received, Mapping):
        raise HubAnswerInvalid("The hub sent an asset that is no object; it was not used.")
    claimed = received.get("asset_id")
    if wanted is not None and claimed not in wanted:
        raise HubAnswerInvalid("The hub sent an asset that was not asked for; it was not used.")
    # An asset may hold such a member itself: then it holds as it came.
    without = {name: value for name, value in received.items() if name not in _HUB_MEMBERS}
    for form in (dict(received), without):
        if _has_valid_id(form):
            return form
    shown_id = inert(claimed, 80) if isinstance(claimed, str) else "nothing"
    raise AssetIdMismatch(
        f"`{shown_id}` is not the hash of the asset that came under this id; it was not used.",
        fix="Fetch it again; if it stays so, tell the hub's operator that the asset was changed.",
    )


def _has_valid_id(asset: Mapping[str, object]) -> bool:
    try:
        return bool(verify(asset))
    except InputInvalid:
        return False
