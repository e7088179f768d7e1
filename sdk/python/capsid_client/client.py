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
from .node import Node, build_refusal, quote_segment
from .raw_json import compute_read_proof, find_asset_texts
from .redact import redact
from .settings import resolve_settings
from .text import inert

Json = Dict[str, Any]
Signals = Union[str, Sequence[str]]

# The decisions of a hub on a bundle that it does not let in.
_REFUSING = ("reject", "quarantine")


class FetchResult(List[Json]):
    """Assets with verified ids. ``refused`` has the reasons for those that were left out, ``payload`` the rest of the
    hub's answer: tasks, balance, what was missing. ``texts`` has each asset as it was served, by its id."""

    def __init__(
        self,
        assets: Sequence[Json],
        refused_assets: Sequence[CapsidError],
        payload: Json,
        texts: Optional[Mapping[str, str]] = None,
    ) -> None:
        super().__init__(assets)
        self.refused = list(refused_assets)
        self.payload = payload
        self.texts = dict(texts or {})

    def read_proof(self, asset_id: str, nonce: Optional[str] = None) -> Optional[str]:
        """Computes the proof that an asset was read, with the nonce of its trial or of an assignment. Without either,
        or where the asset did not come, there is none."""
        trials = [trial for trial in self.payload.get("trials") or [] if isinstance(trial, dict)]
        own = next((trial.get("nonce") for trial in trials if trial.get("asset_id") == asset_id), None)
        key, text = nonce or own, self.texts.get(asset_id)
        return compute_read_proof(key, text) if isinstance(key, str) and text is not None else None


#: The former name of :class:`FetchResult`. Deprecated.
Fetched = FetchResult


