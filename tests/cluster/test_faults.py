"""Real processes, real signals: whatever dies, hangs, lies or is late, the search ends in time and counts what was searched."""

import re
import shutil
import signal
import time

import pytest

from distmcts.cluster.rules import RULES
from distmcts.errors import InputError, SearchError
from tests.support.command import ROOT, distmcts, start
from tests.support.real_cluster import RealCluster, real_cluster, row_of


@pytest.fixture
def cluster(tmp_path):
    with real_cluster(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def steady(tmp_path_factory):
    """One to which nothing is done that it does not survive unchanged."""
    with real_cluster(tmp_path_factory.mktemp("steady")) as made:
        yield made


def test_every_rule_and_budget(steady):
    for merge in RULES:
        result = steady.search_until_all_finish(seconds=1.5, merge=merge)
        assert [node.state for node in result.cluster_nodes] == ["finished"] * 2
        assert all(node.simulations for node in result.cluster_nodes)
        assert result.stopped_by == "1.5 seconds"
    result = steady.search(simulations=200_000, merge="sum", seed=5)
    assert result.simulations == 200_000  # exactly
    assert result.moves[0].line[0] == result.moves[0].name
    again = distmcts("search", "connect_four", "--simulations", "30000", "--cluster", str(steady.invitation), "--json")
    assert '"simulations": 30000' in again.stdout, again.stderr
    found = distmcts("search", "tic_tac_toe", "--simulations", "5000", "--cluster", str(steady.invitation), "solver=true")
    assert "ended by: proven" in found.stdout or "ended by: 5000" in found.stdout, found.stderr
    status = distmcts("status", str(steady.invitation))
    assert "alpha" in status.stdout and "done" in status.stdout, status.stderr


def test_a_node_is_killed(cluster):
    result = cluster.search(seconds=5, at={1.5: lambda: cluster.kill("alpha")})
    lost = row_of(result, "alpha")
    assert lost.state.startswith("lost: silent")
    assert lost.simulations > 0
    assert row_of(result, "beta").state == "finished"
    assert "lost" in str(result)


def test_a_killed_nodes_share_of_simulations_is_done_by_others(cluster):
    wanted = 6_000_000
    result = cluster.search(simulations=wanted, at={1.0: lambda: cluster.kill("alpha")})
    assert result.simulations == wanted
    assert row_of(result, "alpha").state.startswith("lost")


def test_a_node_hangs_and_wakes_again(cluster):
    pause = {1.0: lambda: cluster.signal("alpha", signal.SIGSTOP), 4.5: lambda: cluster.signal("alpha", signal.SIGCONT)}
    result = cluster.search(seconds=7, at=pause)
    assert row_of(result, "alpha").state == "finished"  # it came back in time
    assert "alpha is lost" in cluster.log("coordinator") and "alpha is back" in cluster.log("coordinator")


@pytest.mark.long
def test_a_node_hangs_for_good(cluster):
    result = cluster.search(seconds=4, at={1.0: lambda: cluster.signal("alpha", signal.SIGSTOP)})
    assert row_of(result, "alpha").state.startswith("lost: silent")
    cluster.signal("alpha", signal.SIGCONT)


@pytest.mark.parametrize("merge", ["share", pytest.param("sum", marks=pytest.mark.long)])
def test_the_coordinator_is_killed_and_started_again(cluster, merge):
    def restart():
        cluster.kill("coordinator")
        cluster.start_coordinator()

    result = cluster.search_until_all_finish(seconds=6, merge=merge, at={2.0: restart})
    assert [node.state for node in result.cluster_nodes] == ["finished"] * 2, cluster.logs()
    told = [line.sequence for line in cluster.told("alpha")]
    assert told[-told[-1] :] == list(range(1, told[-1] + 1))  # one tree from start to end


def test_coordinator_and_a_node_are_killed(cluster):
    """What the dead node had reported is known from the recovery file."""

    def both():
        cluster.kill("alpha")
        cluster.kill("coordinator")
        cluster.start_coordinator()

    result = cluster.search(seconds=6, at={2.5: both})
    assert row_of(result, "alpha").state.startswith("lost")
    assert row_of(result, "alpha").simulations > 0


@pytest.mark.long
def test_everybody_is_killed(cluster):
    def both():
        cluster.kill("alpha")
        cluster.kill("beta")

    result = cluster.search(seconds=4, at={1.5: both})
    assert [node.state[:4] for node in result.cluster_nodes] == ["lost"] * 2
    assert result.simulations > 0


def test_a_node_joins_late_and_one_leaves(cluster):
    actions = {0.2: lambda: cluster.start_node("gamma"), 4.5: lambda: cluster.signal("alpha", signal.SIGTERM)}
    result = cluster.search(seconds=9, merge="share", at=actions)
    assert row_of(result, "gamma").state == "finished"
    assert row_of(result, "gamma").simulations > 0
    left = row_of(result, "alpha")
    assert left.simulations == cluster.told("alpha")[-1].visits  # it reported everything before it went
    assert cluster.processes["alpha"].wait(10) == 143


def test_everything_comes_twice(tmp_path):
    with real_cluster(tmp_path, ()) as cluster:
        cluster.start_node("alpha", twice=True)
        cluster.start_node("beta", twice=True)
        cluster.wait_for_nodes("alpha", "beta")
        for merge in ("sum", "share"):
            result = cluster.search_until_all_finish(seconds=2, merge=merge)
            assert [node.state for node in result.cluster_nodes] == ["finished"] * 2
        assert cluster.search(simulations=100_000).simulations == 100_000
        with cluster.client() as client:
            assert client.status().dropped["old news"] > 0


def test_another_version_of_the_game(cluster, tmp_path):
    """A node whose rules differ refuses, and says so; the others go on. If all refuse, the job says why."""
    changed = tmp_path / "changed"
    shutil.copytree(ROOT / "games", changed / "games", ignore=shutil.ignore_patterns("__pycache__"))
    (changed / "games" / "connect_four.py").open("a").write("\n# other rules\n")
    cluster.start_node("gamma", cwd=changed)
    cluster.wait_for_nodes("gamma")
    result = cluster.search(seconds=2)
    assert re.match(r"refused: gamma: has another version of connect_four", row_of(result, "gamma").state)
    assert [row_of(result, name).state for name in ("alpha", "beta")] == ["finished"] * 2
    cluster.kill("alpha")
    cluster.kill("beta")
    time.sleep(3)  # until they are missed
    with cluster.client() as client, pytest.raises(SearchError, match="no node could do it: gamma: has another version"):
        client.search("connect_four", seconds=2)


def test_a_game_that_a_node_does_not_have(steady):
    with steady.client() as client:
        with pytest.raises(SearchError, match="no node could do it: .*unknown game"):
            order = _renamed("tic_tac_toe", "no_such_game")
            client.run(order)
        assert client.search("tic_tac_toe", simulations=1000).simulations == 1000


def _renamed(game: str, name: str):
    import msgspec

    from distmcts.cluster.order import make_order

    order = make_order(game, simulations=1000)
    return order._replace(search=msgspec.structs.replace(order.search, game=name))


def test_a_node_ends_without_its_coordinator(tmp_path):
    cluster = RealCluster(tmp_path)
    cluster.start_coordinator()
    try:
        cluster.start_node("alpha", "--silence", "3")
        cluster.wait_for_nodes("alpha")
        cluster.kill("coordinator")
        assert cluster.processes["alpha"].wait(15) == 1
        assert "has been silent for 3 s" in cluster.log("alpha")
    finally:
        cluster.end()


def test_batches(cluster):
    """Units are carried out once each; one that fails is tried again and then told; a killed node's unit is done by the other."""
    context = {"game": "connect_four", "settings": {"simulations": 50_000, "parallel": "serial", "memory": "64MiB"}}
    positions = [str(column) * height for column in range(1, 8) for height in range(1, 6)]
    done: list[str] = []
    with cluster.client() as client:
        for result in client.map("search", context, [*positions, "nonsense"]):
            if len(done) == 3:
                cluster.kill("alpha")
            done.append(result.unit)
            if result.unit == "nonsense":
                assert "position 'nonsense': expected" in result.error
            else:
                assert result.found["simulations"] == 50_000
    assert sorted(done) == sorted([*positions, "nonsense"])
    with cluster.client() as client, pytest.raises(SearchError, match="unknown kind of unit 'serch': did you mean 'search'"):
        list(client.map("serch", {}, ["a"]))


def test_too_little_time_still_has_an_answer(steady):
    for seconds in (0.01, 0.001):
        assert steady.search("tic_tac_toe", seconds=seconds).simulations > 0


def test_ctrl_c_shows_what_was_found_until_then(steady):
    """Also if nodes report rarely: they listen all the same."""
    search = start("search", "connect_four", "--seconds", "60", "--cluster", str(steady.invitation), "merge_s=30")
    steady.wait_for_job("searching")
    time.sleep(1)
    search.send_signal(signal.SIGINT)
    out, err = search.communicate(timeout=20)
    assert search.returncode == 130, err
    assert "ended by: interrupted" in out
    assert err == "distmcts: interrupted; this is what was found so far\n"


def test_a_terminated_client_leaves_no_search_behind(steady):
    search = start("search", "connect_four", "--seconds", "60", "--cluster", str(steady.invitation))
    steady.wait_for_job("searching")
    search.terminate()
    search.communicate(timeout=20)
    steady.wait_for_job("done")


@pytest.mark.long
def test_workers_are_those_that_searched(cluster):
    cluster.start_node("gamma", "--workers", "2")
    cluster.wait_for_nodes("gamma")
    result = cluster.search("tic_tac_toe", seconds=1, parallel="serial")
    assert [node.workers for node in result.cluster_nodes] == [1, 1, 1]


def test_what_cannot_be_handed_in_is_named(steady):
    with steady.client() as client:
        with pytest.raises(InputError, match="cannot be handed in: it is not of the right form: Expected `str` of length <= 200"):
            list(client.map("search", {}, ["x" * 300]))
        with pytest.raises(InputError, match="cannot be handed in: it is too large"):
            list(client.map("search", {}, [f"{'x' * 100}{i}" for i in range(30_000)]))
