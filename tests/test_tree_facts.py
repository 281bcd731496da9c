"""What is told of attraction trees: numbers, levels, names, and what they were not grown for."""

from dataclasses import asdict

import numpy as np
import pytest
from test_tree_file import SMALL, grow

from tumble.attraction.building import build
from tumble.attraction.facts import facts_of, levels_of, nodes_after
from tumble.attraction.growing import left_at_most
from tumble.attraction.shipped import beyond, file_of, shipped
from tumble.attraction.store import outline_of, read_file
from tumble.attraction.systems import system_named
from tumble.attraction.tree import Tree
from tumble.errors import UserError
from tumble.world.drives import FRAME


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small tree, grown in one go."""
    return grow(tmp_path_factory.mktemp("trees") / "whole.tree")


def test_facts_of_a_tree(whole):
    found = read_file(whole)
    tree, facts = found.tree, facts_of(found)
    depths = [tree.depth(head) for head in tree.heads]
    frames = [tree.duration(head) for head in tree.heads]
    assert (facts.height, facts.depth) == (max(depths), pytest.approx(np.mean(depths)))
    assert facts.seconds == pytest.approx(FRAME * np.mean(frames)) and facts.longest == pytest.approx(
        FRAME * max(frames)
    )
    assert (facts.nodes, facts.edges, facts.attempts) == (len(tree), len(tree.edges), len(found.outcomes))
    assert facts.optimised == sum(not one.inside for one in found.outcomes)
    assert asdict(outline_of(whole)) == {
        "name": "pendulum", "largest": facts.largest, "nodes": facts.nodes, "edges": facts.edges,
    }  # fmt: skip


def test_facts_of_levels(whole):
    found = read_file(whole)
    levels, nodes = levels_of(found), nodes_after(found)
    assert [one.level for one in levels] == [0.125, 0.25]
    assert sum(one.attempts for one in levels) == len(found.outcomes)
    assert sum(one.edges for one in levels) == len(found.tree.edges)
    assert levels[-1].nodes == nodes[-1] == len(found.tree) and (np.diff(nodes) >= 0).all()
    inside = [one.inside for one in found.outcomes if one.level == 0.25][-6:]
    assert (levels[-1].inside, levels[-1].late) == (np.mean(inside), len(inside))


def test_a_root_alone_has_facts(tmp_path):
    build(tmp_path / "a.tree", "pendulum", SMALL).__exit__(None, None, None)
    found = read_file(tmp_path / "a.tree")
    assert (facts_of(found).nodes, facts_of(found).height, facts_of(found).largest) == (1, 0, 0.0)
    assert [one.attempts for one in levels_of(found)] == [0, 0] and len(nodes_after(found)) == 0
    assert left_at_most(SMALL, []) == 7 + 14


def test_a_branch_may_be_longer_than_pythons_stack():
    tree, points = Tree(system_named("pendulum")), np.zeros((2, 1))
    for parent in (0, *range(1, 3 * 2000, 3)):
        tree.add(points, np.zeros((3, 2)), parent, 1.0)
    assert len(tree.track(tree.heads[-1])) == 3 * len(tree.edges) == 3 * tree.depth(tree.heads[-1])


def test_names_of_trees(tmp_path):
    assert file_of("getup-1") == shipped()["getup-1"] and file_of(f"{tmp_path}/a.tree") == tmp_path / "a.tree"
    with pytest.raises(UserError, match=r"no tree 'getup'; there are: .*did you mean 'getup-\d'\?\); a file of yours"):
        file_of("getup")


def test_what_no_tree_was_grown_for_is_said(whole):
    largest = outline_of(shipped()["getup-1"]).largest
    assert beyond("getup-1", largest) is None
    grown = f"the trees that ship were grown up to level {largest:g} of 'getup-1'"
    assert beyond("getup-1", 99.0) == f"{grown}; at 99 it may come to nothing"
    assert beyond("getup-1", 99.0, "getup-1").startswith(
        f"getup-1 was grown up to level {largest:g} of 'getup-1'; at 99"
    )
    assert (
        beyond("twist", 1.0, "getup-1") == "getup-1 was not grown for 'twist'; from its states it may come to nothing"
    )
    with pytest.raises(UserError, match=r"whole\.tree is a tree of a pendulum and leads no character; choose one of a"):
        beyond("getup-1", 1.0, str(whole))
