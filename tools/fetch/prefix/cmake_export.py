"""Reads what a CMake package exports: the files that install(EXPORT) and configure_package_config_file() write.

    package = read_export(PrefixFiles(prefix), f"{ROOT}/lib/cmake/hip/hip-config.cmake", "hip")
    package.targets["hip::host"].properties

It carries out the commands that define imported targets, set variables and include files of the prefix. It runs no
program, and reads no file outside of the prefix. Three rules for what it does not know:

- A variable that a command may have set which it does not carry out (`execute_process`, `check_cxx_compiler_flag`), and
  whatever tells of the compiler or the user's project, is unknown. So is each value made from it.
- A condition is undecided if it depends on such a value (cmake_condition.py says on what else). Then no branch of its
  `if` is carried out, and the variables that these would set are unknown from there on.
- Elements of properties are left out if they are unknown. `notes` lists what was left out.

`while` loops are left out, `block` is no scope, and `message(FATAL_ERROR)` is a note: a package of which one library is
not installed still offers the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tools.fetch.prefix.cmake_condition import Answers, Word, evaluate
from tools.fetch.prefix.cmake_syntax import (
    Argument,
    CMakeError,
    CommandBlock,
    Invocation,
    Node,
    commands_in,
    read_blocks,
    read_commands,
)
from tools.fetch.prefix.cmake_targets import ImportedTarget, Targets
from tools.fetch.prefix.cmake_values import expand, is_unknown, join_list, split_list
from tools.fetch.prefix.cmake_variables import HARMLESS, Variables, elements, shown
from tools.fetch.prefix.prefix_files import PrefixFiles

#: Commands that are carried out for one package. LLVM's exports, the biggest, have some ten thousand.
MAX_COMMANDS: Final = 100_000
#: Files and functions within each other.
MAX_NESTING: Final = 40
MAX_NOTES: Final = 50


@dataclass
class Export:
    """What a package exports: targets by name, the packages that it asks for, variables, and what is left out."""

    path: str
    targets: dict[str, ImportedTarget]
    dependencies: list[str]
    variables: Variables
    notes: list[str] = field(default_factory=list)


class _Leave(Exception):  # noqa: N818 - no error
    """return(), break() or continue(), named by `command`."""

    def __init__(self, command: str) -> None:
        super().__init__(command)
        self.command = command


@dataclass(frozen=True)
class _Function:
    """A function or macro that a file defines."""

    head: Invocation
    body: list[Node]
    file: str


class _Run:
    """Carries out the files of one package."""

    def __init__(self, files: PrefixFiles) -> None:
        self._files = files
        self._file = ""
        self._line = 0
        self._nesting = 0
        self._count = 0
        self._functions: dict[str, _Function] = {}
        self.notes: list[str] = []
        self.dependencies: list[str] = []
        self.variables = Variables(files, self.note)
        self._targets = Targets(self.note)
        self.targets = self._targets.found
        self._commands: dict[str, Callable[[Sequence[str], str], None]] = {
            **self.variables.commands(),
            **self._targets.commands(),
            "include": self._include,
            "find_dependency": self._depend,
            "find_package": self._depend,
            "message": self._message,
            "get_target_property": self._get_target_property,
            "get_property": self._get_property,
        }
        self._answers = Answers(
            value=self.variables.get,
            exists=files.exists,
            is_directory=files.is_directory,
            is_target=lambda name: name in self.targets,
            is_command=lambda name: name.lower() in self._functions or name.lower() in self._commands or None,
        )

    def note(self, text: str) -> None:
        """Note that something is left out."""
        if len(self.notes) < MAX_NOTES and (entry := f"{self._place()}: {text}") not in self.notes:
            self.notes.append(entry)

    def _place(self) -> str:
        return f"{shown(self._file)}:{self._line}"

    def file(self, path: str) -> None:
        """Carry out a file. Raises CMakeError if it is damaged."""
        if self._nesting >= MAX_NESTING:
            raise CMakeError(f"more than {MAX_NESTING} files or functions within each other", self._place())
        nodes = read_blocks(read_commands(self._files.read(path), shown(path)), shown(path))
        outer = self._file, self._line
        self._enter(path)
        self._nesting += 1
        try:
            self._nodes(nodes)
        except _Leave:
            pass
        finally:
            self._nesting -= 1
            self._enter(outer[0])
            self._line = outer[1]

    def _enter(self, path: str) -> None:
        self._file = path
        self.variables.set("CMAKE_CURRENT_LIST_FILE", path)
        self.variables.set("CMAKE_CURRENT_LIST_DIR", path.rpartition("/")[0])

    def _nodes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            command = node if isinstance(node, Invocation) else node.head
            self._line = command.line
            self._go_on()
            try:
                if isinstance(node, Invocation):
                    self._command(node)
                else:
                    self._block(node)
            except CMakeError as error:
                if error.place:
                    raise
                raise CMakeError(error.problem, self._place()) from None

    def _go_on(self) -> None:
        """Count a command, or an item of a loop. Raises CMakeError for too many: nothing goes on without end."""
        self._count += 1
        if self._count > MAX_COMMANDS:
            raise CMakeError(f"more than {MAX_COMMANDS} commands in one package", self._place())

    def _values(self, arguments: Sequence[Argument]) -> list[str]:
        """Return what a command gets: references replaced, and unquoted lists split."""
        values: list[str] = []
        for argument in arguments:
            text = argument.text if argument.bracket else expand(argument.text, self.variables.text)
            values += [text] if argument.quoted else split_list(text)
        return values

    def _command(self, command: Invocation) -> None:
        if command.name in ("return", "break", "continue"):
            raise _Leave(command.name)
        if carry_out := self._commands.get(command.name):
            carry_out(self._values(command.arguments), self._place())
        elif function := self._functions.get(command.name):
            self._call(function, command)
        elif command.name not in HARMLESS:
            self.variables.forget(Invocation(command.name, tuple(map(Argument, self._values(command.arguments))), 0))

    def _block(self, block: CommandBlock) -> None:
        head, body = block.parts[0]
        if head.name == "if":
            self._if(block)
        elif head.name == "foreach":
            self._foreach(head, body)
        elif head.name in ("function", "macro"):
            if head.arguments and head.arguments[0].text.lower() not in self._commands:
                self._functions[head.arguments[0].text.lower()] = _Function(head, body, self._file)
        elif head.name == "block":
            self._nodes(body)
        else:
            self._leave_out(body, "a while loop")

    def _if(self, block: CommandBlock) -> None:
        for at, (head, body) in enumerate(block.parts):
            self._line = head.line
            decided = True if head.name == "else" else evaluate(self._words(head.arguments), self._answers)
            if decided is None:
                rest = [node for _, nodes in block.parts[at:] for node in nodes]
                self._leave_out(rest, "a condition that only a run of CMake decides")
                return
            if decided:
                self._nodes(body)
                return

    def _words(self, arguments: Sequence[Argument]) -> list[Word]:
        words: list[Word] = []
        for argument in arguments:
            if argument.quoted:
                words += [Word(text, quoted=True) for text in self._values([argument])]
            else:
                words += [Word(text, quoted=False) for text in self._values([argument])]
        return words

    def _leave_out(self, nodes: Sequence[Node], reason: str) -> None:
        for command in commands_in(nodes):
            self.variables.forget(command)
        self._note_left_out(nodes, reason)

    def _note_left_out(self, nodes: Sequence[Node], reason: str) -> None:
        names = {command.name for command in commands_in(nodes)}
        if changes := sorted(names & {*self._targets.commands(), "find_dependency", "include"}):
            self.note(f"{reason}: leaves out {', '.join(changes)}")

    def _foreach(self, head: Invocation, body: list[Node]) -> None:
        values = self._values(head.arguments)
        if not values:
            raise CMakeError("foreach(): expected a variable")
        name, *words = values
        if any(map(is_unknown, (*words, *map(self.variables.text, words)))):
            self._note_left_out(body, "a foreach of items that only a run of CMake tells")
        if words[:1] == ["RANGE"] or "ZIP_LISTS" in words:
            self._leave_out(body, "foreach(RANGE)")
            return
        for item in self._items(words):
            self._go_on()
            self.variables.set(name, item)
            try:
                self._nodes(body)
            except _Leave as leave:
                if leave.command == "break":
                    break
                if leave.command == "return":
                    raise
        self.variables.set(name, None)

    def _items(self, words: Sequence[str]) -> list[str]:
        """Return the items of a loop that are known."""
        if words[:1] != ["IN"]:
            return [word for word in words if not is_unknown(word)]
        items: list[str] = []
        lists = False
        for word in words[1:]:
            if word in ("LISTS", "ITEMS"):
                lists = word == "LISTS"
            elif lists:
                items += elements(self.variables.text(word))
            else:
                items += elements(word)
        return items

    def _call(self, function: _Function, command: Invocation) -> None:
        if self._nesting >= MAX_NESTING:
            raise CMakeError(f"more than {MAX_NESTING} files or functions within each other")
        values = self._values(command.arguments)
        parameters = [argument.text for argument in function.head.arguments[1:]]
        given = dict(zip(parameters, values, strict=False))
        given |= {f"ARGV{at}": value for at, value in enumerate(values[:20])}
        given |= {"ARGC": str(len(values)), "ARGV": join_list(values), "ARGN": join_list(values[len(parameters) :])}
        self._nesting += 1
        self.variables.push()
        try:
            # A macro has no scope of its own, and its arguments are no variables. The macros of packages set variables
            # that end with them, so that both are carried out as functions; what a macro sets is copied out.
            for name, value in given.items():
                self.variables.set(name, value)
            self._nodes(function.body)
        except _Leave:
            pass
        finally:
            kept = self._set_by(function) if function.head.name == "macro" else {}
            self.variables.pop()
            self._nesting -= 1
        for name, after in kept.items():
            self.variables.set(name, after)

    def _set_by(self, macro: _Function) -> dict[str, str | None]:
        """Return the values of the variables that a macro's commands may have set."""
        names: set[str] = set()
        for command in commands_in(macro.body):
            if command.name not in HARMLESS:
                names.update(self._values(command.arguments)[:2])
        parameters = {argument.text for argument in macro.head.arguments}
        return {name: self.variables.get(name) for name in names - parameters if name and not is_unknown(name)}

    def _include(self, arguments: Sequence[str], _place: str) -> None:
        if not arguments:
            raise CMakeError("include(): expected a file")
        path = arguments[0]
        if "RESULT_VARIABLE" in arguments[:-1]:
            self.variables.set(arguments[arguments.index("RESULT_VARIABLE") + 1], path)
        if is_unknown(path):
            self.note("include(): only a run of CMake would tell which file")
            return
        if "/" not in path and not path.endswith(".cmake"):
            return  # A module of CMake's own: they define functions, no targets of the package.
        if not path.startswith("/"):
            path = f"{self.variables.text('CMAKE_CURRENT_LIST_DIR')}/{path}"
        if self._files.exists(path) and not self._files.is_directory(path):
            self.file(path)
        elif "OPTIONAL" not in arguments:
            self.note(f"include({shown(path)}): the prefix has no such file")

    def _depend(self, arguments: Sequence[str], _place: str) -> None:
        if arguments and not is_unknown(arguments[0]) and arguments[0] not in self.dependencies:
            self.dependencies.append(arguments[0])
        if arguments:
            self.variables.forget(Invocation("", (Argument(f"{arguments[0]}_FOUND"),), 0))

    def _message(self, arguments: Sequence[str], _place: str) -> None:
        if arguments[:1] in (["FATAL_ERROR"], ["SEND_ERROR"]):
            self.note("".join(arguments[1:]).replace("\0", "?").strip().partition("\n")[0][:200])

    def _get_target_property(self, arguments: Sequence[str], _place: str) -> None:
        if len(arguments) == 3:
            variable, name, wanted = arguments
            self._property(variable, name, wanted, missing=f"{variable}-NOTFOUND")

    def _get_property(self, arguments: Sequence[str], _place: str) -> None:
        if len(arguments) >= 5 and arguments[1] == "TARGET" and arguments[3] == "PROPERTY":
            variable, _, name, _, wanted = arguments[:5]
            if arguments[5:] == ["SET"] and name in self.targets:
                self.variables.set(variable, str(int(wanted in self.targets[name].properties)))
            else:
                self._property(variable, name, wanted, missing="")
        elif arguments:
            self.variables.forget(Invocation("", tuple(map(Argument, arguments)), 0))

    def _property(self, variable: str, name: str, wanted: str, missing: str) -> None:
        target = self.targets.get(name)
        if not target or wanted == "TYPE":
            self.variables.forget(Invocation("", (Argument(variable),), 0))
        else:
            self.variables.set(variable, target.properties.get(wanted, missing))


def read_export(files: PrefixFiles, path: str, name: str) -> Export:
    """Read the package `name` that begins with the file `path`. Raises CMakeError if one of its files is damaged."""
    run = _Run(files)
    run.variables.set("CMAKE_FIND_PACKAGE_NAME", name)
    try:
        run.file(path)
    except RecursionError:  # blocks within blocks of functions that call each other
        raise CMakeError("functions and blocks within each other, too deep to be read", shown(path)) from None
    return Export(path, run.targets, run.dependencies, run.variables, run.notes)
