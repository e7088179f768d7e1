"""What the scripts of the Python peer share: a record like those that ours seals, and the last line."""

import json
import resource
import sys
from pathlib import Path

from qp_capsule import Capsule, CapsuleChain, CapsuleStorage, CapsuleType, Seal
from qp_capsule.capsule import (
    AuthoritySection,
    ContextSection,
    ExecutionSection,
    OutcomeSection,
    ReasoningSection,
    ToolCall,
    TriggerSection,
)


def chain_and_seal(folder):
    """A chain and a key of its own in a folder."""
    folder = Path(folder)
    return CapsuleChain(CapsuleStorage(folder / "chain.db")), Seal(folder / "key", enable_pq=False)


def capsule(at):
    """A tool call with all six sections."""
    command = f"cargo test --package parser --test round_trip case_{at}"
    return Capsule(
        type=CapsuleType.TOOL,
        domain="agents",
        trigger=TriggerSection(
            type="user_request",
            source="user:bench",
            request=f"Make test case {at} pass. The reader must not lose the last line of a file without a line feed.",
        ),
        context=ContextSection(
            agent_id="agent:bench",
            session_id="5f0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b",
            environment={"cwd": "/home/user/parser", "branch": "fix-last-line", "model": "some-model-4"},
        ),
        reasoning=ReasoningSection(
            analysis="The loop ends at the last line feed, so what stands behind it is dropped.",
            selected_option="opt_1",
            reasoning="It is the smallest change, and a test shows it.",
            confidence=0.85,
        ),
        authority=AuthoritySection(type="policy", policy_reference="allow:cargo"),
        execution=ExecutionSection(
            tool_calls=[
                ToolCall(
                    tool="shell",
                    arguments={"command": command},
                    result=f"running 1 test\ntest case_{at} ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n",
                    success=True,
                    duration_ms=1840,
                )
            ],
            duration_ms=1840,
        ),
        outcome=OutcomeSection(
            status="success",
            result="ok",
            summary=f"Case {at} passes",
            side_effects=["target/debug was written"],
        ),
    )


def tell(**result):
    """The result, with the peak memory of this process."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**result, "megabytes": peak}))


def arguments():
    """The folder, and how many records."""
    return sys.argv[2], int(sys.argv[3])
