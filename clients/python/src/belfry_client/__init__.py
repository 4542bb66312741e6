"""Client of Belfry, the self-hostable webhook scheduler.

    from belfry_client import Belfry

    belfry = Belfry()  # reads BELFRY_API_KEY and BELFRY_URL
    belfry.tasks.create(target_url="https://example.com/hooks/trial-ends", delay="3d", payload={"user": 42})
"""

from . import errors, models, webhooks
from ._async_client import AsyncBelfry
from ._json import JsonText
from ._requests import UNSET
from ._sync_client import Belfry
from .errors import ApiError, BelfryError

__all__ = ["UNSET", "ApiError", "AsyncBelfry", "Belfry", "BelfryError", "JsonText", "errors", "models", "webhooks"]
