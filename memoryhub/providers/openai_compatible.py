"""Embeddings from any endpoint that speaks OpenAI's API: OpenAI itself, Ollama, TEI, vLLM, llama.cpp, …"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from memoryhub.providers.base import ProviderError, Vectors, unit
from memoryhub.providers.endpoint import Endpoint, failures_named, open_endpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

_TEXTS_AT_ONCE = 64
_BLANK = "."  # endpoints refuse an empty input


class OpenAIEmbedder:
    """Asks the endpoint over HTTP; never inside a write."""

    name = "openai"
    local = False

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._dimensions = endpoint.dimensions
        self._lock = threading.Lock()
        self._client = open_endpoint(endpoint)
        # Looked up here: the SDK imports its resources when they are first named, which no deadline should pay for.
        self._create = self._client.embeddings.with_raw_response.create

    @property
    def model(self) -> str:
        return self._endpoint.model

    @property
    def knows_dimensions(self) -> bool:
        """As configured, or learnt already."""
        return self._dimensions is not None

    @property
    def dimensions(self) -> int:
        """As configured, else asked for once with a probe. Raises ProviderError."""
        with self._lock:
            if self._dimensions is None:
                self._dimensions = len(self._request(["probe"], None)[0])
            return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors in the order given. Raises ProviderError; `permanent` when asking again cannot help."""
        dimensions = self.dimensions
        batches = [texts[start : start + _TEXTS_AT_ONCE] for start in range(0, len(texts), _TEXTS_AT_ONCE)]
        rows = [row for batch in batches for row in self._request(batch, dimensions)]
        return unit(np.array(rows, dtype=np.float32).reshape(len(texts), dimensions))

    def close(self) -> None:
        """Drops the connections."""
        self._client.close()

    def _request(self, texts: Sequence[str], dimensions: int | None) -> list[list[float]]:
        with failures_named("The embedding service"):
            answer = self._create(
                input=[text if text.strip() else _BLANK for text in texts],
                model=self._endpoint.model,
                encoding_format="float",
            )
        return _rows(answer.content, len(texts), dimensions)


def _rows(body: bytes, count: int, dimensions: int | None) -> list[list[float]]:
    """The vectors of an answer in the order of the question. Raises ProviderError on anything unexpected."""
    try:
        data = json.loads(body)["data"]
        rows: list[Any] = [item["embedding"] for item in sorted(data, key=lambda item: item["index"])]
        positions = sorted(item["index"] for item in data)
        matrix = np.array(rows, dtype=np.float64)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ProviderError("The embedding service's answer is not a list of embeddings.") from error
    if positions != list(range(count)) or matrix.ndim != 2:
        raise ProviderError(f"The embedding service returned {len(positions)} vectors for {count} texts.")
    if matrix.shape[1] != (dimensions or matrix.shape[1]):
        raise ProviderError(
            f"The embedding service returns {matrix.shape[1]} dimensions where {dimensions} are expected; "
            "correct MEMORYHUB_EMBEDDER_DIMENSIONS or the model.",
            permanent=True,
        )
    if not np.isfinite(matrix).all() or np.abs(matrix).max(initial=0.0) > 1e18:
        raise ProviderError("The embedding service returned a number that is not finite.", permanent=True)
    return rows
