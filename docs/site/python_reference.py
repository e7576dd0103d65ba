"""Write the Python API as Markdown pages: python docs/site/python_reference.py FOLDER.

Reads the sources of the package without importing them, so nothing has to be built. One page per sub-package, plus
SUMMARY.md with the lines that list the pages.
"""

from __future__ import annotations

import pathlib
import re
import sys

import griffe

ROOT = pathlib.Path(__file__).parents[2]
SOURCES = ROOT / "bindings" / "python" / "python"

PAGES = {
    "sklearn": "Estimators for scikit-learn",
    "boosting": "Boosting",
    "weights": "Weights",
    "store": "Store",
    "distributed": "Training on several workers",
    "distributed.mpi": "Training with MPI",
    "distributed.dask": "Training with Dask",
    "distributed.ray": "Training with Ray",
    "distributed.torch": "Training with PyTorch",
    "compat.lightgbm": "LightGBM's interface",
    "errors": "Errors",
}


def file_of(page: str) -> str:
    """Name of a page's file. mdBook takes what follows a period for the extension."""
    return f"{page.replace('.', '-')}.md"


def exported(module: griffe.Module) -> list[griffe.Object]:
    """Public members. Those that a package imports on first use are in its submodule `sklearn`."""
    names = [str(name) for name in module.exports or []]
    return [resolved(module[name] if name in module.members else module["sklearn"][name]) for name in names]


def resolved(member: griffe.Object | griffe.Alias) -> griffe.Object:
    """Follow re-exports to the definition."""
    return member.final_target if member.is_alias else member


