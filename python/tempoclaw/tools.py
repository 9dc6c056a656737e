"""Tools: each is a function with the decorator `tool` in a file of its own."""

from __future__ import annotations

import inspect
import threading
import typing
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model

Function = TypeVar("Function", bound=Callable[..., Any])

#: Attribute of a function that is a tool.
MARK = "__tempoclaw_tool__"
#: Name of the parameter that gets the Context.
CONTEXT = "context"


class ToolDefinitionError(TypeError):
    """A tool that cannot be one, with what to do about it."""


@dataclass(frozen=True)
class Context:
    """One call of a tool."""

    #: The same in every run of the same call, and in its probes.
    idempotency_key: str
    #: Values of the secrets that the tool names. They are hidden in what it returns.
    secrets: dict[str, str] = field(repr=False)
    #: Who calls: the agent, its user, and where.
    agent: str
    user: str | None
    session: str
    turn: str
    call: str
    #: Set when the turn is stopped, the time is over or this program ends. An async tool is also cancelled.
    signal: threading.Event = field(default_factory=threading.Event, repr=False)
    #: For an undo: what the tool or its probe returned, as models read it, and the call that is reversed.
    result: str | None = None
    undoes: Context | None = None

    @property
    def cancelled(self) -> bool:
        return self.signal.is_set()


@dataclass(frozen=True)
class Tool:
    function: Callable[..., Any]
    description: str
    arguments: type[BaseModel]
    #: The function takes the model itself, under this name, and not its fields.
    model_name: str | None
    replay: str
    probe: Callable[..., Any] | None
    undo: Callable[..., Any] | None
    approval: bool
    outside: bool
    secrets: tuple[str, ...]
    timeout: int
    line: int

    def call(self, function: Callable[..., Any], arguments: BaseModel, context: Context) -> Any:
        """Calls the function, or its probe, with those of the arguments that it has parameters for."""
        values = {self.model_name: arguments} if self.model_name else dict(arguments.__dict__)
        values[CONTEXT] = context
        names = inspect.signature(function).parameters
        return function(**{name: values[name] for name in names if name in values})


def tool(
    *,
    replay: Literal["read", "idempotent", "once"],
    description: str | None = None,
    approval: bool = False,
    outside: bool = False,
    secrets: Sequence[str] = (),
    timeout: int = 60,
    probe: Callable[..., Any] | None = None,
    undo: Callable[..., Any] | None = None,
) -> Callable[[Function], Function]:
    """Makes a function, sync or async, the tool of its file.

    Its parameters are the arguments, each with a description: `order: Annotated[str, "Id of the order"]`; or one
    pydantic model. A parameter `context` gets the Context. What it returns is a text, or a value that the model reads as
    JSON, of at most 500,000 characters. An exception is a result that the model reads.

    replay: what a second run would do: "read" nothing, "idempotent" the same, "once" harm.
    description: for the model; by default the docstring.
    approval: people decide about each call, unless a policy or an earlier decision allows it.
    outside: what it returns comes from others; models see it marked as untrusted.
    secrets: names of secrets of the tenant that it gets, up to 20.
    timeout: seconds for one run, up to a day.
    probe: for "once": finds out after a crash whether the call took effect. It has parameters of the same names, and
        returns what the tool would have returned, or None when nothing has happened. It must not change anything.
    undo: reverses a call that has taken effect. It has parameters of the same names; its context has `result` and
        `undoes`. It is a tool of its own, `undo_NAME`, with the same approval.
    """

    def define(function: Function) -> Function:
        if not inspect.isfunction(function):
            raise ToolDefinitionError("@tool(…) stands above a function")
        if replay not in ("read", "idempotent", "once"):
            raise ToolDefinitionError('replay must be "read", "idempotent" or "once"')
        words = description or inspect.getdoc(function)
        if not words:
            raise ToolDefinitionError("it needs a docstring, which the model reads")
        model, model_name = _arguments_of(function)
        names = {model_name} if model_name else set(model.model_fields)
        if probe is not None and replay != "once":
            raise ToolDefinitionError("only a tool that may run once has a probe")
        if undo is not None and replay == "read":
            raise ToolDefinitionError("a tool that only reads has no undo")
        _check_parameters("probe", probe, names)
        _check_parameters("undo", undo, names)
        if isinstance(secrets, str):
            raise ToolDefinitionError("secrets must be a list of names")
        made = Tool(
            function=function,
            description=words,
            arguments=model,
            model_name=model_name,
            replay=replay,
            probe=probe,
            undo=undo,
            approval=approval,
            outside=outside,
            secrets=tuple(secrets),
            timeout=timeout,
            line=function.__code__.co_firstlineno,
        )
        setattr(function, MARK, made)
        return function

    return define


