"""The grammar of CMake files, and where damage is reported."""

import pytest

from tools.fetch.prefix.cmake_syntax import Argument, CMakeError, CommandBlock, commands_in, read_blocks, read_commands


def arguments(text: str) -> list[Argument]:
    return list(read_commands(text, "x.cmake")[0].arguments)


def test_commands_and_lines() -> None:
    text = "\ufeff# a comment\nSet (A 1) # behind\n#[[ of\nseveral lines ]]\nset(B #[=[ ] ]] ]=] 2\n)\n"
    assert [(one.name, one.line) for one in read_commands(text, "x.cmake")] == [("set", 2), ("set", 5)]
    assert [[argument.text for argument in one.arguments] for one in read_commands(text, "x.cmake")] == [
        ["A", "1"],
        ["B", "2"],
    ]


def test_kinds_of_arguments() -> None:
    assert arguments('f(a "b;c" [==[d]]\n"]==])') == [
        Argument("a"),
        Argument("b;c", quoted=True),
        Argument('d]]\n"', quoted=True, bracket=True),
    ]
    assert arguments('f("a\\\nb" "\\"" a\\ b -Dx="y z" $(V))') == [
        Argument("ab", quoted=True),
        Argument('\\"', quoted=True),
        Argument("a\\ b"),
        Argument('-Dx="y z"'),
        Argument("$(V)"),
    ]
    assert [one.text for one in arguments("if((A)AND(B))")] == ["(", "A", ")", "AND", "(", "B", ")"]


def test_blocks() -> None:
    text = "if(A)\n f()\nelseif(B)\n foreach(x y)\n  g()\n endforeach()\nelse()\nendif()\nh()\n"
    nodes = read_blocks(read_commands(text, "x.cmake"), "x.cmake")
    assert isinstance(nodes[0], CommandBlock)
    assert [head.name for head, _ in nodes[0].parts] == ["if", "elseif", "else"]
    assert [one.name for one in commands_in(nodes)] == ["if", "f", "elseif", "foreach", "g", "else", "h"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\nset(A", "x.cmake:3: set: its arguments have no end; expected )"),
        ('set(A\n"b)', 'x.cmake:2: set: an argument that begins here has no end; expected "'),
        ("set(A [==[b]])", "x.cmake:1: a bracket that begins here has no end; expected ]==]"),
        ("#[[ a comment", "x.cmake:1: a bracket that begins here has no end; expected ]]"),
        ("f()\n)", "x.cmake:2: ')': expected the name of a command"),
        ("set A", "x.cmake:1: set: expected ( after the name of a command"),
        ("if(A)\n", "x.cmake:1: if has no end; expected endif"),
        ("endif()", "x.cmake:1: endif: expected a command that begins a block before it"),
        ("foreach(a b)\nendif()", "x.cmake:2: endif: expected endforeach first"),
        ("if(A)\n" * 200, "x.cmake:101: more than 100 blocks within blocks"),
    ],
)
def test_damage(text: str, message: str) -> None:
    with pytest.raises(CMakeError) as caught:
        read_blocks(read_commands(text, "x.cmake"), "x.cmake")
    assert str(caught.value) == f"{message}. Install the file again"