class Page:
    """One Markdown page."""

    def __init__(self, places: dict[str, str], module: str = "") -> None:
        """Start an empty page of a module; `places` maps public names, also with their module, to their links."""
        self.places = places
        self.module_name = module
        self.lines: list[str] = []

    def say(self, *lines: str) -> None:
        """Append lines and an empty one."""
        self.lines += [*lines, ""]

    def prose(self, text: str) -> str:
        """Turn reStructuredText of docstrings into Markdown."""
        text = re.sub(r":\w+:`~?\.?([^`]+)`", self.link, text)
        text = re.sub(r"``([^`]+)``", r"`\1`", text)
        return re.sub(r"^(.*)::$", r"\1:", text, flags=re.MULTILINE)

    def link(self, role: re.Match[str]) -> str:
        """Link a role such as :class:`Model` if the name has a place in the reference."""
        name = role[1].removeprefix("bitgrain.")
        keys = [f"{self.module_name}.{name}", name, name.split(".")[-1]]
        place = next((self.places[key] for key in keys if key in self.places), None)
        return f"[`{name}`]({place})" if place else f"`{name}`"

    def name(self, page: str, name: str, at_root: set[str]) -> str:
        """Link a public name, in bold if it is also at the root of the package."""
        link = f"[`{name}`]({self.places[f'{page}.{name}']})"
        return f"**{link}**" if self.places[name] == self.places[f"{page}.{name}"] and name in at_root else link

    def cell(self, text: str) -> str:
        """Text of a table cell."""
        return self.prose(" ".join(text.split())).replace("|", "\\|")

    def docstring(self, owner: griffe.Object, types: dict[str, str] | None = None) -> None:
        """Write a docstring, section by section; `types` takes precedence over the types in it."""
        types = types or {}
        if owner.docstring is None:
            return
        for section in owner.docstring.parse("numpy"):
            match section.kind.value:
                case "text":
                    self.say(self.prose(section.value))
                case "parameters" | "other parameters" | "attributes":
                    self.say(f"**{section.title or section.kind.value.capitalize()}**")
                    self.say(
                        *(
                            self.item(item.name, types.get(item.name, item.annotation), item.description)
                            for item in section.value
                        )
                    )
                case "returns" | "yields" | "raises" | "warns":
                    self.say(f"**{section.kind.value.capitalize()}**")
                    self.say(*(f"- {self.type(item.annotation)} {self.cell(item.description)}" for item in section.value))
                case "examples":
                    self.say("**Example**")
                    for kind, text in section.value:
                        if kind.value == "examples":
                            self.say("```python", text, "```")
                        else:
                            self.say(self.prose(text))
                case "admonition":
                    self.say(f"**{section.title}**", "", self.prose(section.value.contents))
                case other:
                    raise SystemExit(f"{owner.path}: docstring section `{other}` is not supported here")

    def item(self, name: str, annotation: object, description: str) -> str:
        """A parameter or attribute as an item of a list, which reads better on phones than a table."""
        kind = self.type(annotation)
        return f"- **`{name}`**{f' ({kind})' if kind else ''}: {self.prose(' '.join(description.split()))}"

    def type(self, annotation: object) -> str:
        """A type as code."""
        text = " ".join(str(annotation).split()).replace("array - like", "array-like") if annotation is not None else ""
        return f"`{text}`" if text else ""

    def function(self, function: griffe.Function, level: int, owner: str = "") -> None:
        """Write a function or method."""
        name = f"{owner}.{function.name}" if owner else function.name
        self.say(f"{'#' * level} `{name}`")
        self.say("```python", wrapped(function.signature(name=function.name)), "```")
        self.docstring(function)

    def cls(self, cls: griffe.Class) -> None:
        """Write a class with its public members."""
        complete(cls)
        self.say(f"## `{cls.name}`")
        bases = [self.link(re.match(r"(.*)", str(base))) for base in cls.bases]
        if bases:
            self.say(f"Derives from {', '.join(bases)}.")
        constructor = cls.members.get("__init__")
        if isinstance(constructor, griffe.Function) and len(constructor.parameters) > 1:
            self.say("```python", wrapped(without_self(constructor.signature(name=cls.name))), "```")
        taken = constructor.parameters if isinstance(constructor, griffe.Function) else []
        self.docstring(cls, {item.name: str(item.annotation) for item in taken if item.annotation is not None})
        members = [resolved(member) for name, member in cls.all_members.items() if not name.startswith("_")]
        properties = [member for member in members if isinstance(member, griffe.Attribute) and member.docstring]
        if properties:
            self.say("**Properties**" if cls.docstring and "Attributes\n---" in cls.docstring.value else "**Attributes**")
            self.say(*(self.item(member.name, member.annotation, summary(member)) for member in properties))
        for member in members:
            if isinstance(member, griffe.Function):
                self.function(member, 3, cls.name)


    def module(self, module: griffe.Module) -> None:
        """Write a module that is public as a whole, with its classes and functions."""
        self.say(f"## `{module.name}`")
        self.docstring(module)
        for name in module.exports or []:
            member = resolved(module[name])
            self.say(f"### `{module.name}.{name}`")
            called = member.members.get("__init__", member) if isinstance(member, griffe.Class) else member
            if isinstance(called, griffe.Function):
                self.say("```python", wrapped(without_self(called.signature(name=name))), "```")
            self.docstring(member)


def complete(cls: griffe.Class) -> None:
    """Replace the line *and all of* a base in a docstring by the base's section, as the package does at import."""
    if cls.docstring is None or "and all of :class:`" not in cls.docstring.value:
        return
    bases = {base.name: resolved(base) for base in cls.mro()}
    lines: list[str] = []
    section = ""
    for line in cls.docstring.value.splitlines():
        if line and set(line) == {"-"}:
            section = lines[-1]
        shared = re.fullmatch(r"and all of :class:`(\w+)`", line.strip())
        lines += sections(bases[shared[1]].docstring.value)[section] if shared else [line]
    cls.docstring.value = "\n".join(lines)


