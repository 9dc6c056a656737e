"""Tools in Python for TempoClaw's agents, and a client of its HTTP API."""

from ._wire import VERSION as __version__
from .client import Client
from .errors import TempoClawError
from .tools import Context, tool

__all__ = ["Client", "Context", "TempoClawError", "__version__", "tool"]
