"""Verifies a chain in SQLite with its signatures, after one pass to warm up.

usage: capsule_verify.py PEERS FOLDER COUNT
"""

import asyncio
from time import perf_counter

from capsule import arguments, chain_and_seal, tell


async def main():
    folder, count = arguments()
    chain, seal = chain_and_seal(folder)
    await chain.verify(seal=seal)
    start = perf_counter()
    result = await chain.verify(seal=seal)
    seconds = perf_counter() - start
    assert result.valid and result.capsules_verified == count, result
    tell(seconds=seconds, count=result.capsules_verified)


asyncio.run(main())
