"""Parts of pages that are made of the code and of measured results, so that they cannot go stale.

A page has them as fences, which `site_pages` replaces when it is read:

    ```{settings} cpbp                                   every setting of a controller
    ```{departures} tumble.planners.CPBP                 what a docstring says behind **Departures**
    ```{docstring} tumble.History.metrics                what one says
    ```{attributes} tumble.Frame                         what one says of attributes
    ```{figures} cpbp                                    what a planner says of every frame
    ```{cite} cpbp                                       BibTeX
    ```{scenarios}                                       all of them, with options and figures
    ```{listing} characters                              a part of `tumble list`
    ```{rates} push getup                                rows of experiments/rates
    ```{comparison}                                      all planners at equal steps
    ```{bench}                                           speed
    ```{programs}                                        the examples
    ```{api}                                             names of the front door
    ```{pictures}                                        the gallery
"""

import dataclasses
import inspect
import json
import pkgutil
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import tumble
from tumble.cli.cite_command import references
from tumble.cli.list_command import listing
from tumble.controllers import CONTROLLERS
from tumble.planners import PLANNERS
from tumble.scenarios import SCENARIOS, Scenario
from tumble.settings import names_of
from tumble.studio.knobs import comments_of

ROOT = Path(__file__).parents[1]
RATES = ROOT / "experiments" / "rates" / "results"
COMPARISON = ROOT / "experiments" / "hamalainen2014" / "results" / "comparison.json"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def settings_table(settings: Any) -> str:
    """Every setting with its default and what is written beside it in the code."""
    rows = []
    for name in names_of(settings):
        owner, value = settings, settings
        for part in name.split("."):
            owner, value = value, getattr(value, part)
        about = comments_of(type(owner)).get(name.rpartition(".")[2], "")
        rows.append((f"`{name}`", f"`{shown(value)}`", code_of(about)))
    return table(("setting", "default", "meaning"), rows) if rows else "It has no settings."


def shown(value: Any) -> str:
    """A default as people write it."""
    return f"{value:g}" if isinstance(value, float) else "''" if value == "" else str(value)


def code_of(text: str) -> str:
    """Text of a docstring as Markdown: `names` stay, what Markdown would take for marks does not."""
    return re.sub(r"(?<![\\`\w])([<*])", r"\\\1", " ".join(text.split()))


def thing_at(path: str) -> Any:
    """What a dotted name in the package names: a module, or what is in one."""
    return pkgutil.resolve_name(path)


def departures_of(path: str) -> str:
    """What the docstring of a class or of a module says behind the word, as Markdown."""
    text = inspect.cleandoc(thing_at(path).__doc__)
    found = re.search(r"^\s*(?:\*\*Departures\.?\*\*[.:]?|Departures:)\s*", text, re.MULTILINE)
    assert found, f"{path} tells of no departures"
    return inspect.cleandoc(text[found.end() :])


def paragraphs(text: str) -> str:
    """A docstring's paragraphs without what it says of arguments and attributes."""
    return re.split(r"\n\s*(?:Attributes|Args):", inspect.cleandoc(text))[0].strip()


def attributes_of(path: str) -> str:
    """What the docstring of a class says of its attributes, as a table."""
    text = inspect.cleandoc(thing_at(path).__doc__).partition("Attributes:\n")[2]
    found = re.findall(r"^  ([\w, ]+): (.*(?:\n    .*)*)", text, re.MULTILINE)
    assert found, f"{path} tells of no attributes"
    return table(("attribute", "meaning"), [(f"`{name}`", code_of(what)) for name, what in found])


def api() -> str:
    """Every name of the front door, by where it lives."""
    parts = []
    for home, names in tumble._HOMES.items():
        parts.append(f"## tumble.{home}")
        for name in sorted(names):
            thing = getattr(tumble, name)
            if inspect.isclass(thing):
                parts.append(f"```{{eval-rst}}\n.. autoclass:: tumble.{name}\n   :members:\n```")
            elif inspect.isfunction(thing):
                parts.append(f"```{{eval-rst}}\n.. autofunction:: tumble.{name}\n```")
            else:
                parts.append(f'`{name}`: a registry, see [names](names.md); `{name}["..."]` is an entry.')
    return "\n\n".join(parts)


def scenario_pages() -> str:
    """Every scenario: what happens, what can be set, what is measured."""
    parts = []
    for name, entry in SCENARIOS.items():
        kind = entry.make
        parts += [f"## {name}", paragraphs(kind.__doc__ or entry.summary)]
        parts.append(f"Controllers: {', '.join(f'`{one}`' for one in kind().suited())}.")
        if dataclasses.fields(kind):
            parts.append(settings_table(kind()))
        if kind.metrics is not Scenario.metrics:
            parts.append(f"*Figures*: {code_of(kind.metrics.__doc__ or 'see the code')}")
    return "\n\n".join(parts)


