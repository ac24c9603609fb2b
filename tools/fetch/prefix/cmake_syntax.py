"""Reads the syntax of CMake files: commands with their arguments, and the blocks that they make.

    for node in read_blocks(read_commands(text, "hip-config.cmake"), "hip-config.cmake"): ...

The grammar is that of cmake-language(7): command invocations, with bracket, quoted and unquoted arguments, comments of
both kinds, and escape sequences. Nothing is evaluated here. Each error names the file and the line.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

_COMMENT: Final = re.compile(r"#(?!\[=*\[)[^\n]*")
_BRACKET: Final = re.compile(r"\[(=*)\[")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPACE: Final = re.compile(r"\s+")
#: An unquoted argument; `$(NAME)` and quotes within it are the legacy forms that the grammar still allows.
_UNQUOTED: Final = re.compile(r'(?:\$\([A-Za-z0-9_]*\)|[^\s()#"\\]|\\.|(?<=[^\s()])"[^"\n]*")+', re.DOTALL)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)

#: Which command ends a block, by the one that begins it.
BLOCKS: Final = {
    "if": "endif",
    "foreach": "endforeach",
    "while": "endwhile",
    "function": "endfunction",
    "macro": "endmacro",
    "block": "endblock",
}
MAX_DEPTH: Final = 100


class CMakeError(Exception):
    """A CMake file that cannot be read: the message names the file, the line, and what was expected."""

    def __init__(self, problem: str, place: str = "") -> None:
        super().__init__(f"{place}: {problem}. Install the file again" if place else problem)
        self.problem = problem
        self.place = place


@dataclass(frozen=True)
class Argument:
    """An argument as it is written: its text, without quotes or brackets; references are not replaced yet."""

    text: str
    quoted: bool = False
    bracket: bool = False


@dataclass(frozen=True)
class Invocation:
    """An invocation of a command, named in lower case, and the line that it begins in."""

    name: str
    arguments: tuple[Argument, ...]
    line: int


@dataclass
class CommandBlock:
    """A command that begins a block, and the nodes of each part: one, or for `if`, one for each of its branches."""

    parts: list[tuple[Invocation, list["Node"]]] = field(default_factory=list)

    @property
    def head(self) -> Invocation:
        """The command that begins the block."""
        return self.parts[0][0]


Node = Invocation | CommandBlock


class _Reader:
    """Reads commands from a text."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text.removeprefix("\ufeff")
        self._file = file
        self._at = 0
        self._line = 1

    def commands(self) -> list[Invocation]:
        found: list[Invocation] = []
        while True:
            self._skip(newlines=True)
            if self._at >= len(self._text):
                return found
            found.append(self._command())

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        if match := pattern.match(self._text, self._at):
            self._line += match[0].count("\n")
            self._at = match.end()
        return match

    def _skip(self, *, newlines: bool) -> None:
        """Skip space and comments."""
        while True:
            before = self._at
            if newlines or self._text[self._at : self._at + 1] != "\n":
                self._take(_SPACE)
            self._take(_COMMENT)
            if self._text.startswith("#", self._at) and _BRACKET.match(self._text, self._at + 1):
                self._at += 1
                self._bracket()
            if self._at == before:
                return

    def _bracket(self) -> str | None:
        """Take a bracket argument, or the rest of a bracket comment."""
        begun = self._line
        if not (opening := self._take(_BRACKET)):
            return None
        closing = f"]{opening[1]}]"
        end = self._text.find(closing, self._at)
        if end < 0:
            raise self._error(begun, f"a bracket that begins here has no end; expected {closing}")
        content = self._text[self._at : end]
        self._line += content.count("\n")
        self._at = end + len(closing)
        return content.removeprefix("\n")

    def _command(self) -> Invocation:
        line = self._line
        name = self._take(_IDENTIFIER)
        if not name:
            raise self._error(line, f"{self._text[self._at : self._at + 20]!r}: expected the name of a command")
        self._skip(newlines=False)
        if not self._text.startswith("(", self._at):
            raise self._error(line, f"{name[0]}: expected ( after the name of a command")
        self._at += 1
        return Invocation(name[0].lower(), self._arguments(name[0], line), line)

    def _arguments(self, name: str, line: int) -> tuple[Argument, ...]:
        found: list[Argument] = []
        depth = 1
        while True:
            self._skip(newlines=True)
            if self._at >= len(self._text):
                raise self._error(line, f"{name}: its arguments have no end; expected )")
            character = self._text[self._at]
            if character in "()":
                self._at += 1
                depth += 1 if character == "(" else -1
                if not depth:
                    return tuple(found)
                found.append(Argument(character))
            else:
                found.append(self._argument(name))

    def _argument(self, name: str) -> Argument:
        line = self._line
        if (content := self._bracket()) is not None:
            return Argument(content, quoted=True, bracket=True)
        if quoted := self._take(_QUOTED):
            return Argument(re.sub(r"(?<!\\)((?:\\\\)*)\\\n", r"\1", quoted[1]), quoted=True)
        if unquoted := self._take(_UNQUOTED):
            return Argument(unquoted[0])
        raise self._error(line, f'{name}: an argument that begins here has no end; expected "')

    def _error(self, line: int, problem: str) -> CMakeError:
        return CMakeError(problem, f"{self._file}:{line}")


def read_commands(text: str, file: str) -> list[Invocation]:
    """Read the commands of a text that is called `file` in errors. Raises CMakeError if it is damaged."""
    return _Reader(text, file).commands()


def read_blocks(commands: Sequence[Invocation], file: str) -> list[Node]:
    """Arrange commands in blocks. Raises CMakeError if a block has no end, or an end no block."""
    top: list[Node] = []
    open_blocks: list[CommandBlock] = []
    for command in commands:
        nodes = open_blocks[-1].parts[-1][1] if open_blocks else top
        begun = open_blocks[-1].head.name if open_blocks else ""
        if command.name in BLOCKS:
            if len(open_blocks) >= MAX_DEPTH:
                raise CMakeError(f"more than {MAX_DEPTH} blocks within blocks", f"{file}:{command.line}")
            block = CommandBlock([(command, [])])
            nodes.append(block)
            open_blocks.append(block)
        elif command.name in ("elseif", "else") and begun == "if":
            open_blocks[-1].parts.append((command, []))
        elif begun and command.name == BLOCKS[begun]:
            open_blocks.pop()
        elif command.name in ("elseif", "else", *BLOCKS.values()):
            expected = f"{BLOCKS[begun]} first" if begun else "a command that begins a block before it"
            raise CMakeError(f"{command.name}: expected {expected}", f"{file}:{command.line}")
        else:
            nodes.append(command)
    if open_blocks:
        head = open_blocks[-1].head
        raise CMakeError(f"{head.name} has no end; expected {BLOCKS[head.name]}", f"{file}:{head.line}")
    return top


def commands_in(nodes: Sequence[Node]) -> list[Invocation]:
    """Return all commands of nodes, those in blocks too."""
    found: list[Invocation] = []
    for node in nodes:
        if isinstance(node, Invocation):
            found.append(node)
        else:
            for head, body in node.parts:
                found += [head, *commands_in(body)]
    return found
