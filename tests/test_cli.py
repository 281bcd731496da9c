"""The command line: exit codes, messages, JSON, recordings, Ctrl-C."""

import json
import signal
import subprocess
import sys
import threading
from types import ModuleType

import numpy as np
import pytest

from tumble.attraction.shipped import shipped
from tumble.attraction.systems import SYSTEMS
from tumble.characters import CAPABILITIES, CHARACTERS, character
from tumble.cli import COMMANDS, bench_cold, bench_export, bench_learners, dispatch
from tumble.cli.tally import Tally
from tumble.controllers import CONTROLLERS
from tumble.errors import UserError
from tumble.goals import GOALS
from tumble.live.learning import Learning
from tumble.live.recording import Recording
from tumble.live.session import Session
from tumble.planners import PLANNERS, CEMSettings, CPBPSettings, MCTSSettings, PredictiveSamplingSettings
from tumble.planners.reflexes import REFLEXES
from tumble.scenarios import SCENARIOS, Result
from tumble.scenarios.environments import environments
from tumble.simbicon.simbicon import BODIES
from tumble.skills.acts import GoTo, Turn, Wait
from tumble.skills.script import FORMS
from tumble.stepping.base import BASES
from tumble.tasks.library import TASKS
from tumble.world.drives import DRIVES

TINY = ["--samples", "4", "--horizon", "0.1", "--threads", "1"]
SHORT = ["--seconds", "0.2", *TINY]
LEARNERS = ("learn-walk --learned walk.learned", "learn-walk --learned walk.learned --samples 8")


def call(*words: str) -> int:
    """The exit code of a command, whether it returns or exits."""
    try:
        return dispatch([str(word) for word in words])
    except SystemExit as end:
        return int(end.code or 0)


def tumble(*words: str, **more) -> subprocess.CompletedProcess:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "tumble", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def complaints(err: str) -> str:
    """What was printed on standard error beside the compiler's line, which comes where nothing is kept on disk yet."""
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith("compiling "))


def frozen(path) -> tuple[bytes, bytes]:
    (part,) = Recording.load(path).parts
    return part.motion.tobytes(), part.controls.tobytes()


# help, list -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help(capsys, words):
    assert call(*words) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in COMMANDS)
    assert "examples:" in out


def test_help_of_run_shows_how_to_learn(capsys):
    assert call("run", "--help") == 0
    out = capsys.readouterr().out
    for words in ("dodge --controller smc --trials 100 --learned dodge.experience", *LEARNERS):
        assert f"  tumble run {words}\n" in out
    assert call("run", "stand", "--help") == 0
    assert "(planners that learn: smc, mcts)" in plain(capsys.readouterr().out)


