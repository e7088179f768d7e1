"""A client for hubs that speak GEP-A2A: find, publish and check what agents learned.

>>> from capsid_client import Client
>>> client = Client("http://127.0.0.1:4000")
>>> results = client.search_assets(signals="timeout")
"""

from __future__ import annotations

from .assets import (
    SCHEMA_VERSION,
    BlastRadius,
    Capsule,
    EvolutionEvent,
    Gene,
    Outcome,
    ProblemIds,
    ProblemRecord,
    ProofRecord,
)
from .client import Client, Fetched, FetchResult
from .content import Verdict, asset_id, canonical, stamp_asset, stamped, verify
from .errors import (
    AssetIdMismatch,
    CapsidError,
    HubAnswerInvalid,
    HubRefused,
    HubUnreachable,
    IdentityInvalid,
    InputInvalid,
    NodeSecretRefused,
    RateLimited,
)

__version__ = "0.2.0"

__all__ = [
    "AssetIdMismatch",
    "BlastRadius",
    "CapsidError",
    "Capsule",
    "Client",
    "EvolutionEvent",
    "FetchResult",
    "Fetched",
    "Gene",
    "HubAnswerInvalid",
    "HubRefused",
    "HubUnreachable",
    "IdentityInvalid",
    "InputInvalid",
    "NodeSecretRefused",
    "Outcome",
    "ProblemIds",
    "ProblemRecord",
    "ProofRecord",
    "RateLimited",
    "SCHEMA_VERSION",
    "Verdict",
    "asset_id",
    "canonical",
    "stamp_asset",
    "stamped",
    "verify",
]
