"""A user's file in the studio: what is saved is played, what fails is told and the last good version goes on."""

import time
from pathlib import Path

import pytest

from tumble.studio.choice import Choice
from tumble.studio.reloading import Reloading
from tumble.studio.stage import Stage
from tumble.userfile import load

PATIENCE = 60.0  # s; a wait that takes as long has failed
SOURCE = """
from dataclasses import dataclass
from tumble import scenarios

@dataclass(frozen=True)
class Wait(scenarios.Scenario):
    \"\"\"Stand.\"\"\"

    controllers = ("walker",)
    characters = ("biped",)

    def setup(self, scene, rng):
        return scenarios.Setup(scene.state(), SECONDS)

scenarios.register("waiting", Wait, "stand for a while")
"""


class Told:
    """An audience that remembers what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def show(self, shown) -> None:
        pass

    def say(self, text: str) -> None:
        self.said.append(text)

    def compiling(self, text: str) -> None:
        pass

    def changed(self) -> None:
        pass


def until(condition) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def file(tmp_path, registries) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE.replace("SECONDS", "3.0"))
    load(path)
    return path


def test_what_is_saved_is_played_and_what_fails_is_told(file):
    told = Told()
    stage = Stage(Choice("waiting", "biped", "walker"), told, threads=1)
    stage.start()
    try:
        with Reloading(file, stage, told.say, looks=0.05):
            assert stage.trial.seconds == 3.0
            file.write_text(SOURCE.replace("SECONDS", "4.25"))
            until(lambda: stage.trial.seconds == 4.25)
            until(lambda: "mine.py was loaded again" in told.said)
            good = stage.trial
            file.write_text(SOURCE.replace("SECONDS", "5.0 +"))
            until(lambda: any("the last good version goes on" in text for text in told.said))
            assert f"{file}, line 13: invalid syntax; the last good version goes on" in told.said
            assert stage.trial is good
            file.write_text(SOURCE.replace("SECONDS", "6.5"))
            until(lambda: stage.trial.seconds == 6.5)
    finally:
        stage.close()