def plain(help_text: str) -> str:
    """Without boxes and line breaks."""
    return " ".join(help_text.replace("│", " ").split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(capsys, name):
    assert call(name, "--help") == 0
    assert len(capsys.readouterr().out) > 100


def test_help_of_a_scenario_lists_its_options_and_the_planners_settings(capsys):
    assert call("run", "push", "--help") == 0
    out = capsys.readouterr().out
    assert "--force" in out and "--samples" in out and "--record" in out and "--calm.speed" in out


def test_version(capsys):
    assert call("--version") == 0
    assert capsys.readouterr().out.startswith("tumble 0.")


def test_list(capsys):
    assert call("list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    there = {
        "scenarios": SCENARIOS,
        "characters": CHARACTERS,
        "capabilities": CAPABILITIES,
        "gaits": BODIES,
        "controllers": CONTROLLERS,
        "drives": DRIVES,
        "goals": GOALS,
        "reflexes": REFLEXES,
        "systems": SYSTEMS,
        "trees": shipped(),
        "tasks": TASKS,
        "bases": BASES,
        "scripts": [form.shape for form in FORMS],
        "environments": environments(),
    }
    assert set(listed) == set(there)
    for kind, known in there.items():
        assert list(listed[kind]) == list(known)
        lines = [entry["summary"] if kind == "scenarios" else entry for entry in listed[kind].values()]
        assert all(isinstance(text, str) and text for text in lines)
    for name, text in listed["characters"].items():
        assert text.endswith(f"[{', '.join(sorted(character(name).capabilities))}]")
    assert call("list") == 0
    plain = capsys.readouterr().out
    assert all(name in plain for name in (*SCENARIOS, *CHARACTERS, *CONTROLLERS, *GOALS))


def test_list_says_which_controllers_suit(capsys):
    assert call("list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)["scenarios"]
    assert listed["push"] == {
        "summary": SCENARIOS["push"].summary,
        "controllers": ["cpbp", "pf-mpc", "smc", "mcts", "ps", "cem", "mppi", "walker", "relay"],
    }
    assert {name: entry["controllers"] for name, entry in listed.items()} == {
        name: list(kind().suited()) for name, kind in SCENARIOS.items()
    }
    assert call("list") == 0
    lines = capsys.readouterr().out.splitlines()
    for name, kind in SCENARIOS.items():
        assert f"  {name:20} {kind.summary} ({', '.join(kind.make.controllers)})" in lines


# run ------------------------------------------------------------------------------------------------

CONTRACT = {
    "scenario": str,
    "controller": str,
    "character": str,
    "seeds": list,
    "trials": int,
    "successes": int,
    "success_rate": float,
    "seconds": float,
    "frames": int,
    "wall_seconds": float,
    "realtime_factor": float,
    "plan_ms": dict,
    "sim_steps": int,
    "broken_rows": int,
    "metrics": dict,
}


def test_run_json_is_one_object_under_contract(capsys):
    assert call("run", "push", "--force", "600", *SHORT, "--json") == 0
    captured = capsys.readouterr()
    assert complaints(captured.err) == ""
    assert len(captured.out.splitlines()) == 1
    summary = json.loads(captured.out)
    assert {key: type(value) for key, value in summary.items()} == CONTRACT
    assert set(summary["plan_ms"]) == {"p50", "p95"}
    assert set(summary["metrics"]) == {"rms_joint_speed", "rms_jerk", "falls"}
    assert (summary["scenario"], summary["controller"], summary["character"]) == ("push", "cpbp", "humanoid")
    assert (summary["seeds"], summary["trials"], summary["frames"]) == ([0], 1, 6)
    assert summary["seconds"] == pytest.approx(0.2)
    assert summary["sim_steps"] == 6 * 4 * 3
    assert summary["broken_rows"] == 0
    assert summary["realtime_factor"] == pytest.approx(summary["seconds"] / summary["wall_seconds"])
    assert 0 < summary["plan_ms"]["p50"] <= summary["plan_ms"]["p95"]
    assert isinstance(summary["metrics"]["falls"], int)


def test_trials_take_the_next_seeds(capsys, tmp_path):
    path = tmp_path / "a.npz"
    assert call("run", "stand", *SHORT, "--trials", "2", "--seed", "100", "--record", path, "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["seeds"] == [100, 101]
    assert (summary["trials"], summary["frames"]) == (2, 12)
    assert summary["success_rate"] == summary["successes"] / 2
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a-100.npz", "a-101.npz"]
    recordings = [Recording.load(tmp_path / f"a-{seed}.npz") for seed in (100, 101)]
    assert [recording.header.seed for recording in recordings] == [100, 101]
    assert frozen(tmp_path / "a-100.npz") != frozen(tmp_path / "a-101.npz")


def test_run_for_people(capsys):
    assert call("run", "stand", *SHORT, "--character", "humanoid-light") == 0
    out = capsys.readouterr().out
    assert "0 of 1 stand with cpbp (humanoid-light), seeds 0" in out
    assert "x real time" in out


USUAL = {kind.make.controllers[0]: name for name, kind in SCENARIOS.items()}  # a scenario of each


@pytest.mark.parametrize("name", USUAL.values())
def test_scenarios_run_with_who_comes_first(capsys, name):
    usual = SCENARIOS[name].make.controllers[0]
    words = SHORT if usual in PLANNERS else ["--seconds", "0.2"]
    assert call("run", name, *words, "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["scenario"], summary["controller"]) == (name, usual)


@pytest.mark.parametrize("name", ["push", "steer", "reach", "turn", "pole"])
@pytest.mark.parametrize("controller", ["walker", "relay"])
def test_what_planners_do_is_put_to_walkers_too(capsys, name, controller):
    assert call("run", name, "--controller", controller, "--seconds", "1", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["controller"], summary["character"], summary["frames"]) == (controller, "biped", 30)
    assert (summary["broken_rows"], summary["metrics"]["falls"]) == (0, 0)


def test_a_body_that_does_not_suit_a_controller(capsys):
    for words in (
        ["stand", "--controller", "walker", "--character", "humanoid"],
        ["learn-hop", "--controller", "relay"],
    ):
        assert call("run", *words) == 2
        assert "toes, palms, jointed-back; '" in capsys.readouterr().err


def test_a_script_replaces_what_a_scenario_wants(capsys, tmp_path, doers):
    path, file = tmp_path / "a.npz", tmp_path / "errand"
    file.write_text("go to 1 0  # not far\nturn to 180")
    for script, acts in (("Go to 1 0; wait 2", (GoTo((1.0, 0.0)), Wait(2.0))), (file, (GoTo((1.0, 0.0)), Turn(np.pi)))):
        words = ["--script", script, "--seconds", "0.1", "--record", path, "--json"]
        assert call("run", "steer-walk", *words) == 0
        assert json.loads(capsys.readouterr().out)["frames"] == 3
        assert doers[-1].given == [acts]
        (part,) = Recording.load(path).parts
        assert type(part.about.want).__name__ == "Do"
        assert part.about.commands == []  # none of steer-walk's own wants
        assert call("replay", path, "--check") == 0
        capsys.readouterr()


def test_a_script_that_cannot_be_done_is_refused_before_anything_moves(capsys, doers):
    assert call("run", "steer-walk", "--script", "go to 1 0; lift crate", "--seconds", "0.1") == 2
    assert "act 2, 'lift crate': no 'crate' in the scene, which has no props" in capsys.readouterr().err


def test_help_of_run_shows_scripts(capsys):
    assert call("run", "--help") == 0
    assert '--script "go to 2 1; turn to 90, then wait 2 s"' in capsys.readouterr().out


@pytest.mark.parametrize("name", PLANNERS)
def test_every_controller_runs(capsys, name):
    words = ["--controller", name, "--seconds", "0.2", "--samples", "8", "--horizon", "0.1"]
    assert call("run", "getup", *words, "--json") == 0
    assert json.loads(capsys.readouterr().out)["controller"] == name


def test_standing_long_enough_is_a_success(capsys):
    assert call("run", "stand", "--seconds", "0.6", *TINY, "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["successes"], summary["success_rate"]) == (1, 1.0)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ball", ["--mass", "--rolling", "--until"]),
        ("ball-reach", ["--mass", "--rolling", "--until"]),
        ("juggle", ["--mass", "--radius"]),
        ("reach", ["--near", "--far"]),
        ("steer", ["--pace"]),
        ("obstacles", ["--height"]),
        ("turbo", ["--height", "--depth"]),
        ("wall", ["--force"]),
        ("dodge", ["--throws", "--speed", "--distance", "--after"]),
        ("impulse", ["--impulse"]),
    ],
)
def test_scenarios_options_are_in_their_help(capsys, name, options):
    assert call("run", name, "--help") == 0
    out = capsys.readouterr().out
    assert all(option in out for option in options)


def test_a_scenarios_own_metrics_are_told(capsys):
    assert call("run", "steer", *SHORT, "--json") == 0
    metrics = json.loads(capsys.readouterr().out)["metrics"]
    assert set(metrics) == {"rms_joint_speed", "rms_jerk", "falls", "speed_along"}
    assert isinstance(metrics["speed_along"], float)


def test_a_scenarios_props_are_recorded_with_it(capsys, tmp_path):
    path = tmp_path / "a.npz"
    assert call("run", "ball", "--mass", "123", *SHORT, "--record", path) == 0
    (ball,) = Recording.load(path).scene().props
    assert (ball.mass, ball.radius) == (123, 0.5)
    assert call("replay", path) == 0


def test_threads_and_processes_do_not_matter(tmp_path, capsys):
    seed = ["--seed", "5", "--seconds", "0.4", "--samples", "8", "--horizon", "0.2"]
    one, two, other, elsewhere = (tmp_path / f"{name}.npz" for name in ("one", "two", "other", "elsewhere"))
    assert call("run", "getup", *seed, "--threads", "1", "--record", one) == 0
    assert call("run", "getup", *seed, "--threads", "2", "--record", two) == 0
    assert call("run", "getup", *seed, "--seed", "6", "--threads", "1", "--record", other) == 0
    done = tumble("run", "getup", *seed, "--threads", "1", "--record", elsewhere)
    assert done.returncode == 0, done.stderr
    assert frozen(one) == frozen(two) == frozen(elsewhere)
    assert frozen(one) != frozen(other)


def test_settings_reach_the_planner_and_the_recording(tmp_path, capsys):
    path = tmp_path / "a.npz"
    assert call("run", "stand", *SHORT, "--calm.speed", "0.125", "--record", path) == 0
    settings = Recording.load(path).header.settings
    assert settings["calm"]["speed"] == 0.125
    assert settings["samples"] == 4


def test_a_trial_of_one_frame(capsys):
    assert call("run", "stand", "--seconds", "0.034", *TINY, "--json") == 0
    assert json.loads(capsys.readouterr().out)["frames"] == 1


# learning -------------------------------------------------------------------------------------------

LEARN = ["run", "stand", "--controller", "smc", "--seconds", "0.2", "--samples", "12", "--horizon", "0.6"]


def test_experience_grows_over_trials_and_runs(tmp_path, capsys):
    path = tmp_path / "a.experience"
    for trials, learned in ((1, 6), (2, 18), (1, 24)):  # standing still, every plan is worth remembering
        assert call(*LEARN, "--learned", path, "--trials", trials, "--json") == 0
        captured = capsys.readouterr()
        summary = json.loads(captured.out)
        assert {key: type(value) for key, value in summary.items()} == CONTRACT | {"learned": int}
        assert (summary["learned"], summary["trials"], complaints(captured.err)) == (learned, trials, "")
    assert call(*LEARN, "--learned", path) == 0
    assert "learned from 30 situations in" in capsys.readouterr().out
    assert [file.name for file in tmp_path.iterdir()] == ["a.experience"]


def test_frozen_experience_is_used_and_not_added_to(tmp_path, capsys):
    path = tmp_path / "a.experience"
    assert call(*LEARN, "--learned", path) == 0
    before = path.read_bytes()
    lying = ["run", "getup", *LEARN[2:], "--seconds", "0.4"]  # where guesses matter
    runs = {"one": ["--learned", path, "--frozen"], "two": ["--learned", path, "--frozen"], "without": []}
    for name, more in runs.items():
        capsys.readouterr()
        assert call(*lying, *more, "--record", tmp_path / f"{name}.npz", "--json") == 0
        assert json.loads(capsys.readouterr().out).get("learned") == (6 if more else None)
    assert path.read_bytes() == before
    one, two, without = (frozen(tmp_path / f"{name}.npz") for name in runs)
    assert one == two != without


def test_a_spoiled_file_of_experience_is_told_and_kept(tmp_path, capsys):
    path = tmp_path / "a [red] file of experience that has a long name.experience"  # no markup, and not wrapped
    path.write_text("hello")
    assert call(*LEARN, "--learned", path, "--json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["learned"] == 6
    assert complaints(captured.err) == (
        f"tumble: {path} is not a whole file of experience: it does not begin with 'tumble experience 1';"
        f" it is now {path}.corrupt, and learning begins anew\n"
    )
    assert path.with_name(f"{path.name}.corrupt").read_text() == "hello"
    assert call(*LEARN, "--learned", path, "--json") == 0
    captured = capsys.readouterr()
    assert (json.loads(captured.out)["learned"], complaints(captured.err)) == (12, "")


def test_a_file_of_experience_for_another_body(tmp_path, capsys):
    path = tmp_path / "a.experience"
    assert call(*LEARN, "--learned", path) == 0
    before = path.read_bytes()
    assert call(*LEARN, "--learned", path, "--character", "humanoid-light") == 2
    assert capsys.readouterr().err == (
        f"tumble: {path} was made for 'humanoid', this is 'humanoid-light'; choose another file\n"
    )
    assert path.read_bytes() == before


def test_a_disk_that_is_full_of_experience(tmp_path, capsys, monkeypatch):
    def full(file, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tumble.files.write_all", full)
    assert call(*LEARN, "--learned", tmp_path / "a.experience") == 2
    assert capsys.readouterr().err == f"tumble: cannot write {tmp_path}/a.experience: No space left on device\n"


SEARCH = ["run", "stand", "--controller", "mcts", *SHORT]


def threads() -> list[str]:
    """Names of the threads that learn or write."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(("tumble learners", "writes "))]


def test_learners_grow_over_trials_and_runs(tmp_path, capsys):
    path = tmp_path / "a.learned"
    for trials, learned in ((1, 6), (2, 18), (1, 24)):
        assert call(*SEARCH, "--learned", path, "--trials", trials, "--json") == 0
        captured = capsys.readouterr()
        summary = json.loads(captured.out)
        assert {key: type(value) for key, value in summary.items()} == CONTRACT | {"learned": int}
        assert (summary["learned"], summary["trials"], complaints(captured.err)) == (learned, trials, "")
    assert call(*SEARCH, "--learned", path, "--samples", "8") == 0  # of other sizes, what was learned is as good
    assert "learned from 30 situations in" in capsys.readouterr().out
    assert [file.name for file in tmp_path.iterdir()] == ["a.learned"]
    assert threads() == []


def test_the_second_trial_starts_with_what_the_first_learned(tmp_path, capsys, monkeypatch):
    known, teach = [], Learning.teach

    def noted(learning, controller):
        unused = teach(learning, controller)
        known.append(len(controller.planner.learner))
        return unused

    monkeypatch.setattr(Learning, "teach", noted)
    assert call(*SEARCH, "--learned", tmp_path / "a.learned", "--trials", "3") == 0
    assert known == [0, 6, 12]


def test_the_first_trial_that_learns_is_the_same_with_a_file_and_without(tmp_path, capsys):
    for name, more in (("with", ["--learned", tmp_path / "a.learned"]), ("without", [])):
        assert call(*SEARCH, "--seed", "3", "--record", tmp_path / f"{name}.npz", *more) == 0
    assert frozen(tmp_path / "with.npz") == frozen(tmp_path / "without.npz")


def test_frozen_learners_are_used_and_not_added_to(tmp_path, capsys):
    path = tmp_path / "a.learned"
    assert call(*SEARCH, "--seconds", "4", "--learned", path) == 0  # more than a hundred frames: the network is trained
    before = path.read_bytes()
    runs = {"one": ["--learned", path, "--frozen"], "two": ["--learned", path, "--frozen"], "without": []}
    for name, more in runs.items():
        capsys.readouterr()
        assert call(*SEARCH, *more, "--background", "--record", tmp_path / f"{name}.npz", "--json") == 0
        assert json.loads(capsys.readouterr().out).get("learned") == (120 if more else None)
    assert path.read_bytes() == before
    one, two, without = (frozen(tmp_path / f"{name}.npz") for name in runs)
    assert one == two != without


def test_who_learns_in_another_way_is_refused_a_file(tmp_path, capsys):
    path = tmp_path / "a.learned"
    assert call(*SEARCH, "--learned", path) == 0
    before = path.read_bytes()
    for words, message in (
        (LEARN, "is no file of experience: its format is 'tumble learners 1', this controller needs 'tumble exp"),
        ([*SEARCH, "--character", "humanoid-light"], "was made for 'humanoid', this is 'humanoid-light'; choose"),
        ([*SEARCH, "--gain", "20"], "was made for 'humanoid' (gain 10.0), this is 'humanoid' (gain 20.0); choose"),
    ):
        capsys.readouterr()
        assert call(*words, "--learned", path) == 2
        assert f"tumble: {path} {message}" in capsys.readouterr().err
    path.unlink()
    assert call(*LEARN, "--learned", path) == 0
    capsys.readouterr()
    assert call(*SEARCH, "--learned", path) == 2
    assert f"tumble: {path} is no file of learners: its format is 'tumble experience 1'" in capsys.readouterr().err
    assert before and [file.name for file in tmp_path.iterdir()] == ["a.learned"]


def test_a_spoiled_file_of_learners_is_told_and_kept(tmp_path, capsys):
    path = tmp_path / "a.learned"
    path.write_text("hello")
    assert call(*SEARCH, "--learned", path, "--json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["learned"] == 6
    assert complaints(captured.err) == (
        f"tumble: {path} is not a whole file of learners: File is not a zip file; it is now {path}.corrupt,"
        " and learning begins anew\n"
    )


def test_a_disk_that_is_full_of_learners(tmp_path, capsys, monkeypatch):
    def full(path, write):
        raise UserError(f"cannot write {path}: No space left on device")

    monkeypatch.setattr("tumble.live.learned_file.replace_locked", full)
    assert call(*SEARCH, "--learned", tmp_path / "a.learned") == 2
    assert capsys.readouterr().err == f"tumble: cannot write {tmp_path}/a.learned: No space left on device\n"
    assert threads() == [] and not any(tmp_path.iterdir())


@pytest.mark.parametrize("more", [[], ["--learned", "a.learned"]], ids=["without", "with"])
def test_no_thread_outlives_a_run_in_the_background(tmp_path, capsys, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    seen, step = [], Session.step

    def noted(session):
        frame = step(session)
        seen.append(threads())
        return frame

    monkeypatch.setattr(Session, "step", noted)
    assert call(*SEARCH, "--background", "--trials", "2", *more) == 0
    assert len(seen) == 14 and all("tumble learners" in names for names in seen)  # two frames of warming up
    assert threads() == []


def test_an_error_in_the_thread_that_learns_fails_the_run(tmp_path):
    code = """
import sys
from tumble.learners import Network

def train(network, updates):
    raise ArithmeticError("weights out of order")

Network.train = train
from tumble.cli import main
main()
"""
    words = [*SEARCH, "--background", "--learned", str(tmp_path / "a.learned")]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("ArithmeticError: weights out of order\n")


# replay, strip, bench -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A recording of a few frames."""
    path = tmp_path_factory.mktemp("recorded") / "a.npz"
    assert call("run", "getup", *SHORT, "--record", path) == 0
    return path


def test_replay_tells(recorded, capsys):
    assert call("replay", recorded) == 0
    out = capsys.readouterr().out
    assert "getup with cpbp, seed 0, 6 frames" in out
    assert "made with tumble" in out


def test_replay_check(recorded, tmp_path, capsys):
    assert call("replay", recorded, "--check") == 0
    assert "identical: all 6 states, bit for bit" in capsys.readouterr().out
    recording = Recording.load(recorded)
    recording.parts[0].motion[3].view(np.uint64)[8] ^= 1
    recording.save(tmp_path / "b.npz")
    assert call("replay", tmp_path / "b.npz", "--check") == 1
    assert "different: first at frame 3 (0.13 s)" in capsys.readouterr().out


def test_bench_json(capsys):
    words = ["--samples", "4", "--horizon", "0.1", "--frames", "2", "--threads", "1"]
    assert call("bench", "planner", *words, "--json") == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 1
    summary = json.loads(out)
    assert set(summary) == {
        "controller", "samples", "horizon", "frames", "plan_ms", "raw_ms", "overhead", "scenarios"
    }  # fmt: skip
    assert (summary["controller"], summary["samples"], summary["frames"]) == ("cpbp", 4, 2)
    for row in (summary, *summary["scenarios"].values()):
        assert row["overhead"] == pytest.approx(row["plan_ms"] / row["raw_ms"])
        assert row["raw_ms"] > 0
    assert call("bench", "planner", *words) == 0
    assert "physics alone" in capsys.readouterr().out


def test_bench_of_another_scenario_has_its_character(capsys):
    words = ["--scenario", "learn-hop", "--samples", "4", "--horizon", "0.1", "--frames", "2", "--threads", "1"]
    assert call("bench", "planner", "--controller", "mcts", *words, "--json") == 0
    assert set(json.loads(capsys.readouterr().out)["scenarios"]) == {"learn-hop"}


def test_bench_cold_compares_with_stand_and_leaves_nothing(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert call("bench", "cold", "stand", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["scenario"], row["controller"], row["ratio"]) == ("stand", "cpbp", 1.0)
    assert 0 < row["warm"] < row["cold"] and row["compilations"] > 0
    assert not list(tmp_path.iterdir())
    assert "stand" in bench_cold.table([row])


def test_bench_learners(capsys, monkeypatch):
    monkeypatch.setattr(bench_learners, "PAIRS", 200)
    monkeypatch.setattr(bench_learners, "ROUNDS", 3)
    assert call("bench", "learners", "--json") == 0
    times = json.loads(capsys.readouterr().out)
    assert len(times) == 5 and all(0 < microseconds < 1e6 for microseconds in times.values())
    assert call("bench", "learners") == 0
    assert "us  forest, 3 neighbours" in capsys.readouterr().out


def test_bench_tree(capsys):
    words = ["bench", "tree", "--tree", "getup-3", "--alpha", "2", "--seconds", "1", "--threads", "1"]
    assert call(*words, "--json") == 0
    row = json.loads(capsys.readouterr().out)
    assert row["nodes"] > row["edges"] > 0 and row["load_ms"] > 0
    assert 0 < row["asking_frames"] <= 180 and row["asking_ms"]["p50"] <= row["asking_ms"]["p95"]
    assert call(*words) == 0
    assert "frames that ask:" in capsys.readouterr().out


def test_bench_export(capsys, monkeypatch):
    monkeypatch.setattr(bench_export, "find_spec", lambda name: None)  # films are drawn elsewhere
    assert call("bench", "export", "--seconds", "0.5", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["seconds"] == 0.5 and {".bvh", ".glb", ".vrma", ".html"} <= set(found["files"])
    assert all(row["seconds"] > 0 and row["mb"] > 0 for row in found["files"].values())
    assert call("bench", "export", "--seconds", "0.5") == 0
    assert ".glb" in capsys.readouterr().out


def test_a_scenario_has_settings_for_its_own_controller_alone(capsys):
    words = ["run", "learn-hop", "--seconds", "0.04", "--json"]
    assert call(*words, "--horizon", "0.1") == 0
    assert json.loads(capsys.readouterr().out)["sim_steps"] == 128 * 3  # of one frame
    assert call(*words, "--horizon", "0.1", "--samples", "4") == 0
    assert json.loads(capsys.readouterr().out)["sim_steps"] == 4 * 3
    assert call(*words, "--horizon", "0.1", "--controller", "ps") == 0
    assert json.loads(capsys.readouterr().out)["sim_steps"] == PredictiveSamplingSettings.samples * 3


# studio ---------------------------------------------------------------------------------------------


@pytest.fixture
def served(monkeypatch):
    """What the studio's server is asked to serve; it serves nothing."""
    calls = []
    server = ModuleType("tumble.studio.server")
    server.serve = lambda *arguments, **more: calls.append((arguments, more))
    monkeypatch.setitem(sys.modules, "tumble.studio.server", server)
    return calls


@pytest.fixture
def choice():
    """What is played in the studio."""
    from tumble.studio.choice import Choice

    return Choice


def test_help_of_the_studio_lists_the_settings_of_its_controller(capsys):
    assert call("studio", "--help") == 0
    out = capsys.readouterr().out
    assert all(word in out for word in ("--host", "--port", "--no-browser", "--seed", "--calm.speed", "token"))
    assert "--elites" not in out
    for words in (["--controller", "cem"], ["--controller=cem"]):
        assert call("studio", *words, "--help") == 0
        out = capsys.readouterr().out
        assert "--elites" in out and "--calm.speed" not in out


def test_the_studio_by_default(served, choice):
    assert call("studio") == 0
    ((arguments, more),) = served
    assert arguments == (choice("stand", "humanoid", "cpbp", 0), CPBPSettings(), "127.0.0.1", 8080, 0)
    assert more == {"browser": True, "file": None, "behind": "", "takes": {}, "keep_time": True}


def test_options_reach_the_studio(served, choice):
    words = ["getup", "--controller", "cem", "--samples", "5", "--elites", "3", "--character", "humanoid-light"]
    more_words = ["--seed", "7", "--threads", "2", "--host", "::1", "--port", "0", "--no-browser"]
    assert call("studio", *words, *more_words) == 0
    ((arguments, more),) = served
    settings = CEMSettings(samples=5, elites=3)
    assert arguments == (choice("getup", "humanoid-light", "cem", 7), settings, "::1", 0, 2)
    assert more == {"browser": False, "file": None, "behind": "", "takes": {}, "keep_time": True}


def test_options_of_a_scenario_reach_the_studio(served, choice, capsys):
    assert call("studio", "push", "--force", "600") == 0
    assert call("studio", "push", "--force", "400") == 0
    assert [arguments[0] for arguments, _ in served] == [choice("push", options=(("force", 600.0),)), choice("push")]
    assert call("studio", "push", "--force", "-1") == 2
    assert "force must be a number 0 or more" in capsys.readouterr().err


def test_the_studio_learns_from_a_file(served, tmp_path, capsys):
    path = tmp_path / "a.experience"
    path.write_text("hello")
    assert call("studio", *LEARN[1:4], *LEARN[6:], "--learned", path) == 0
    ((_, more),) = served
    learning = more["learning"]
    assert (learning.file.path, learning.frozen, len(learning)) == (path, False, 0)
    captured = capsys.readouterr()
    assert captured.out == f"learned from 0 situations in {path}\n"
    assert captured.err.endswith(f"it is now {path}.corrupt, and learning begins anew\n")
    assert [file.name for file in tmp_path.iterdir()] == ["a.experience.corrupt"]  # nothing was learned, it is closed
    assert call("studio", "--help") == 0
    out = capsys.readouterr().out
    assert all(word in out for word in ("--learned", "--frozen", "tumble studio dodge --learned dodge.experience"))
    assert "(planners that learn: smc, mcts)" in plain(out)


def test_the_studio_learns_in_the_background_unless_told_otherwise(served, tmp_path, capsys):
    path = tmp_path / "a.learned"
    for more, background in (([], True), (["--no-background"], False)):
        assert call("studio", "stand", "--controller", "mcts", "--samples", "5", *more, "--learned", path) == 0
        (_, settings, *_), given = served[-1]
        assert settings == MCTSSettings(samples=5, background=background)
        assert (given["learning"].file.path, len(given["learning"])) == (path, 0)
    assert not any(tmp_path.iterdir()) and threads() == []


def test_without_nicegui_the_studio_says_what_to_install(capsys, monkeypatch, served):
    monkeypatch.setattr("tumble.cli.studio_command.find_spec", lambda name: None)
    assert call("studio") == 2
    assert capsys.readouterr().err == "tumble: the studio needs NiceGUI: pip install 'tumble[studio]'\n"
    assert not served


def test_help_of_the_studio_needs_no_server():
    """Nor any of its modules, which take long to import or may not be there."""
    code = """
import sys
from tumble.cli import dispatch
try:
    dispatch(["studio", "--help"])
except SystemExit as end:
    assert not end.code
print([name for name in sys.modules if name.split(".")[0] in ("nicegui", "uvicorn", "fastapi")], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == "[]\n"


# Mistakes -------------------------------------------------------------------------------------------

BAD = [
    (
        ["frobnicate"],
        "no command 'frobnicate'; there are: bench, character, cite, dataset, export, gait, list, replay, run, stones, "
        "strip, studio, task, tree",
    ),
    (["rnu"], "(did you mean 'run'?)"),
    (
        ["run", "stnd"],
        "no scenario 'stnd'; there are: ball, ball-light, ball-reach, bird-mania, course, crate-carry, "
        "crate-pull, crate-push, crouch, crowd, dodge, dodge-heavy, duck, explosion, gaps, gaps-3d, gaps-push, "
        "gaps-walker, getup, getup-prone, getup-tree, go-to-line, go-to-point, go-to-point-heading, heading, "
        "heading-speed, hop-projectiles, impulse, juggle, jump, lamp-posts, learn-hop, learn-trot, learn-walk, "
        "obstacles, path-3d, pick-up, planar-net, pole, push, reach, sequence, simbicon-bird, simbicon-humanoid, "
        "simbicon-planar, simbicon-raptor, stairs, stand, steer, steer-walk, step-over, stepping-stones, stones, "
        "stones-3d, stop, turbo, turn, twist, very-robust-walk, walk-bodies, walk-on, walk-projectiles, "
        "walk-push, wall (did you mean 'stand'?)",
    ),
    (["run", "--json", "stand"], "name the scenario first: tumble run SCENARIO ...; there are: stand, push"),
    (["run", "stand", "--controller", "cpb"], "no controller 'cpb'; there are: "),
    (["run", "stand", "--controller=cpb"], "(did you mean 'cpbp'?)"),
    (["run", "stand", "--character", "human"], "no character 'human'; there are: "),
    (["run", "stand", "--trials", "0"], "trials must be a number 1 or more and at most 1e+06, got 0"),
    (["run", "stand", "--seed", "-1"], "seed must be a number 0 or more"),
    (["run", "stand", "--threads", "-1"], "threads must be a number 0 or more and at most 1024, got -1"),
    (["run", "stand", "--seconds", "0"], "seconds must be a number 0.0333333 or more"),
    (["run", "stand", "--seconds", "nan"], "seconds must be a number 0.0333333 or more and at most 86400, got nan"),
    (["run", "stand", "--samples", "0"], "samples must be a number 2 or more and at most 100000, got 0"),
    (["run", "stand", "--horizon", "-1"], "horizon must be a number 0.0333333 or more and at most 60, got -1"),
    (["run", "stand", "--samples", "many"], "many"),
    (["run", "stand", "--calm.speed", "0"], "speed must be a number above 0, got 0"),
    (["run", "stand", "--regularisation", "nan"], "regularisation must be a number above 0, got nan"),
    (["run", "stand", "--controller", "cem", "--samples", "4", "--elites", "9"], "elites"),
    (["run", "stand", "--controller", "cem", "--calm.speed", "1"], "--calm.speed"),
    (["run", "stand", "--force", "3"], "--force"),
    (["run", "push", "--force", "nan"], "force must be a number 0 or more and at most 100000, got nan"),
    (["run", "ball", "--mass", "0"], "mass must be a number 0.1 or more and at most 10000, got 0"),
    (["run", "ball", "--until", "0.5"], "until must be a number 1 or more and at most 3600, got 0.5"),
    (["run", "steer", "--pace", "nan"], "pace must be a number 0.1 or more and at most 5, got nan"),
    (["run", "reach", "--near", "2"], "far must be a number 2 or more and at most 100, got 1.2"),
    (["run", "turbo", "--height", "-1"], "height must be a number 0.05 or more and at most 3, got -1"),
    (["run", "juggle", "--pace", "1"], "--pace"),
    (["run", "push", "--force", "-5"], "force must be a number 0 or more and at most 100000, got -5"),
    (
        ["run", "stand", "--script", "go to 1 0"],
        "planners do no scripts; controllers that take it: walker, relay",
    ),
    (["run", "steer-walk", "--script", "go 1 0"], "line 1: cannot read 'go 1 0'; write 'go to PLACE', such as"),
    (["run", "steer-walk", "--script", ""], "there is no act in this script; write some of: go to PLACE"),
    (["run", "steer-walk", "--script", "nothing.txt"], "cannot read the script nothing.txt: "),
    (["run", "stand", "--record", "a.txt"], "a recording's name ends in .npz, got a.txt"),
    (["run", "stand", *SHORT, "--record", "nowhere/a.npz"], "no folder nowhere to write a.npz into"),
    (["run", "stand", *SHORT, "--learned", "a.experience"], "controller 'cpbp' does not learn; choose: smc"),
    (["run", "steer-walk", "--learned", "a.experience"], "controller 'walker' does not learn; choose: smc"),
    (["run", "stand", "--frozen"], "--frozen is for what was learned; name its file: --learned FILE"),
    ([*LEARN, "--learned", "a.experience", "--frozen"], "no file a.experience: nothing was learned yet"),
    ([*LEARN, "--learned", "nowhere/a.experience"], "no folder nowhere to write a.experience into"),
    ([*LEARN, "--learned", "."], "cannot write .: it is a folder"),
    ([*LEARN, "--learned", "a.experience", "--seconds", "0"], "seconds must be a number 0.0333333 or more"),
    (["replay", "nothing.npz"], "no file nothing.npz"),
    (["replay"], "Missing from tumble replay"),
    (["strip", "nothing.npz", "a.png"], "no file nothing.npz"),
    (["bench", "controller"], "planner"),
    (["bench", "cold", "stend"], "no scenario 'stend'"),
    (["bench", "planner", "--frames", "0"], "frames must be a number 1 or more and at most 1e+06, got 0"),
    (["bench", "planner", "--controller", "cpb"], "no planner 'cpb'"),
    (["bench", "planner", "--scenario", "pick-up"], "planners do no scripts"),
    (["bench", "planner", "--samples", "1"], "samples must be a number 2 or more"),
    (["list", "--jsn"], "--jsn"),
    (["studio", "stnd"], "no scenario 'stnd'; there are: ball, ball-light,"),
    (["studio", "stnd"], "(did you mean 'stand'?)"),
    (["studio", "stand", "push"], "push"),
    (["studio", "--controller", "cpb"], "no controller 'cpb'; there are: "),
    (["studio", "--controller=cpb"], "(did you mean 'cpbp'?)"),
    (["studio", "--controller"], "--controller"),
    (["studio", "--character", "human"], "no character 'human'; there are: "),
    (["studio", "--learned", "a.experience"], "controller 'cpbp' does not learn; choose: smc"),
    (["studio", "dodge", "--frozen"], "--frozen is for what was learned; name its file: --learned FILE"),
    (["studio", "dodge", "--learned", "a.experience", "--frozen"], "no file a.experience: nothing was learned yet"),
    (["studio", "--seed", "-1"], "seed must be a number 0 or more"),
    (["studio", "--threads", "-1"], "threads must be a number 0 or more and at most 1024, got -1"),
    (["studio", "--port", "65536"], "port must be a number 0 or more and at most 65535, got 65536"),
    (["studio", "--port", "-1"], "port must be a number 0 or more and at most 65535, got -1"),
    (["studio", "--port", "http"], "http"),
    (["studio", "--samples", "1"], "samples must be a number 2 or more and at most 100000, got 1"),
    (["studio", "--horizon", "nan"], "horizon must be a number 0.0333333 or more and at most 60, got nan"),
    (["studio", "--calm.speed", "0"], "speed must be a number above 0, got 0"),
    (["studio", "--controller", "cem", "--samples", "4", "--elites", "9"], "elites must be 1 to samples (4), got 9"),
    (["studio", "--controller", "cem", "--calm.speed", "1"], "--calm.speed"),
    (["studio", "stand", "--force", "600"], "--force"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=[" ".join(words)[:40] for words, _ in BAD])
def test_mistakes_exit_with_2_and_a_sentence(capsys, monkeypatch, tmp_path, served, words, message):
    monkeypatch.chdir(tmp_path)
    assert call(*words) == 2
    captured = capsys.readouterr()
    said = captured.out + captured.err
    assert message in " ".join(said.split())
    assert captured.out == "" or "--json" not in words
    assert "Traceback" not in said
    assert not any(tmp_path.iterdir()) and not served


def test_a_mistake_in_a_process_of_its_own(tmp_path):
    done = tumble("replay", "nothing.npz", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "tumble: no file nothing.npz\n")


def test_a_file_that_is_no_recording(tmp_path, capsys):
    (tmp_path / "a.npz").write_text("hello")
    assert call("replay", tmp_path / "a.npz") == 2
    assert "is not a whole tumble recording" in capsys.readouterr().err


def test_a_missing_folder_is_noticed_before_the_run(monkeypatch, tmp_path):
    def too_late(*arguments):
        raise AssertionError("ran")

    monkeypatch.setattr("tumble.cli.runner.run_trial", too_late)
    monkeypatch.chdir(tmp_path)
    assert call("run", "stand", *SHORT, "--record", "nowhere/a.npz") == 2


def test_a_recording_onto_a_folder(tmp_path):
    (tmp_path / "a.npz").mkdir()
    assert call("run", "stand", *SHORT, "--record", tmp_path / "a.npz") == 2


# Ctrl-C ---------------------------------------------------------------------------------------------

TOLD = """
import sys
import tumble.live.session
step = tumble.live.session.Session.step

def told(session):
    frame = step(session)
    if frame.index == 9:
        print("ten frames", file=sys.stderr, flush=True)
    return frame

tumble.live.session.Session.step = told
from tumble.cli import main
main()
"""


def test_ctrl_c_means_what_it_meant_after_a_run(capsys):
    before = signal.getsignal(signal.SIGINT)
    assert call("run", "stand", *SHORT) == 0
    assert signal.getsignal(signal.SIGINT) is before


def interrupted(words, folder) -> str:
    """What a command prints that gets Ctrl-C after ten frames."""
    process = subprocess.Popen(
        [sys.executable, "-c", TOLD, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    )
    try:
        said = process.stderr.readline()
        while said.startswith("compiling "):  # where nothing has compiled it yet
            said = process.stderr.readline()
        assert said == "ten frames\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    return out


def test_ctrl_c_ends_with_130_and_keeps_the_recording(tmp_path):
    path = tmp_path / "a.npz"
    words = ["run", "stand", "--seconds", "3600", *TINY, "--record", str(path), "--json"]
    out = interrupted(words, tmp_path)
    assert json.loads(out)["trials"] == 0  # none was finished
    recording = Recording.load(path)
    assert 10 <= recording.frames < 3600 * 30
    assert recording.first_difference() is None
    assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]


def test_ctrl_c_keeps_what_was_learned(tmp_path):
    path = tmp_path / "a.experience"
    words = [*LEARN, "--seconds", "3600", "--learned", str(path), "--json"]
    out = interrupted(words, tmp_path)
    learned = json.loads(out)["learned"]
    assert learned > 0
    assert call(*LEARN, "--seconds", "0.034", "--learned", path, "--frozen") == 0
    assert [file.name for file in tmp_path.iterdir()] == ["a.experience"]
    words = [*SEARCH, "--seconds", "3600", "--learned", "a.learned", "--background", "--json"]
    assert json.loads(interrupted(words, tmp_path))["learned"] >= 10
    assert call(*SEARCH, "--seconds", "0.034", "--learned", tmp_path / "a.learned", "--frozen") == 0


def test_successes_that_numpy_counts_are_told_as_json():
    """A scenario of one's own judges by arrays."""
    tally = Tally()
    for seed, did in enumerate((True, False, True)):
        tally.add(seed, Result(np.bool_(did), True, 1.0, 30, [0.01], 0, 0, {"falls": np.int64(1)}), 0.5)
    told = json.loads(json.dumps(tally.summary("go-to-line", "task", "big-bird")))
    assert (told["successes"], told["metrics"]["falls"]) == (2, 3)
