"""What can go wrong: one family of exceptions, each with a stable code, a sentence and a fix."""

from __future__ import annotations

from typing import Any, Mapping, Optional


class CapsidError(Exception):
    """Everything this package raises.

    ``code`` is stable and meant for programs; ``message`` and ``fix`` are for people. ``hub_code`` is the hub's own
    code where a hub refused, ``status`` the HTTP status, ``answer`` the whole answer.
    """

    #: The code of this kind of error, the same as the ``capsid`` program uses.
    default_code = "internal"

    def __init__(
        self,
        message: str,
        *,
        code: Optional[str] = None,
        fix: Optional[str] = None,
        status: Optional[int] = None,
        hub_code: Optional[str] = None,
        answer: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(message)
        self.code = code or self.default_code
        self.message = message
        self.fix = fix
        self.status = status
        self.hub_code = hub_code
        self.answer = answer

    def __str__(self) -> str:
        return f"{self.message} {self.fix}" if self.fix else self.message


class InputInvalid(CapsidError):
    """What was given cannot be used; nothing was sent."""

    default_code = "input_invalid"


class IdentityInvalid(CapsidError):
    """The files that hold this node's identity cannot be used."""

    default_code = "identity_invalid"


class HubUnreachable(CapsidError):
    """The hub could not be reached, or did not answer in time."""

    default_code = "hub_unreachable"


class HubAnswerInvalid(CapsidError):
    """What came back is not what the protocol allows. Nothing of it was used."""

    default_code = "hub_answer_invalid"


class AssetIdMismatch(HubAnswerInvalid):
    """An asset came under an id that is not the hash of its content. It was not used."""

    default_code = "asset_id_mismatch"


class HubRefused(CapsidError):
    """The hub understood and said no."""

    default_code = "hub_refused"


class NodeSecretRefused(HubRefused):
    """The hub does not take this node's secret."""

    default_code = "node_secret_refused"


class RateLimited(HubRefused):
    """The hub asks to wait; ``retry_after`` says for how many seconds, where it is known."""

    default_code = "hub_busy"

    def __init__(self, message: str, *, retry_after: Optional[float] = None, **rest: Any) -> None:
        super().__init__(message, **rest)
        self.retry_after = retry_after
