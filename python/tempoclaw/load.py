"""Loads the tools of a folder: each file of `tools/` has one, and its name is the tool's."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
import sys
import traceback
from pathlib import Path
from typing import Any

from ._wire import VERSION
from .tools import MARK, Tool, ToolDefinitionError, parameters_of
from .undo import undo_name, undo_tool

_NAME = re.compile(r"[a-z][a-z0-9_]*")
#: What may be beside tools: their tests, and modules that several of them share.
_BESIDE = re.compile(r"_.*|test_.*|.*_test|conftest")


class Problem(Exception):
    """What is wrong with a file, and in which line."""

    def __init__(self, words: str, line: int | None = None) -> None:
        super().__init__(words)
        self.line = line


def load_tools(folder: Path) -> tuple[dict[str, Tool], dict[str, Any]]:
    """The tools by their names, and what the program that registers them reads.

    That has the definitions, each with its file and line, and problems: texts for people that begin with the file.
    """
    place = folder.resolve() / "tools"
    # At the end, so that a tool named as a module of Python does not take its place.
    sys.path.extend([str(place), str(place.parent)])
    tools: dict[str, Tool] = {}
    described: list[dict[str, Any]] = []
    problems: list[str] = []
    for file in sorted(place.glob("*.py")):
        if _BESIDE.fullmatch(file.stem) or not file.is_file():
            continue
        try:
            found = _load_file(file)
            made = {file.stem: found}
            if found.undo is not None:
                made[undo_name(file.stem)] = undo_tool(file.stem, found)
            definitions = [_definition_of(name, file, one) for name, one in made.items()]
        except Problem as problem:
            at = f"tools/{file.name}" + (f":{problem.line}" if problem.line else "")
            problems.append(f"{at}: {problem}")
        else:
            tools.update(made)
            at = f"tools/{file.name}:{found.line}"
            described.extend({"file": at, "definition": definition} for definition in definitions)
    return tools, {"version": VERSION, "tools": described, "problems": problems}


def _load_file(file: Path) -> Tool:
    if not _NAME.fullmatch(file.stem):
        raise Problem("its name must be a-z, 0-9 and _, a letter first: it is the tool's name")
    # A name of its own, because modules of Python and packages have the short ones.
    name = f"tempoclaw_tool_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise Problem("it cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    # Types of its parameters are looked up by the name of the module.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise Problem(f"SyntaxError: {error.msg}", error.lineno if error.filename == str(file) else None) from None
    except (Exception, SystemExit) as error:
        raise Problem(_words_of(error), _line_of(error, file)) from None
    made = [getattr(one, MARK) for one in vars(module).values() if getattr(one, "__module__", None) == name and hasattr(one, MARK)]
    if not made:
        raise Problem("it has no tool; put @tool(…) of tempoclaw above a function")
    if len(made) > 1:
        raise Problem("it has two tools; a file has one, which is named as the file", made[1].line)
    return made[0]


def _words_of(error: BaseException) -> str:
    return str(error) if isinstance(error, ToolDefinitionError) else f"{type(error).__name__}: {error}"


def _line_of(error: BaseException, file: Path) -> int | None:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return lines[-1] if lines else None


def _definition_of(name: str, file: Path, tool: Tool) -> dict[str, Any]:
    try:
        parameters = parameters_of(tool)
    except Exception as error:
        raise Problem(_words_of(error), tool.line) from None
    return {
        "name": name,
        "language": "python",
        "description": tool.description,
        "parameters": parameters,
        "replay": tool.replay,
        "probes": tool.probe is not None,
        **({"undone_by": undo_name(name)} if tool.undo else {}),
        **({"undoes": file.stem} if name != file.stem else {}),
        "approval": tool.approval,
        "outside": tool.outside,
        "secrets": list(tool.secrets),
        "timeout_seconds": tool.timeout,
        "hash": _hash_of(file),
    }


def _hash_of(file: Path) -> str:
    """Of the file, and of the files of the folder that it imports: half of a SHA-256, in the form of a UUID."""
    texts: dict[Path, bytes] = {}
    remaining = [file]
    while remaining:
        path = remaining.pop()
        if path in texts or not path.is_file():
            continue
        texts[path] = path.read_bytes()
        remaining.extend(_imported_by(texts[path], (file.parent, file.parent.parent)))
    digest = hashlib.sha256()
    for path in sorted(texts):
        digest.update(path.name.encode() + b"\0" + texts[path] + b"\0")
    text = digest.hexdigest()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:32]))


def _imported_by(source: bytes, roots: tuple[Path, ...]) -> list[Path]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            # A relative import is one of a package of the folder; its files are found by their whole names too.
            module = node.module or ""
            names.update({module, *(f"{module}.{one.name}".lstrip(".") for one in node.names)})
    files: list[Path] = []
    for name in filter(None, names):
        parts = name.split(".")
        for root in roots:
            for count in range(1, len(parts) + 1):
                base = root.joinpath(*parts[:count])
                files.extend((base.with_suffix(".py"), base / "__init__.py"))
    return files
