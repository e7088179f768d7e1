"""Seals random chains with qp-capsule, as its users do.

Each line of standard input is an object: `folder`, `seed`, `count`, `keyring` (whether there is one) and `rotate` (after
how many records the key is changed, or 0). The folder gets `key`, `keyring.json`, `chain.json` and `capsules.db`; the
answer is the public key that is active at the end.
"""

import asyncio
import json
import random
import struct
import sys
import uuid
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from qp_capsule import Capsule, CapsuleChain, CapsuleStorage, CapsuleType, Keyring, Seal
from qp_capsule.capsule import (
    AuthoritySection,
    ContextSection,
    ExecutionSection,
    OutcomeSection,
    ReasoningOption,
    ReasoningSection,
    ToolCall,
    TriggerSection,
)

ODD = ["\0", "\x1f", "\x7f", "\x85", "\u2028", "\ufeff", "\ufffd", "\uffff", "\U00010000", '"\\/\b\f\n\r\t']
FLOATS = [0.0, -0.0, 1.0, 1e-5, 1e-4, 1e15, 1e16, 1e21, 5e-324, 1.7976931348623157e308, 9007199254740993.0]


class Chance(random.Random):
    def text(self):
        return "".join(self.letter() for _ in range(self.randrange(24)))

    def letter(self):
        kind = self.randrange(10)
        if kind == 0:
            return self.choice(ODD)
        if kind == 1:
            return chr(self.choice([self.randrange(0xD800), self.randrange(0xE000, 0x110000)]))
        return chr(self.randrange(32, 127))

    def maybe(self, make):
        return make() if self.randrange(2) else None

    def whole(self):
        return self.getrandbits(self.randrange(400)) * self.choice([1, -1])

    def fraction(self):
        kind = self.randrange(4)
        if kind == 0:
            return self.choice(FLOATS)
        if kind == 1:
            return self.random()
        # Any bits, which now and then are no number: Python seals that too.
        return struct.unpack(">d", self.randbytes(8))[0]

    def value(self, depth=3):
        kind = self.randrange(5 if depth == 0 else 7)
        if kind == 5:
            return [self.value(depth - 1) for _ in range(self.randrange(4))]
        if kind == 6:
            return self.mapping(depth - 1)
        return [lambda: None, lambda: self.randrange(2) == 0, self.whole, self.fraction, self.text][kind]()

    def mapping(self, depth=3):
        return {self.text(): self.value(depth) for _ in range(self.randrange(4))}

    def texts(self):
        return [self.text() for _ in range(self.randrange(3))]

    def moment(self):
        offset = timezone(timedelta(minutes=self.randrange(-720, 720))) if self.randrange(4) == 0 else UTC
        micros = 0 if self.randrange(4) == 0 else self.randrange(1_000_000)
        return datetime.fromtimestamp(self.randrange(4_000_000_000), offset).replace(microsecond=micros)

    def option(self):
        return ReasoningOption(
            id=self.text(),
            description=self.text(),
            pros=self.texts(),
            cons=self.texts(),
            estimated_impact=self.mapping(),
            feasibility=self.random(),
            risks=self.texts(),
            selected=self.randrange(2) == 0,
            rejection_reason=self.text(),
        )

    def call(self):
        return ToolCall(
            tool=self.text(),
            arguments=self.mapping(),
            result=self.value(),
            success=self.randrange(2) == 0,
            duration_ms=self.randrange(10**6),
            error=self.maybe(self.text),
        )

    def capsule(self):
        options = [self.option() for _ in range(self.randrange(3))]
        return Capsule(
            id=uuid.UUID(int=self.getrandbits(128), version=4),
            type=self.choice(list(CapsuleType)),
            domain=self.text(),
            parent_id=self.maybe(lambda: uuid.UUID(int=self.getrandbits(128), version=4)),
            trigger=TriggerSection(
                type=self.choice(["user_request", "scheduled", "system", "agent"]),
                source=self.text(),
                timestamp=self.moment(),
                request=self.text(),
                correlation_id=self.maybe(self.text),
                user_id=self.maybe(self.text),
            ),
            context=ContextSection(self.text(), self.maybe(self.text), self.mapping()),
            reasoning=ReasoningSection(
                analysis=self.text(),
                options=options,
                options_considered=[] if options else self.texts(),
                selected_option=self.text(),
                reasoning=self.text(),
                confidence=self.choice([0.0, 1.0, self.random()]),
                model=self.maybe(self.text),
                prompt_hash=self.maybe(self.text),
            ),
            authority=AuthoritySection(
                type=self.choice(["autonomous", "policy", "human_approved", "escalated"]),
                approver=self.maybe(self.text),
                policy_reference=self.maybe(self.text),
                chain=[self.mapping() for _ in range(self.randrange(2))],
                escalation_reason=self.maybe(self.text),
            ),
            execution=ExecutionSection(
                tool_calls=[self.call() for _ in range(self.randrange(3))],
                duration_ms=self.randrange(10**6),
                resources_used=self.mapping(),
            ),
            outcome=OutcomeSection(
                status=self.choice(["pending", "success", "failure", "partial", "blocked"]),
                result=self.value(),
                summary=self.text(),
                error=self.maybe(self.text),
                side_effects=self.texts(),
                metrics=self.mapping(),
            ),
        )


class InOneGo(CapsuleStorage):
    """Stores what the library stores, in one transaction: a thousand take seconds."""

    last = None

    async def get_latest(self, tenant_id=None):
        return self.last

    async def store(self, capsule, tenant_id=None):
        self.last = await super().store(capsule, tenant_id)
        return self.last

    def _get_session_factory(self):
        if not hasattr(self, "session"):
            self.session = super()._get_session_factory()()
        return lambda: self

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    def add(self, row):
        self.session.add(row)

    async def commit(self):
        pass

    async def close(self):
        await self.session.commit()
        await self.session.close()
        await super().close()


async def make(folder, seed, count, keyring, rotate):
    chance = Chance(seed)
    key = folder / "key"
    keys = Keyring(folder / "keyring.json", key) if keyring else None
    storage = (CapsuleStorage if rotate else InOneGo)(folder / "capsules.db")
    seal = Seal(key, enable_pq=False, keyring=keys)
    chain, sealed = CapsuleChain(storage), []
    for number in range(count):
        if rotate and number and number % rotate == 0:
            keys.rotate()
            seal = Seal(key, enable_pq=False, keyring=keys)
        capsule = await chain.seal_and_store(chance.capsule(), seal)
        sealed.append(capsule.to_sealed_dict())
    await storage.close()
    (folder / "chain.json").write_text(json.dumps(sealed, ensure_ascii=chance.randrange(2) == 0), "utf-8")
    return seal.get_public_key()


for line in sys.stdin:
    order = json.loads(line)
    folder = Path(order.pop("folder"))
    folder.mkdir(parents=True)
    print(json.dumps(asyncio.run(make(folder, **order))))
