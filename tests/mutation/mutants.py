"""Finds the conditions of C++ sources and puts a switch on each: a mutant is one condition removed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

IF = re.compile(r"\bif\s*\(")
RETURN = re.compile(r"\breturn\b")
DECLARATION = re.compile(r"^\s*(?:const\s+)?[\w:]+(?:<[^=]*>)?\s*[*&]{0,2}\s*\w+\s*=(?!=)")
QUIET = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
SWITCH = """
#include <cstdlib>
inline int lathe_chosen_mutant() {
  static const char* chosen = std::getenv("LATHE_MUTANT");
  static const int active = chosen ? std::atoi(chosen) : -1;
  return active;
}
// What the compiler evaluates is as written.
constexpr bool lathe_mutant(int id) {
  return !__builtin_is_constant_evaluated() && id == lathe_chosen_mutant();
}
template <class T>
constexpr T lathe_unless(int id, T value) {
  return lathe_mutant(id) ? T{} : value;
}
"""


@dataclass(frozen=True)
class Mutant:
    """Switch `id` removes `text` in line `line` of `file`."""

    id: int
    file: str
    line: int
    how: str
    text: str

    def key(self) -> str:
        return f"{self.file} | {self.how} | {self.text}"

    def __str__(self) -> str:
        return f"{self.id:5} {self.file}:{self.line}: {self.how}: {self.text}"


def blanked(source: str) -> str:
    """The source with comments, strings and characters as spaces, at the same places."""
    return QUIET.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def closing(text: str, start: int) -> int:
    """Where the bracket that opens at start closes."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
    raise ValueError(f"a bracket is open: {text[start : start + 60]}")


def cut(text: str, begin: int, end: int, separator: str) -> list[tuple[int, int]]:
    """The parts of text[begin:end] between separators that stand in no bracket."""
    parts, depth, start, at = [], 0, begin, begin
    while at < end:
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith(separator, at):
            parts.append((start, at))
            at += len(separator)
            start = at
            continue
        at += 1
    return [*parts, (start, end)]


class Instrument:
    """Rewrites one file; `mutants` lists the switches that it put in."""

    def __init__(self, file: str, source: str, first: int) -> None:
        self.file, self.source, self.quiet, self.next = file, source, blanked(source), first
        self.mutants: list[Mutant] = []
        self.inserts: list[tuple[int, str]] = []

    def run(self) -> str:
        for match in IF.finditer(self.quiet):
            self.condition(match.end(), closing(self.quiet, match.end() - 1))
        for match in RETURN.finditer(self.quiet):
            self.returned(match.end())
        pieces, done = [], 0
        for at, text in sorted(self.inserts, key=lambda item: item[0]):
            pieces += [self.source[done:at], text]
            done = at
        return "".join([*pieces, self.source[done:]])

    def mutant(self, begin: int, end: int, how: str) -> int:
        text = " ".join(self.source[begin:end].split())
        line = self.source.count("\n", 0, begin) + 1
        self.mutants.append(Mutant(self.next, self.file, line, how, text))
        self.next += 1
        return self.next - 1

    def wrap(self, begin: int, end: int, before: str, after: str) -> None:
        self.inserts += [(begin, before), (end, after)]

    def condition(self, begin: int, end: int) -> None:
        begin = cut(self.quiet, begin, end, ";")[-1][0]
        declared = DECLARATION.match(self.quiet[begin:end])
        if declared:
            start = begin + declared.end()
            self.wrap(start, end, f" lathe_unless({self.mutant(begin, end, 'never')}, ", ")")
            return
        whole = self.mutant(begin, end, "never")
        self.inserts.append((begin, f"!lathe_mutant({whole}) && static_cast<bool>("))
        self.parts(begin, end)
        self.inserts.append((end, ")"))

    def returned(self, begin: int) -> None:
        end = min((part[1] for part in cut(self.quiet, begin, len(self.quiet), ";")[:1]), default=begin)
        text = self.quiet[begin:end]
        if "{" not in text:
            self.parts(begin, end)

    def parts(self, begin: int, end: int) -> None:
        """A switch for each operand of || or &&, whichever binds less. What ?: chooses stays whole."""
        if "?" in self.quiet[begin:end]:
            return
        for separator, how, neutral in (("||", "without the case", "!{} && "), ("&&", "without the test", "{} || ")):
            pieces = cut(self.quiet, begin, end, separator)
            if len(pieces) < 2:
                continue
            for start, stop in pieces:
                switch = neutral.format(f"lathe_mutant({self.mutant(start, stop, how)})")
                self.wrap(start, stop, f" ({switch}static_cast<bool>(", "))")
            return


def instrument(files: dict[str, str]) -> Iterator[tuple[str, str, list[Mutant]]]:
    """For each file its new text and its mutants, numbered through all files."""
    first = 0
    for name, source in files.items():
        work = Instrument(name, source, first)
        text = work.run()
        first = work.next
        yield name, text, work.mutants
