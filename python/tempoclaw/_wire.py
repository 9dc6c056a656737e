"""Made by scripts/generate-python-wire.ts: what tool hosts and TempoClaw agree on, and what a caller does about each error."""

VERSION = "0.1.0"
RUN = "run_code_tool"
PROBE = "probe_code_tool"
NOT_STARTED = "NotStarted"
HEARTBEAT_SECONDS = 9
NOTICE_SECONDS = 2
DRAIN_SECONDS = 10
AT_ONCE = 50
MAX_OUTPUT = 500000
MAX_MESSAGE = 10000
MIN_SECRET = 6

REMEDIES: dict[str, str] = {
    "InvalidInput": "Correct the fields that `errors` names.",
    "Unauthorized": "Send `Authorization: Bearer tc_…` with a key that is neither revoked nor expired.",
    "Forbidden": "Use a key with the scope in `scope`, or ask an admin.",
    "NotFound": "Check the id. An id of another tenant gets the same answer as one that does not exist.",
    "MethodNotAllowed": "Use a method that the `Allow` header names.",
    "Conflict": "Read the current state first; `detail` says what prevents the request.",
    "SessionBusy": "Wait for the turn, or send the message with another `mode`.",
    "StaleTurn": "The turn that you named has ended, or another one runs. Read the session.",
    "AlreadyDecided": "Somebody decided it earlier; `detail` says who and when.",
    "OutcomeUnknown": "The call may have taken effect. Check this before you repeat it.",
    "IdempotencyInFlight": "Wait for the first request, then repeat this one.",
    "ApprovalExpired": "Nothing has run. Ask the agent again.",
    "ApprovalWithdrawn": "Nothing has run. The turn was stopped, or somebody withdrew the approval.",
    "EventsTrimmed": "Continue after `first_id` - 1. For what happened before, read the transcript.",
    "PreconditionFailed": "Read the resource again, and send your change with its new `ETag`.",
    "TooLarge": "Send a smaller request.",
    "UnsupportedMedia": "Send `application/json` in UTF-8.",
    "Misdirected": "Use a name that the server accepts, or add this one to `api.allowedHosts`.",
    "NotRecorded": "Record the session again, or add the missing answer to the test; `detail` names the call.",
    "RecordingDiffers": "Read what differs. If the change is wanted, record it: `tempoclaw test --update`.",
    "Unprocessable": "Correct what `detail` names.",
    "IdempotencyMismatch": "Use a new `Idempotency-Key` for a new request.",
    "RateLimited": "Wait `Retry-After` seconds.",
    "QueueFull": "Wait until the session has processed some of its messages.",
    "BudgetExceeded": "Raise the budget or wait for its next period.",
    "ModelFailed": "Read `detail`. The provider refused the request, or failed each time.",
    "Unavailable": "Wait `Retry-After` seconds and repeat the same request with the same `Idempotency-Key`.",
    "TenantFrozen": "Read `detail`: the tenant is being moved, or its operator has stopped it. Reading works. Repeat the request later, with the same `Idempotency-Key`.",
    "Internal": "Report the `request_id`. The log of the API has the details.",
}
