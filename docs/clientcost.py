"""What a call through `memoryhub.client` costs beside the same request sent with bare httpx2, on a hub that runs.

    MEMORYHUB_URL=… MEMORYHUB_KEY=… uv run python -m docs.clientcost

Both are asked in turn over connections that are kept; fifty memories are written first and erased in the end.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from statistics import median
from typing import Any

import httpx2

from memoryhub.client import MemoryHub

ROUNDS = 300
WARM = 30


def main() -> None:
    """Print a row for each verb: medians in milliseconds, and the median of the differences, round by round."""
    url, key = os.environ["MEMORYHUB_URL"].rstrip("/"), os.environ["MEMORYHUB_KEY"]
    headers = {"Authorization": f"Bearer {key}"}
    with MemoryHub(url, key) as hub, httpx2.Client(base_url=f"{url}/api/v1", headers=headers, timeout=30) as bare:
        texts = [f"Sample {uuid.uuid4().hex} of what a call costs." for _ in range(50)]
        ids = [str(hub.write_memory(text, dedup=False).memory.id) for text in texts]
        found = {"query": "what does a call cost?", "top_k": 10}
        pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "whoami": (hub.whoami, lambda: bare.get("/whoami")),
            "get_memory": (lambda: hub.get_memory(ids[0]), lambda: bare.get(f"/memories/{ids[0]}")),
            "search_memories": (
                lambda: hub.search_memories("what does a call cost?", top_k=10),
                lambda: bare.post("/memories/search", json=found),
            ),
            "update_memory": (
                lambda: hub.update_memory(ids[0], importance=4),
                lambda: bare.patch(
                    f"/memories/{ids[0]}", json={"importance": 4}, headers={"Idempotency-Key": uuid.uuid4().hex}
                ),
            ),
            "list_memories": (lambda: hub.list_memories(limit=50), lambda: bare.get("/memories", params={"limit": 50})),
        }
        for name, (through, without) in pairs.items():
            print(name, *(f"{number:.2f}" for number in compared(through, without)))
        for memory_id in ids:
            hub.erase_memory(memory_id)


def compared(through: Callable[[], Any], without: Callable[[], Any]) -> tuple[float, float, float]:
    """Median with the client, median without, median difference of neighbours; the order alternates."""
    with_client, bare = list[float](), list[float]()
    for place in range(WARM + ROUNDS):
        for call, times in ((through, with_client), (without, bare))[:: 1 if place % 2 else -1]:
            began = time.perf_counter()
            call()
            if place >= WARM:
                times.append(1000 * (time.perf_counter() - began))
    return median(with_client), median(bare), median(a - b for a, b in zip(with_client, bare, strict=True))


if __name__ == "__main__":
    main()
