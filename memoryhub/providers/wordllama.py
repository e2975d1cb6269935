"""The embedded default: WordLlama's static 256-dimensional vectors, read from the installed wheel.

Only the wheel's two data files are used, never its Python code: that would import an HTTP client, configure the root
logger and be able to download. A text's vector is the mean of its tokens' vectors, which is WordLlama's own recipe.
"""

from __future__ import annotations

import os
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from tokenizers import Tokenizer

from memoryhub.providers.base import ProviderError, Vectors, unit

if TYPE_CHECKING:
    from collections.abc import Sequence

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TEXTS_AT_ONCE = 64
_NEUTRAL = " "  # what a text without a single token is taken for

# The tokenizer's own thread pool would not survive a fork, and our threads already use every core.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


class WordLlamaEmbedder:
    """About 60 MB resident, loaded when first used; fewer dimensions are the first of each vector."""

    name = "wordllama"
    knows_dimensions = True
    local = True

    def __init__(self, dimensions: int = 256) -> None:
        self.dimensions = dimensions
        self.model = f"l2_supercat_{dimensions}"
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, Vectors] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors in the order given; blank texts share one neutral direction. Raises ProviderError."""
        tokenizer, matrix = self._loaded or self._load()
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            batch = [text if text.strip() else _NEUTRAL for text in texts[start : start + _TEXTS_AT_ONCE]]
            for row, encoding in enumerate(tokenizer.encode_batch_fast(batch, add_special_tokens=False), start):
                matrix.take(encoding.ids or [0], axis=0, mode="clip").mean(axis=0, out=vectors[row])
        return unit(vectors)

    def emphasise(self, words: Sequence[str], weights: Sequence[float]) -> NDArray[np.float32]:
        """The unit vector of the words, each weighed. Raises ProviderError."""
        tokenizer, matrix = self._loaded or self._load()
        encodings = tokenizer.encode_batch_fast(list(words), add_special_tokens=False)
        means = [matrix.take(encoding.ids or [0], axis=0, mode="clip").mean(axis=0) for encoding in encodings]
        together: NDArray[np.float32] = unit(np.asarray(weights, np.float32)[None, :] @ np.stack(means))[0]
        return together

    def _load(self) -> tuple[Tokenizer, Vectors]:
        with self._lock:
            if self._loaded is None:
                tokenizer, matrix = _read_wheel()
                self._loaded = tokenizer, np.ascontiguousarray(matrix[:, : self.dimensions])
            return self._loaded


def _read_wheel() -> tuple[Tokenizer, Vectors]:
    spec = find_spec("wordllama")
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise ProviderError("The package wordllama is not installed; run `uv sync`.", permanent=True)
    folder = Path(next(iter(folders)))
    try:
        tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        with safe_open(folder / _WEIGHTS, framework="np") as tensors:
            matrix = tensors.get_tensor("embedding.weight").astype(np.float32)
    except OSError as error:
        raise ProviderError(f"The files of wordllama cannot be read: {error}", permanent=True) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer, matrix
