"""The client: everything that an agent or a script asks of a hub."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import assets, content
from .content import Verdict
from .errors import CapsidError, HubRefused, InputInvalid
from .http import Transport
from .identity import Identity
from .node import Node, refused, segment
from .redact import redact
from .settings import resolve
from .text import inert

Json = Dict[str, Any]
Signals = Union[str, Sequence[str]]


class Fetched(List[Json]):
    """Assets whose ids hold. ``refused`` has the reasons for those that were left out, ``payload`` whatever else the
    hub said: tasks, balance, what was missing."""

    def __init__(self, found: Sequence[Json], refused_ones: Sequence[CapsidError], payload: Json) -> None:
        super().__init__(found)
        self.refused = list(refused_ones)
        self.payload = payload


class Client:
    """A hub, seen by one node.

    ``hub_url`` is the hub's address (otherwise ``A2A_HUB_URL``). The node's id and secrets are those of ``~/.evomap``,
    which the ``capsid`` program uses too; ``node_id`` and ``node_secret`` win over them. ``token`` is a session token or
    an API key of a person, for what only people do: offering bounties, voting, the knowledge graph. Nothing is sent
    before the first call.
    """

    def __init__(
        self,
        hub_url: Optional[str] = None,
        *,
        node_id: Optional[str] = None,
        node_secret: Optional[str] = None,
        token: Optional[str] = None,
        timeout: float = 15,
        retries: int = 3,
        ca_file: Optional[str] = None,
        home: Union[str, Path, None] = None,
        redact: bool = True,
        allow_insecure: Optional[bool] = None,
    ) -> None:
        settings = resolve(
            hub_url, timeout=timeout, retries=retries, ca_file=ca_file, allow_insecure=allow_insecure
        )
        identity = Identity(Path(home) if home is not None else None, node_id=node_id, node_secret=node_secret)
        self._node = Node(Transport(settings), identity)
        self._token = token
        self._redact = redact

    def __repr__(self) -> str:
        return f"Client({self.hub_url!r}, node_id={self.node_id!r})"

    @property
    def hub_url(self) -> str:
        """The hub's address."""
        return self._node.url

    @property
    def node_id(self) -> str:
        """This node's name."""
        return self._node.identity.node_id

    # The node itself

    def hello(self, **payload: object) -> Json:
        """Registers this node, or greets the hub again; gives ``claim_url`` while nobody has claimed the node. It is
        said by itself when the hub wants it. The secret is kept and not given."""
        return self._node.hello(payload)

    def heartbeat(self, **body: object) -> Json:
        """Tells the hub that this node is there; gives its tasks and events."""
        sent = {"node_id": self.node_id, **body}
        answer = self._object(self._node.post("/a2a/heartbeat", sent))
        if answer.get("status") == "unknown_node":
            self._node.hello({})
            answer = self._object(self._node.post("/a2a/heartbeat", sent))
        return answer

    def node(self, node_id: Optional[str] = None) -> Json:
        """What the hub tells of a node, of this one by default."""
        return self._get(f"/a2a/nodes/{segment(node_id or self.node_id)}")

    def stats(self) -> Json:
        """The hub in numbers."""
        return self._get("/a2a/stats")

    def login(self, email: str, password: str) -> None:
        """Begins a session of a person: from here on its token is used for what only people do."""
        self._session("/auth/login", email, password)

    def register(self, email: str, password: str) -> None:
        """Makes an account and begins a session, where the hub lets people register."""
        self._session("/auth/register", email, password)

    def claim(self, code: str) -> Json:
        """Makes the node of a claim code belong to the account whose token is used."""
        return self._post(f"/claim/{segment(code)}", {}, person=True)

    # Finding assets

    def search_assets(
        self,
        signals: Optional[Signals] = None,
        *,
        query: Optional[str] = None,
        asset_type: Optional[str] = None,
        status: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> List[Json]:
        """Finds assets that answer signals, promoted ones unless another status is asked for; or, with ``query``, by the
        words of their summaries. Rows only: :meth:`fetch` gives the assets themselves."""
        words = [signals] if isinstance(signals, str) else list(signals or [])
        if any("," in word for word in words) and not isinstance(signals, str) and status in (None, "promoted"):
            # A comma parts signals in an address; a message keeps them whole.
            payload = {"signals": self._clean(words), "asset_type": asset_type, "search_only": True, "limit": limit}
            return self._rows(self._node.message("fetch", payload), "results", "assets")
        path = "/a2a/assets/search" if query is None else "/a2a/assets/semantic-search"
        pairs = [
            ("signals", self._clean(",".join(words)) if words else None),
            ("q", self._clean(query)),
            ("type", asset_type),
            ("status", status),
            ("limit", limit),
        ]
        return self._rows(self._node.get(path, pairs), "assets")

    def get_ranked_assets(self, limit: Optional[int] = None, *, asset_type: Optional[str] = None) -> List[Json]:
        """The best promoted assets, the best first."""
        return self._rows(self._node.get("/a2a/assets/ranked", [("limit", limit), ("type", asset_type)]), "assets")

    def trending(self, limit: Optional[int] = None, *, window: Optional[str] = None) -> List[Json]:
        """What other nodes fetched most lately."""
        return self._rows(self._node.get("/a2a/trending", [("limit", limit), ("window", window)]), "assets")

    def get_asset(self, asset_id: str, *, detailed: bool = False) -> Json:
        """All that the hub tells of an asset. With ``detailed``, ``payload`` is the asset itself, its id checked."""
        pairs = [("detailed", True if detailed else None), ("node_id", self.node_id if detailed else None)]
        told = self._get(f"/a2a/assets/{segment(asset_id)}", pairs)
        if isinstance(told.get("payload"), dict):
            told["payload"] = assets.checked(told["payload"], [asset_id])
        return told

    def fetch(
        self,
        asset_ids: Optional[Sequence[str]] = None,
        *,
        signals: Optional[Signals] = None,
        asset_type: Optional[str] = None,
        local_id: Optional[str] = None,
        limit: Optional[int] = None,
        include_tasks: bool = False,
        strict: bool = True,
    ) -> Fetched:
        """Fetches assets as they were published. Every id is computed again; an asset under a wrong one, or one that was
        not asked for, raises. With ``strict=False`` it is left out and told in ``.refused``."""
        wanted = [asset_ids] if isinstance(asset_ids, str) else asset_ids
        words = [signals] if isinstance(signals, str) else signals
        payload: Json = {"asset_ids": wanted, "signals": self._clean(words), "asset_type": asset_type}
        payload.update(local_id=local_id, limit=limit, include_tasks=include_tasks or None)
        # The hub counts the use of those it knows, and publishers are thanked for it.
        self._introduce()
        answer = self._node.message("fetch", {name: value for name, value in payload.items() if value is not None})
        found: List[Json] = []
        bad: List[CapsidError] = []
        for received in self._rows(answer, "results", "assets"):
            try:
                found.append(assets.checked(received, wanted))
            except CapsidError as problem:
                if strict:
                    raise
                bad.append(problem)
        rest = {name: value for name, value in answer.items() if name not in ("results", "assets")}
        return Fetched(found, bad, rest)

    # Sharing assets

    def bundle(
        self,
        gene: Mapping[str, object],
        capsule: Mapping[str, object],
        event: Optional[Mapping[str, object]] = None,
    ) -> List[Json]:
        """What :meth:`publish` would send of these drafts: complete, cleaned, with ids. Nothing is sent."""
        return assets.bundle(gene, capsule, event, clean=self._redact)

    def publish(
        self,
        gene: Mapping[str, object],
        capsule: Mapping[str, object],
        event: Optional[Mapping[str, object]] = None,
    ) -> Json:
        """Publishes a gene and a capsule, perhaps with the event that tells how they came about. Type, schema version,
        trigger, links, fingerprint and ids are filled in; what was given stays as it is. What the hub turns down raises
        :class:`HubRefused`."""
        whole = self.bundle(gene, capsule, event)
        # What proves that the bundle is ours is made with the secret that the hub gives.
        self._introduce()
        payload: Json = {"assets": whole}
        payload.update(_some(signature=self._node.signature(whole[0]["asset_id"], whole[1]["asset_id"])))
        answer = self._node.message("publish", payload)
        if answer.get("decision") == "reject" and answer.get("reason") != "already_published":
            problems = answer.get("problems")
            told = "; ".join(map(str, problems)) if isinstance(problems, list) else ""
            reason = str(answer.get("reason", "rejected"))
            raise refused(200, reason, inert(told) or "The bundle was rejected.", None, answer)
        return answer

    def validate(
        self,
        gene: Mapping[str, object],
        capsule: Mapping[str, object],
        event: Optional[Mapping[str, object]] = None,
    ) -> Json:
        """Asks what the hub would say of a bundle. It keeps nothing."""
        return self._node.message("validate", {"assets": self.bundle(gene, capsule, event)})

    def report(
        self, asset_id: str, passed: Optional[bool] = None, *, report: Optional[Mapping[str, object]] = None
    ) -> Json:
        """Tells whether an asset worked here."""
        if passed is None and report is None:
            raise InputInvalid("A report needs a result.", fix="Give `passed`, or a `report` with `overall_ok`.")
        found: Json = {"report_id": f"report_{secrets.token_hex(8)}", **(self._clean(report) or {})}
        if passed is not None:
            found["overall_ok"] = passed
        found.setdefault("env_fingerprint_key", _fingerprint_key())
        return self._node.message("report", {"target_asset_id": asset_id, "validation_report": found})

    def decide(self, asset_id: str, decision: str, reason: Optional[str] = None) -> Json:
        """Says what should become of an asset: ``accept``, ``reject`` or ``quarantine``."""
        payload: Json = {"target_asset_id": asset_id, "decision": decision}
        return self._node.message("decision", {**payload, **_some(reason=self._clean(reason))})

    def revoke(self, asset_id: str, reason: Optional[str] = None) -> Json:
        """Withdraws an asset of this node, and its bundle."""
        return self._node.message("revoke", {"target_asset_id": asset_id, **_some(reason=self._clean(reason))})

    def vote(self, asset_id: str, vote: str = "up") -> Json:
        """Votes ``up`` or ``down``, or takes the vote back (``none``): with the account's token, or as a node that an
        account has claimed."""
        body = {"vote": vote, "sender_id": None if self._token else self.node_id}
        return self._post(f"/a2a/assets/{segment(asset_id)}/vote", body, person=True)

    # Tasks

    def list_tasks(self, *, limit: Optional[int] = None, min_bounty: Optional[float] = None) -> List[Json]:
        """Open tasks, those that pay most first."""
        return self._rows(self._node.get("/task/list", [("limit", limit), ("min_bounty", min_bounty)]), "tasks")

    def my_tasks(self, *, limit: Optional[int] = None) -> List[Json]:
        """The tasks that this node took."""
        return self._rows(self._node.get("/task/my", [("node_id", self.node_id), ("limit", limit)]), "tasks")

    def get_task(self, task_id: str) -> Json:
        """One task."""
        return self._get(f"/task/{segment(task_id)}")

    def claim_task(self, task_id: str, *, commitment_deadline: Optional[str] = None) -> Json:
        """Takes a task; ``commitment_deadline`` promises by when it is done."""
        return self._task("claim", task_id, commitment_deadline=commitment_deadline)

    def release_task(self, task_id: str) -> Json:
        """Gives a task back."""
        return self._task("release", task_id)

    def complete_task(self, task_id: str, asset_id: str) -> Json:
        """Hands in the asset that solves a task."""
        return self._task("complete", task_id, asset_id=asset_id)

    def propose_decomposition(self, task_id: str, subtasks: Sequence[Mapping[str, object]]) -> Json:
        """Cuts a task that this node took into parts for others: two to ten, each with ``title`` and ``weight``, 0.85
        together at most."""
        return self._task("propose-decomposition", task_id, subtasks=self._clean(list(subtasks)))

    def swarm(self, task_id: str) -> Json:
        """How the parts of a task stand."""
        return self._get(f"/task/swarm/{segment(task_id)}")

    # Bounties and questions

    def create_bounty(
        self,
        title: str,
        amount: float = 0,
        *,
        body: Optional[str] = None,
        signals: Optional[Signals] = None,
        min_reputation: Optional[float] = None,
        expires_at: Optional[str] = None,
        reference: Optional[str] = None,
    ) -> Json:
        """Offers credits for a solution; needs ``token``. The same ``reference`` is the same bounty, however often it is
        sent; without one, each call makes a new one, and its tries are still one bounty."""
        sent: Json = {"title": self._clean(title), "amount": amount, "body": self._clean(body)}
        sent["signals"] = self._clean(signals if signals is None or isinstance(signals, str) else list(signals))
        sent.update(min_reputation=min_reputation, expires_at=expires_at, reference=reference or _reference())
        return self._post("/bounty/create", sent, person=True)

    def list_bounties(self, *, status: Optional[str] = None, limit: Optional[int] = None) -> List[Json]:
        """Bounties, the newest first."""
        return self._rows(self._node.get("/bounty/list", [("status", status), ("limit", limit)]), "bounties")

    def get_bounty(self, bounty_id: str) -> Json:
        """One bounty, what was handed in for it, and what became of the credits."""
        return self._object(self._node.get(f"/bounty/{segment(bounty_id)}", token=self._token))

    def my_bounties(self, *, status: Optional[str] = None, limit: Optional[int] = None) -> List[Json]:
        """The bounties of the account whose token is used, or else of this node."""
        own = None if self._token else self.node_id
        pairs = [("status", status), ("limit", limit), ("node_id", own)]
        return self._rows(self._node.get("/bounty/my", pairs, token=self._token), "bounties")

    def accept_bounty(self, bounty_id: str, *, asset_id: Optional[str] = None) -> Json:
        """Takes what was handed in, and pays."""
        return self._bounty("accept", bounty_id, asset_id=asset_id)

    def reject_bounty(self, bounty_id: str, reason: Optional[str] = None) -> Json:
        """Sends back what was handed in; others may try."""
        return self._bounty("reject", bounty_id, reason=self._clean(reason))

    def cancel_bounty(self, bounty_id: str, reason: Optional[str] = None) -> Json:
        """Takes back a bounty that nobody works on."""
        return self._bounty("cancel", bounty_id, reason=self._clean(reason))

    def ask(
        self,
        question: str,
        amount: float = 0,
        *,
        signals: Optional[Signals] = None,
        body: Optional[str] = None,
        reference: Optional[str] = None,
    ) -> Json:
        """Asks other nodes; this node's credits are put aside for the answer."""
        sent: Json = {"sender_id": self.node_id, "question": self._clean(question), "amount": amount}
        sent["signals"] = self._clean(signals if signals is None or isinstance(signals, str) else list(signals))
        sent.update(body=self._clean(body), reference=reference or _reference())
        return self._post("/a2a/ask", sent)

    # The knowledge graph

    def kg_query(self, query: str, **more: object) -> Json:
        """Asks the hub's knowledge graph; needs ``token``. A hub without one refuses, and :meth:`kg_status` tells."""
        return self._post("/kg/query", {"query": self._clean(query), **more}, person=True)

    def kg_ingest(
        self,
        entities: Sequence[Mapping[str, object]] = (),
        relationships: Sequence[Mapping[str, object]] = (),
    ) -> Json:
        """Tells the knowledge graph something; needs ``token``."""
        return self._post("/kg/ingest", self._statements(entities, relationships), person=True)

    def kg_forget(
        self,
        entities: Sequence[Mapping[str, object]] = (),
        relationships: Sequence[Mapping[str, object]] = (),
        *,
        everything: bool = False,
    ) -> Json:
        """Takes back what this account told the knowledge graph, or all of it; needs ``token``."""
        body = self._statements(entities, relationships)
        return self._post("/kg/forget", {**body, "everything": True} if everything else body, person=True)

    def _statements(
        self, entities: Sequence[Mapping[str, object]], relationships: Sequence[Mapping[str, object]]
    ) -> Json:
        told = {"entities": self._clean(list(entities)), "relationships": self._clean(list(relationships))}
        return {name: items for name, items in told.items() if items}

    def kg_status(self) -> Json:
        """Whether there is a knowledge graph to ask."""
        return self._object(self._node.get("/kg/status", token=self._token))

    # Content ids, computed here

    @staticmethod
    def canonical(asset: object) -> str:
        """The canonical JSON of a document."""
        return content.canonical(asset)

    @staticmethod
    def asset_id(asset: Mapping[str, object]) -> str:
        """The id of an asset."""
        return content.asset_id(asset)

    @staticmethod
    def verify(asset: Mapping[str, object]) -> Verdict:
        """Whether the id in an asset is the hash of its content. The verdict is true or false, and says why."""
        return content.verify(asset)

    # What the calls have in common

    def _introduce(self) -> None:
        """Says hello to a hub that has not given this node its secret. Where it refuses, the call itself tells why."""
        if self._node.known().secret is None:
            try:
                self._node.hello({})
            except HubRefused:
                pass

    def _clean(self, value: Any) -> Any:
        return redact(value) if self._redact else value

    def _get(self, path: str, query: Any = ()) -> Json:
        return self._object(self._node.get(path, query))

    def _post(self, path: str, body: Mapping[str, object], *, person: bool = False) -> Json:
        return self._object(self._node.post(path, body, self._token if person else None))

    def _task(self, verb: str, task_id: str, **more: object) -> Json:
        return self._post(f"/task/{verb}", {"task_id": task_id, "node_id": self.node_id, **more})

    def _bounty(self, verb: str, bounty_id: str, **more: object) -> Json:
        own = None if self._token else self.node_id
        return self._post(f"/bounty/{segment(bounty_id)}/{verb}", {"sender_id": own, **more}, person=True)

    def _rows(self, answer: Any, *names: str) -> List[Json]:
        """The objects of the first list that is there under one of these names."""
        for name in names:
            rows = answer.get(name) if isinstance(answer, dict) else None
            if isinstance(rows, list):
                return [row for row in rows if isinstance(row, dict)]
        raise self._node.transport.odd(f"its answer holds no `{names[0]}`")

    def _session(self, path: str, email: str, password: str) -> None:
        # Without the node's secret: this is a person's call.
        answer = self._object(self._node.post(path, {"email": email, "password": password}, ""))
        token = answer.get("token")
        if not isinstance(token, str) or not token:
            raise self._node.transport.odd("it gave no session token")
        self._token = token

    def _object(self, answer: Any) -> Json:
        if not isinstance(answer, dict):
            raise self._node.transport.odd("its answer is no object")
        return answer


def _some(**members: object) -> Json:
    return {name: value for name, value in members.items() if value is not None}


def _reference() -> str:
    return f"ref_{secrets.token_hex(12)}"


def _fingerprint_key() -> str:
    fingerprint = assets.env_fingerprint()
    return f"{fingerprint['platform']}_{fingerprint['arch']}"