def parameters_of(tool: Tool) -> dict[str, Any]:
    """JSON Schema of its arguments. Raises ToolDefinitionError when a field has no description."""
    whole = tool.arguments.model_json_schema()
    schema = _plain(whole, whole.get("$defs", {}), ())
    if schema is None:
        schema = whole
    schema.setdefault("properties", {})
    for name, one in schema["properties"].items():
        if not one.get("description"):
            raise ToolDefinitionError(
                f'{name} has no description; write {name}: Annotated[…, "…"], which the model reads'
            )
    if not tool.model_name:
        schema.pop("description", None)
    return schema


def _arguments_of(function: Callable[..., Any]) -> tuple[type[BaseModel], str | None]:
    parameters = [one for one in inspect.signature(function).parameters.values() if one.name != CONTEXT]
    hints = typing.get_type_hints(function, include_extras=True)
    for one in parameters:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD, one.POSITIONAL_ONLY):
            raise ToolDefinitionError(f"{one.name} must be a parameter that can be passed by its name")
        if one.name not in hints:
            raise ToolDefinitionError(f'{one.name} has no type; write {one.name}: Annotated[str, "…"]')
    if len(parameters) == 1:
        [one] = parameters
        hint = hints[one.name]
        if isinstance(hint, type) and issubclass(hint, BaseModel):
            return hint, one.name
    fields: dict[str, Any] = {
        one.name: (_described(hints[one.name]), ... if one.default is one.empty else one.default)
        for one in parameters
    }
    with warnings.catch_warnings():
        # A field may have the name of a method of pydantic, which nothing calls here.
        warnings.simplefilter("ignore", UserWarning)
        config = ConfigDict(protected_namespaces=())
        return create_model("Arguments", __config__=config, **fields), None


def _described(hint: Any) -> Any:
    """A text beside a type is its description."""
    if typing.get_origin(hint) is not Annotated:
        return hint
    kind, *notes = typing.get_args(hint)
    described = tuple(Field(description=note) if isinstance(note, str) else note for note in notes)
    return Annotated[(kind, *described)]


def _check_parameters(what: str, function: Callable[..., Any] | None, names: set[str]) -> None:
    if function is None:
        return
    if not callable(function):
        raise ToolDefinitionError(f"{what} must be a function")
    unknown = set(inspect.signature(function).parameters) - names - {CONTEXT}
    if unknown:
        raise ToolDefinitionError(f"the {what} has parameters that the tool lacks: {', '.join(sorted(unknown))}")


_SCHEMAS_BY_NAME = ("properties", "patternProperties")
_SCHEMAS = ("items", "additionalProperties", "not", "anyOf", "oneOf", "allOf", "prefixItems")


def _plain(schema: Any, models: dict[str, Any], above: tuple[str, ...]) -> Any:
    """Without references, which not every model follows, and titles. None when it refers to itself."""
    if isinstance(schema, list):
        plain = [_plain(one, models, above) for one in schema]
        return None if None in plain else plain
    if not isinstance(schema, dict):
        return schema
    made = {key: value for key, value in schema.items() if key not in ("$defs", "$ref", "title")}
    for key, value in made.items():
        if key in _SCHEMAS_BY_NAME:
            made[key] = {name: _plain(one, models, above) for name, one in value.items()}
            if None in made[key].values():
                return None
        elif key in _SCHEMAS:
            made[key] = _plain(value, models, above)
            if made[key] is None:
                return None
    if "$ref" not in schema:
        return made
    name = schema["$ref"].rsplit("/", 1)[-1]
    target = None if name in above else _plain(models[name], models, (*above, name))
    return target and {**target, **made}