def sections(text: str) -> dict[str, list[str]]:
    """Lines of each section of a docstring, by its title."""
    found: dict[str, list[str]] = {}
    lines = text.splitlines()
    rules = [at for at, line in enumerate(lines) if line and set(line) == {"-"}]
    for at, end in zip(rules, [*(rule - 1 for rule in rules[1:]), len(lines)], strict=True):
        found[lines[at - 1]] = [line for line in lines[at + 1 : end] if line]
    return found


def summary(member: griffe.Object) -> str:
    """The first paragraph of a docstring."""
    return member.docstring.value.split("\n\n")[0] if member.docstring else ""


def without_self(signature: str) -> str:
    """Drop what callers do not pass or receive."""
    return re.sub(r"\(self(, )?", "(", signature).removesuffix(" -> None")


def wrapped(signature: str) -> str:
    """Break a long signature after each parameter."""
    signature = re.sub(r"\(self(, )?", "(", signature, count=1)
    if len(signature) <= 100:
        return signature
    start, depth, parts, part = signature.index("(") + 1, 0, [], ""
    for at, letter in enumerate(signature[start:], start):
        if letter in ")]}" and depth == 0:
            parts.append(part.strip())
            return signature[:start] + "\n    " + ",\n    ".join(parts) + ",\n" + signature[at:]
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return signature


def main(folder: pathlib.Path) -> None:
    """Write all pages."""
    package = griffe.load("bitgrain", search_paths=[str(SOURCES)], docstring_parser="numpy", allow_inspection=False)
    packages = [name for name, module in package.modules.items() if module.is_subpackage and module.exports]
    if missing := sorted(set(packages) - PAGES.keys()):
        raise SystemExit(f"sub-packages without a page: {', '.join(missing)}; add them to PAGES")
    kinds = (griffe.Class, griffe.Function, griffe.Module)
    names = {page: [each for each in exported(package[page]) if isinstance(each, kinds)] for page in PAGES}
    places: dict[str, str] = {}

    def place(page: str, name: str, anchor: str) -> None:
        # The first page with a name gets the links without a module.
        places.setdefault(name, f"{file_of(page)}#{anchor}")
        places[f"{page}.{name}"] = f"{file_of(page)}#{anchor}"

    for page, members in names.items():
        places[page] = file_of(page)
        for member in members:
            place(page, member.name, member.name.lower())
            for method in getattr(member, "all_members", {}).values():
                if member.is_class and not method.name.startswith("_") and isinstance(resolved(method), griffe.Function):
                    place(page, f"{member.name}.{method.name}", f"{member.name.lower()}{method.name.lower()}")
    folder.mkdir(parents=True, exist_ok=True)
    overview = Page(places)
    overview.say("# Python API")
    overview.say(
        "Names in bold are also available from `bitgrain` itself; the others are in the submodule of their section. Guides:",
        "[boosting](../guide/python-boosting.md), [several machines](../guide/python-distributed.md),",
        "[weights](../guide/python-weights.md), [store](../guide/python-store.md), [search](../guide/python-search.md).",
    )
    at_root = set(package.exports or [])
    for page, title in PAGES.items():
        overview.say(f"## [{title}]({file_of(page)})", "", f"`bitgrain.{page}`")
        overview.say(
            "| name | description |",
            "|---|---|",
            *(f"| {overview.name(page, m.name, at_root)} | {overview.cell(summary(m))} |" for m in names[page]),
        )
        written = Page(places, page)
        written.say(f"# {title}", "", f"Module `bitgrain.{page}`.")
        written.docstring(package[page])
        for member in names[page]:
            if isinstance(member, griffe.Class):
                written.cls(member)
            elif isinstance(member, griffe.Function):
                written.function(member, 2)
            elif isinstance(member, griffe.Module):
                written.module(member)
        (folder / file_of(page)).write_text("\n".join(written.lines))
    (folder / "index.md").write_text("\n".join(overview.lines))
    lines = ["- [Python API](python/index.md)", *(f"  - [{title}](python/{file_of(page)})" for page, title in PAGES.items())]
    (folder / "SUMMARY.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
