"""The REST routes of banks, agents and keys: parse, ask one service function, shape the answer."""

from __future__ import annotations

from ninja import Router

from banks.api.agents import router as agents_router
from banks.api.banks import router as banks_router
from banks.api.keys import router as keys_router
from banks.api.whoami import router as whoami_router

router = Router()
router.add_router("", banks_router, tags=["banks"])
router.add_router("", agents_router, tags=["agents"])
router.add_router("", keys_router, tags=["keys"])
router.add_router("", whoami_router, tags=["keys"])
