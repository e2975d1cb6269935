"""How long and how many (DESIGN: limits of the REST surface); a vault may lower ``CONTENT_MAX``, never raise it."""

from __future__ import annotations

CONTENT_MAX = 100_000
TAGS_MAX = 32
TAG_MAX = 64
ENTITIES_MAX = 64
ENTITY_MAX = 200
LABEL_MAX = 255
NAMESPACE_PARTS_MAX = 4
QUERY_MAX = 10_000
TOP_K_MAX = 200
EXTRA_BYTES_MAX = 8 * 1024
BATCH_MAX = 500
PAGE_MAX = 200
REASON_MAX = 1_000
SEARCH_BANKS_MAX = 100
READ_IDS_MAX = 200
