"""Seals records into a chain in SQLite, one after the other, each durable before the next.

usage: capsule_seal.py PEERS FOLDER COUNT
"""

import asyncio
import json
from time import perf_counter

from capsule import arguments, capsule, chain_and_seal, tell


async def main():
    folder, count = arguments()
    chain, seal = chain_and_seal(folder)
    capsules = [capsule(at) for at in range(count)]
    # Makes the key and the tables, which is not part of the work.
    seal.get_public_key()
    length = await chain.get_chain_length()
    start = perf_counter()
    for each in capsules:
        await chain.seal_and_store(each, seal)
    seconds = perf_counter() - start
    sealed = await chain.get_chain_length() - length
    text = json.dumps(capsules[-1].to_dict(), sort_keys=True, separators=(",", ":"))
    tell(seconds=seconds, count=sealed, bytes=len(text))


asyncio.run(main())
