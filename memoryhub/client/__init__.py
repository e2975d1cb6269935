"""The agents' side: a client of the hub, and the names agents know memory by. Needs no Django.

Nothing is decided here twice: what both sides decide is in ``memories.rules``.
"""

from __future__ import annotations

from memories.rules.facts import Fact
from memories.rules.status import StatusMoveRefused
from memoryhub.client.answers import Answer, Context, Found, Memory, SearchResult, Written
from memoryhub.client.encryptedstore import EncryptedMemoryStore
from memoryhub.client.engine import MemoryEngine, format_for_injection, manage_memory, search_memory
from memoryhub.client.errors import (
    ClientClosed,
    Conflict,
    Denied,
    HubFailed,
    HubTimeout,
    HubUnreachable,
    Invalid,
    Malformed,
    MemoryHubError,
    NotConfigured,
    NotFound,
    RateLimited,
    StaleVersion,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
    Unsupported,
)
from memoryhub.client.happenings import EventBus, MemoryEvent, MemoryEventEmitter
from memoryhub.client.hub import AsyncMemoryHub, MemoryHub
from memoryhub.client.hubstore import HubMemoryStore
from memoryhub.client.items import (
    AIMemory,
    HumanMemory,
    MemoryCategory,
    MemoryItem,
    MemoryMetadata,
    MemoryStatus,
    SystemMemory,
    ToolMemory,
)
from memoryhub.client.longterm import ExtractionType, LongTermMemory
from memoryhub.client.migrations import Migration, MigrationRunner
from memoryhub.client.namespaces import NamespaceIncomplete, NamespaceTemplate
from memoryhub.client.orchestrating import MemoryOrchestrator, OrchestratorConfig
from memoryhub.client.persistence import HookPoint, MemoryPersistence
from memoryhub.client.retrying import NO_RETRIES, Retries
from memoryhub.client.shortterm import ShortTermMemory
from memoryhub.client.sqlitestore import SQLiteMemoryStore
from memoryhub.client.stores import MemoryStore
from memoryhub.client.summarizing import (
    SummaryConfig,
    SummaryRefused,
    SummaryTemplate,
    check_trigger,
    generate_summary,
)
from memoryhub.client.updating import MemUpdateChecker, UpdateAction, UpdateDecision
from memoryhub.lib.crypto import DecryptionError

__all__ = [
    "NO_RETRIES",
    "AIMemory",
    "Answer",
    "AsyncMemoryHub",
    "ClientClosed",
    "Conflict",
    "Context",
    "DecryptionError",
    "Denied",
    "EncryptedMemoryStore",
    "EventBus",
    "ExtractionType",
    "Fact",
    "Found",
    "HookPoint",
    "HubFailed",
    "HubMemoryStore",
    "HubTimeout",
    "HubUnreachable",
    "HumanMemory",
    "Invalid",
    "LongTermMemory",
    "Malformed",
    "MemUpdateChecker",
    "Memory",
    "MemoryCategory",
    "MemoryEngine",
    "MemoryEvent",
    "MemoryEventEmitter",
    "MemoryHub",
    "MemoryHubError",
    "MemoryItem",
    "MemoryMetadata",
    "MemoryOrchestrator",
    "MemoryPersistence",
    "MemoryStatus",
    "MemoryStore",
    "Migration",
    "MigrationRunner",
    "NamespaceIncomplete",
    "NamespaceTemplate",
    "NotConfigured",
    "NotFound",
    "OrchestratorConfig",
    "RateLimited",
    "Retries",
    "SQLiteMemoryStore",
    "SearchResult",
    "ShortTermMemory",
    "StaleVersion",
    "StatusMoveRefused",
    "SummaryConfig",
    "SummaryRefused",
    "SummaryTemplate",
    "SystemMemory",
    "TooLarge",
    "ToolMemory",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedAnswer",
    "Unsupported",
    "UpdateAction",
    "UpdateDecision",
    "Written",
    "check_trigger",
    "format_for_injection",
    "generate_summary",
    "manage_memory",
    "search_memory",
]