def rate_rows(words: Sequence[str]) -> str:
    """Rows of experiments/rates whose scenario is named; without names all."""
    rows = []
    for path in sorted(RATES.glob("*.json")):
        found = json.loads(path.read_text())
        if "successes" not in found or (words and found["scenario"] not in words):
            continue
        metrics, seconds = found["metrics"], found["seconds"] / max(1, found["trials"])
        calm = f"{metrics['rms_joint_speed']:.2f}; {metrics['rms_jerk']:.0f}"
        rate = f"{found['successes']} of {found['trials']}"
        row = (f"`{found['command']}`", found["controller"], rate, metrics["falls"], calm, f"{seconds:.0f}")
        rows.append((*row, f"`{found['commit'][:7]}`"))
    head = ("command", "by", "success", "falls", "joint speed, rad/s; jerk, rad/s³", "s a trial", "commit")
    return table(head, rows)


def comparison_rows() -> str:
    """Successes of every planner at equal simulation steps, from the committed JSON of hamalainen2014."""
    found = json.loads(COMPARISON.read_text())
    rows: dict[tuple[str, str], dict[str, str]] = {}
    scenarios: dict[str, None] = {}
    for point, runs in found["points"].items():
        scenario, _, planner, *budget = point.split(", ")
        won, trials = sum(run["success"] for run in runs["trials"]), len(runs["trials"])
        speed = sum(run["rms_joint_speed"] for run in runs["trials"]) / trials
        rows.setdefault((planner, ", ".join(budget)), {})[scenario] = f"{won} of {trials}; {speed:.2f}"
        scenarios[scenario] = None
    cells = [(f"`{one}`", how, *(row.get(where, "-") for where in scenarios)) for (one, how), row in rows.items()]
    return table(("planner", "budget", *(f"`{one}`" for one in scenarios)), cells)


def bench_rows() -> str:
    """Speed, from results/bench.json."""
    found, rows = json.loads((RATES / "bench.json").read_text()), []
    for value in found.values():
        result = value["result"] if isinstance(value, dict) and "command" in value else None
        if isinstance(result, dict) and "overhead" in result:
            said = f"{result['plan_ms']:.1f} ms over {result['raw_ms']:.1f} ms of bare physics"
            rows.append((f"`{value['command']}`", f"{said}, {result['overhead']:.2f} times"))
        elif isinstance(result, list):
            rows += [
                (f"`{value['command']}`", f"{one['rows']} at once: {one['times_real_time']:.0f} times real time")
                for one in result
            ]
        elif isinstance(result, dict) and "times_real_time" in result:
            rows.append((f"`{value['command']}`", f"{result['times_real_time']:.2f} times real time"))
        elif isinstance(result, dict):
            rows += [
                (f"`{value['command']}`", f"{one['scenario']}: {one['cold']:.1f} CPU s to the first frame")
                for one in result["rows"]
            ]
    return table(("command", f"figure (commit `{found['commit'][:7]}`)"), rows)


def bibtex(controllers: Sequence[str]) -> str:
    """What controllers cite."""
    keys = dict.fromkeys(key for name in controllers for key in CONTROLLERS[name].cites)
    return "\n\n".join(f"```bibtex\n{references()[key]}\n```" for key in keys)


def program_pages() -> str:
    """Every example as it is."""
    parts = []
    for path in sorted((ROOT / "examples").glob("*.py")):
        parts.append(f"## {path.stem.replace('_', ' ')}\n\n```{{code-block}} python\n{path.read_text()}```")
    return "\n\n".join(parts)


def picture_pages() -> str:
    """Every picture of the gallery, with what drew it."""
    from gallery_pictures import PICTURES, commands_of

    parts = []
    for name, entry in SCENARIOS.items():
        if not (PICTURES / f"{name}.png").exists():
            continue
        run, strip = (" ".join(("tumble", *words)) for words in commands_of(name))
        parts.append(f"## {name}\n\n![{name}]({PICTURES.name}/{name}.png)\n\n*{entry.summary}.* `{run} && {strip}`")
    return "\n\n".join(parts)


MAKERS: dict[str, Callable[[list[str]], str]] = {  # by the word behind the fence, made of the words behind it
    "settings": lambda words: settings_table(CONTROLLERS[words[0]].settings()),
    "settings-of": lambda words: settings_table(thing_at(words[0])()),
    "departures": lambda words: departures_of(words[0]),
    "figures": lambda words: table(
        ("figure", "meaning"), [(f"`{name}`", what) for name, what in PLANNERS[words[0]].make.figures.items()]
    ),
    "cite": lambda words: "\n\n".join(
        f"```bibtex\n{references()[key]}\n```"
        for key in dict.fromkeys(key for w in words for key in CONTROLLERS[w].cites)
    ),
    "scenarios": lambda words: scenario_pages(),
    "docstring": lambda words: paragraphs(thing_at(words[0]).__doc__),
    "attributes": lambda words: attributes_of(words[0]),
    "api": lambda words: api(),
    "listing": lambda words: table(
        ("name", "what it is"),
        [
            (f"`{name}`", code_of(what if isinstance(what, str) else what["summary"]))
            for name, what in listing()[words[0]].items()
        ],
    ),
    "rates": rate_rows,
    "comparison": lambda words: comparison_rows(),
    "bench": lambda words: bench_rows(),
    "programs": lambda words: program_pages(),
    "pictures": lambda words: picture_pages(),
}