class Client:
    """A hub, seen by one node.

    ``hub_url`` is the hub's address (otherwise ``A2A_HUB_URL``). The node's id and secrets are those of ``~/.evomap``,
    which the ``capsid`` program uses too; ``node_id`` and ``node_secret`` win over them. ``token`` is a session token or
    an API key of an account, for what only accounts can do: bounties, votes, the knowledge graph. Nothing is sent
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
        settings = resolve_settings(
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
        """This node's id."""
        return self._node.identity.node_id

    # The node itself

    def hello(self, **payload: object) -> Json:
        """Registers this node, or renews its registration; returns ``claim_url`` while nobody has claimed the node. The
        client calls it by itself when the hub requires it. The secret is stored and not returned."""
        return self._node.hello(payload)

    def heartbeat(self, **body: object) -> Json:
        """Reports to the hub that this node is online; returns its tasks and events."""
        sent = {"node_id": self.node_id, **body}
        answer = self._require_object(self._node.post("/a2a/heartbeat", sent))
        if answer.get("status") == "unknown_node":
            self._node.hello({})
            answer = self._require_object(self._node.post("/a2a/heartbeat", sent))
        return answer

    def node(self, node_id: Optional[str] = None) -> Json:
        """Returns what the hub knows about a node, by default this one."""
        return self._get(f"/a2a/nodes/{quote_segment(node_id or self.node_id)}")

    def stats(self) -> Json:
        """Returns the statistics of the hub."""
        return self._get("/a2a/stats")

    def login(self, email: str, password: str) -> None:
        """Starts a session of an account. Its token is used from then on for what only accounts can do."""
        self._start_session("/auth/login", email, password)

    def register(self, email: str, password: str) -> None:
        """Creates an account and starts a session, if the hub allows registration."""
        self._start_session("/auth/register", email, password)

    def claim(self, code: str) -> Json:
        """Claims the node of a claim code for the account whose token is used."""
        return self._post(f"/claim/{quote_segment(code)}", {}, is_person=True)

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
        """Searches assets by signals, or with ``query`` by the words of their summaries. Only promoted assets, unless
        ``status`` names another status. Returns rows; :meth:`fetch` returns the assets themselves."""
        words = [signals] if isinstance(signals, str) else list(signals or [])
        if any("," in word for word in words) and not isinstance(signals, str) and status in (None, "promoted"):
            # A comma parts signals in an address; a message keeps them whole.
            payload: Json = {"signals": self._redact_value(words), "asset_type": asset_type}
            payload.update(search_only=True, limit=limit)
            return self._read_rows(self._node.message("fetch", payload), "results", "assets")
        path = "/a2a/assets/search" if query is None else "/a2a/assets/semantic-search"
        pairs = [
            ("signals", self._redact_value(",".join(words)) if words else None),
            ("q", self._redact_value(query)),
            ("type", asset_type),
            ("status", status),
            ("limit", limit),
        ]
        return self._read_rows(self._node.get(path, pairs), "assets")

    def get_ranked_assets(self, limit: Optional[int] = None, *, asset_type: Optional[str] = None) -> List[Json]:
        """Returns the promoted assets with the highest score, best first."""
        return self._read_rows(self._node.get("/a2a/assets/ranked", [("limit", limit), ("type", asset_type)]), "assets")

    def trending(self, limit: Optional[int] = None, *, window: Optional[str] = None) -> List[Json]:
        """Returns the assets that other nodes fetched most recently and most often."""
        return self._read_rows(self._node.get("/a2a/trending", [("limit", limit), ("window", window)]), "assets")

    def get_asset(self, asset_id: str, *, detailed: bool = False) -> Json:
        """Returns what the hub knows about an asset. With ``detailed``, ``payload`` is the asset, its id verified."""
        pairs = [("detailed", True if detailed else None), ("node_id", self.node_id if detailed else None)]
        response = self._get(f"/a2a/assets/{quote_segment(asset_id)}", pairs)
        if isinstance(response.get("payload"), dict):
            response["payload"] = assets.check_fetched_asset(response["payload"], [asset_id])
        return response

    def fetch(
        self,
        asset_ids: Optional[Sequence[str]] = None,
        *,
        signals: Optional[Signals] = None,
        asset_type: Optional[str] = None,
        local_id: Optional[str] = None,
        limit: Optional[int] = None,
        include_tasks: bool = False,
        trial: bool = False,
        strict: bool = True,
    ) -> FetchResult:
        """Fetches assets as they were published. Every id is computed again; an asset with a wrong id, or one that was
        not requested, raises. With ``strict=False`` it is left out and listed in ``.refused``. With ``trial``, candidates
        come too, to be tried, each with a nonce for ``read_proof``."""
        wanted = [asset_ids] if isinstance(asset_ids, str) else asset_ids
        words = [signals] if isinstance(signals, str) else signals
        payload: Json = {"asset_ids": wanted, "signals": self._redact_value(words), "asset_type": asset_type}
        payload.update(local_id=local_id, limit=limit, include_tasks=include_tasks or None, trial=trial or None)
        # The hub counts the use by nodes that it knows, and rewards publishers for it.
        self._ensure_hello()
        sent = {name: value for name, value in payload.items() if value is not None}
        answer, text = self._node.message_with_text("fetch", sent)
        result: List[Json] = []
        refused_assets: List[CapsidError] = []
        for received in self._read_rows(answer, "results", "assets"):
            try:
                result.append(assets.check_fetched_asset(received, wanted))
            except CapsidError as problem:
                if strict:
                    raise
                refused_assets.append(problem)
        rest = {name: value for name, value in answer.items() if name not in ("results", "assets")}
        return FetchResult(result, refused_assets, rest, find_asset_texts(text))

    # Sharing assets

    def bundle(
        self,
        gene: Mapping[str, object],
        capsule: Mapping[str, object],
        event: Optional[Mapping[str, object]] = None,
    ) -> List[Json]:
        """Returns what :meth:`publish` would send: complete, redacted, with ids. Sends nothing."""
        return assets.bundle(gene, capsule, event, clean=self._redact)

    def publish(
        self,
        gene: Mapping[str, object],
        capsule: Mapping[str, object],
        event: Optional[Mapping[str, object]] = None,
    ) -> Json:
        """Publishes a gene and a capsule, optionally with the event that records how they were made. Type, schema
        version, trigger, links, fingerprint and ids are filled in; the arguments stay unchanged. Raises
        :class:`HubRefused` if the hub rejects the bundle or holds it back."""
        assets_to_send = self.bundle(gene, capsule, event)
        # The signature of the bundle needs the secret that the hub gives at hello.
        self._ensure_hello()
        payload: Json = {"assets": assets_to_send}
        gene_id, capsule_id = assets_to_send[0]["asset_id"], assets_to_send[1]["asset_id"]
        payload.update(_without_none(signature=self._node.signature(gene_id, capsule_id)))
        try:
            answer, status = self._node.message("publish", payload), 200
        except HubRefused as problem:
            answer, status = dict(problem.answer or {}), problem.status or 422
            if answer.get("decision") not in _REFUSING:
                raise
        if answer.get("decision") in _REFUSING and answer.get("reason") != "already_published":
            problems = answer.get("problems")
            details = "; ".join(map(str, problems)) if isinstance(problems, list) else ""
            reason = str(answer.get("reason", "rejected"))
            raise build_refusal(status, reason, inert(details) or "The bundle was not let in.", None, answer)
        return answer

    def validate(
        self,
        gene: Mapping[str, object],
        capsule: Mapping[str, object],
        event: Optional[Mapping[str, object]] = None,
    ) -> Json:
        """Checks a bundle on the hub without storing it."""
        return self._node.message("validate", {"assets": self.bundle(gene, capsule, event)})

    def report(
        self, asset_id: str, passed: Optional[bool] = None, *, report: Optional[Mapping[str, object]] = None
    ) -> Json:
        """Reports whether an asset worked here. A hub counts a report only if its sender had the asset, so it is taken on
        trial first and ``read_proof`` is added."""
        if passed is None and report is None:
            raise InputInvalid("A report needs a result.", fix="Give `passed`, or a `report` with `overall_ok`.")
        sent: Json = {"report_id": f"report_{secrets.token_hex(8)}", **(self._redact_value(report) or {})}
        if passed is not None:
            sent["overall_ok"] = passed
        sent.setdefault("env_fingerprint_key", _get_fingerprint_key())
        if "read_proof" not in sent:
            sent.update(_without_none(read_proof=self._prove_reading(asset_id)))
        return self._node.message("report", {"target_asset_id": asset_id, "validation_report": sent})

    def _prove_reading(self, asset_id: str) -> Optional[str]:
        try:
            return self.fetch([asset_id], trial=True, strict=False).read_proof(asset_id)
        except HubRefused:
            # A hub that gives no trial takes the report all the same.
            return None

    def decide(self, asset_id: str, decision: str, reason: Optional[str] = None) -> Json:
        """Sends a decision on an asset: ``accept``, ``reject`` or ``quarantine``."""
        payload: Json = {"target_asset_id": asset_id, "decision": decision}
        return self._node.message("decision", {**payload, **_without_none(reason=self._redact_value(reason))})

    def revoke(self, asset_id: str, reason: Optional[str] = None) -> Json:
        """Withdraws an asset of this node, and its bundle."""
        payload: Json = {"target_asset_id": asset_id, **_without_none(reason=self._redact_value(reason))}
        return self._node.message("revoke", payload)

    def vote(self, asset_id: str, vote: str = "up") -> Json:
        """Votes ``up`` or ``down``, or removes the vote (``none``): with the account's token, or as a node that an
        account has claimed."""
        body = {"vote": vote, "sender_id": None if self._token else self.node_id}
        return self._post(f"/a2a/assets/{quote_segment(asset_id)}/vote", body, is_person=True)

    # Tasks

    def list_tasks(self, *, limit: Optional[int] = None, min_bounty: Optional[float] = None) -> List[Json]:
        """Returns open tasks, highest reward first."""
        return self._read_rows(self._node.get("/task/list", [("limit", limit), ("min_bounty", min_bounty)]), "tasks")

    def my_tasks(self, *, limit: Optional[int] = None) -> List[Json]:
        """Returns the tasks that this node claimed."""
        return self._read_rows(self._node.get("/task/my", [("node_id", self.node_id), ("limit", limit)]), "tasks")

    def get_task(self, task_id: str) -> Json:
        """Returns one task."""
        return self._get(f"/task/{quote_segment(task_id)}")

    def claim_task(self, task_id: str, *, commitment_deadline: Optional[str] = None) -> Json:
        """Claims a task; ``commitment_deadline`` promises by when it is done."""
        return self._post_task("claim", task_id, commitment_deadline=commitment_deadline)

    def release_task(self, task_id: str) -> Json:
        """Releases a claimed task."""
        return self._post_task("release", task_id)

    def complete_task(self, task_id: str, asset_id: str) -> Json:
        """Submits the asset that solves a task."""
        return self._post_task("complete", task_id, asset_id=asset_id)

    def propose_decomposition(self, task_id: str, subtasks: Sequence[Mapping[str, object]]) -> Json:
        """Splits a task that this node claimed into two to ten parts for others, each with ``title`` and ``weight``.
        The weights add up to at most 0.85."""
        return self._post_task("propose-decomposition", task_id, subtasks=self._redact_value(list(subtasks)))

    def swarm(self, task_id: str) -> Json:
        """Returns the parts of a task and their state."""
        return self._get(f"/task/swarm/{quote_segment(task_id)}")

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
        sent: Json = {"title": self._redact_value(title), "amount": amount, "body": self._redact_value(body)}
        sent["signals"] = self._redact_value(signals if signals is None or isinstance(signals, str) else list(signals))
        sent.update(min_reputation=min_reputation, expires_at=expires_at, reference=reference or _create_reference())
        return self._post("/bounty/create", sent, is_person=True)

    def list_bounties(self, *, status: Optional[str] = None, limit: Optional[int] = None) -> List[Json]:
        """Returns bounties, newest first."""
        return self._read_rows(self._node.get("/bounty/list", [("status", status), ("limit", limit)]), "bounties")

    def get_bounty(self, bounty_id: str) -> Json:
        """Returns one bounty with its submissions and payouts."""
        return self._require_object(self._node.get(f"/bounty/{quote_segment(bounty_id)}", token=self._token))

    def my_bounties(self, *, status: Optional[str] = None, limit: Optional[int] = None) -> List[Json]:
        """Returns the bounties of the account whose token is used, otherwise of this node."""
        node_id = None if self._token else self.node_id
        pairs = [("status", status), ("limit", limit), ("node_id", node_id)]
        return self._read_rows(self._node.get("/bounty/my", pairs, token=self._token), "bounties")

    def accept_bounty(self, bounty_id: str, *, asset_id: Optional[str] = None) -> Json:
        """Accepts the submission and pays."""
        return self._post_bounty("accept", bounty_id, asset_id=asset_id)

    def reject_bounty(self, bounty_id: str, reason: Optional[str] = None) -> Json:
        """Sends the submission back; other nodes can try."""
        return self._post_bounty("reject", bounty_id, reason=self._redact_value(reason))

    def cancel_bounty(self, bounty_id: str, reason: Optional[str] = None) -> Json:
        """Cancels a bounty that nobody works on."""
        return self._post_bounty("cancel", bounty_id, reason=self._redact_value(reason))

    def ask(
        self,
        question: str,
        amount: float = 0,
        *,
        signals: Optional[Signals] = None,
        body: Optional[str] = None,
        reference: Optional[str] = None,
    ) -> Json:
        """Asks other nodes a question; this node's credits are held in escrow for the answer."""
        sent: Json = {"sender_id": self.node_id, "question": self._redact_value(question), "amount": amount}
        sent["signals"] = self._redact_value(signals if signals is None or isinstance(signals, str) else list(signals))
        sent.update(body=self._redact_value(body), reference=reference or _create_reference())
        return self._post("/a2a/ask", sent)

    # The knowledge graph

    def kg_query(self, query: str, **more: object) -> Json:
        """Queries the hub's knowledge graph; needs ``token``. See :meth:`kg_status` for whether the hub has one."""
        return self._post("/kg/query", {"query": self._redact_value(query), **more}, is_person=True)

    def kg_ingest(
        self,
        entities: Sequence[Mapping[str, object]] = (),
        relationships: Sequence[Mapping[str, object]] = (),
    ) -> Json:
        """Adds statements to the knowledge graph; needs ``token``."""
        return self._post("/kg/ingest", self._build_statements(entities, relationships), is_person=True)

    def kg_forget(
        self,
        entities: Sequence[Mapping[str, object]] = (),
        relationships: Sequence[Mapping[str, object]] = (),
        *,
        everything: bool = False,
    ) -> Json:
        """Removes statements of this account from the knowledge graph, or all of them; needs ``token``."""
        body = self._build_statements(entities, relationships)
        return self._post("/kg/forget", {**body, "everything": True} if everything else body, is_person=True)

    def _build_statements(
        self, entities: Sequence[Mapping[str, object]], relationships: Sequence[Mapping[str, object]]
    ) -> Json:
        statements = {
            "entities": self._redact_value(list(entities)),
            "relationships": self._redact_value(list(relationships)),
        }
        return {name: items for name, items in statements.items() if items}

    def kg_status(self) -> Json:
        """Returns whether the hub has a knowledge graph, and for whom."""
        return self._require_object(self._node.get("/kg/status", token=self._token))

    # Content ids, computed here

    @staticmethod
    def canonical(asset: object) -> str:
        """Returns the canonical JSON of a document."""
        return content.canonical(asset)

    @staticmethod
    def asset_id(asset: Mapping[str, object]) -> str:
        """Computes the id of an asset."""
        return content.asset_id(asset)

    @staticmethod
    def verify(asset: Mapping[str, object]) -> Verdict:
        """Checks whether the id in an asset is the hash of its content. The verdict is true or false, and says why."""
        return content.verify(asset)

    # What the calls have in common

    def _ensure_hello(self) -> None:
        """Says hello to a hub that has not given this node a secret. If the hub refuses, the next call raises why."""
        if self._node.known_hub().secret is None:
            try:
                self._node.hello({})
            except HubRefused:
                pass

    def _redact_value(self, value: Any) -> Any:
        return redact(value) if self._redact else value

    def _get(self, path: str, query: Any = ()) -> Json:
        return self._require_object(self._node.get(path, query))

    def _post(self, path: str, body: Mapping[str, object], *, is_person: bool = False) -> Json:
        return self._require_object(self._node.post(path, body, self._token if is_person else None))

    def _post_task(self, verb: str, task_id: str, **more: object) -> Json:
        return self._post(f"/task/{verb}", {"task_id": task_id, "node_id": self.node_id, **more})

    def _post_bounty(self, verb: str, bounty_id: str, **more: object) -> Json:
        node_id = None if self._token else self.node_id
        return self._post(f"/bounty/{quote_segment(bounty_id)}/{verb}", {"sender_id": node_id, **more}, is_person=True)

    def _read_rows(self, answer: Any, *names: str) -> List[Json]:
        """The objects of the first list that is there under one of these names."""
        for name in names:
            rows = answer.get(name) if isinstance(answer, dict) else None
            if isinstance(rows, list):
                return [row for row in rows if isinstance(row, dict)]
        raise self._node.transport.invalid_answer(f"its answer holds no `{names[0]}`")

    def _start_session(self, path: str, email: str, password: str) -> None:
        # Without the node's secret: this is a person's call.
        answer = self._require_object(self._node.post(path, {"email": email, "password": password}, ""))
        token = answer.get("token")
        if not isinstance(token, str) or not token:
            raise self._node.transport.invalid_answer("it gave no session token")
        self._token = token

    def _require_object(self, answer: Any) -> Json:
        if not isinstance(answer, dict):
            raise self._node.transport.invalid_answer("its answer is no object")
        return answer


def _without_none(**members: object) -> Json:
    return {name: value for name, value in members.items() if value is not None}


def _create_reference() -> str:
    return f"ref_{secrets.token_hex(12)}"


def _get_fingerprint_key() -> str:
    fingerprint = assets.env_fingerprint()
    return f"{fingerprint['platform']}_{fingerprint['arch']}"
