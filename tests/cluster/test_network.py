"""A cluster across emulated hosts, with keys: links that are cut, slow or lossy, and who has the wrong key."""

from contextlib import contextmanager
from functools import partial

import pytest

from distmcts.cluster.client import Cluster
from distmcts.cluster.keys import Invitation, make_pair, read_invitation, write_invitation
from distmcts.errors import InputError
from tests.support.command import distmcts
from tests.support.hosts import start_hosts
from tests.support.parts import why_no_namespaces, why_no_switch
from tests.support.real_cluster import RealCluster, row_of
from tests.support.switch import start_switch

needs_hosts = pytest.mark.skipif(bool(why_no_namespaces()), reason=why_no_namespaces())
needs_switch = pytest.mark.skipif(bool(why_no_switch()), reason=why_no_switch())


@contextmanager
def cluster_on(network, folder):
    """A coordinator on this side, a node on each host, keys on both sides."""
    cluster = RealCluster(folder)
    names = [f"host{i}" for i in range(len(network.host))]
    try:
        cluster.start_coordinator("--bind", f"tcp://{network.address}:5555", DISTMCTS_KEYS=str(folder / "none"))
        for name, host in zip(names, network.host, strict=True):
            cluster.start_node(name, popen=host.popen)
        cluster.wait_for_nodes(*names)
        yield cluster
    finally:
        cluster.end()


@needs_hosts
def test_three_hosts_with_keys_and_cut_links(tmp_path):
    with start_hosts(3) as network, cluster_on(network, tmp_path) as cluster:
        invitation = read_invitation(cluster.invitation)
        assert invitation.secret and cluster.invitation.stat().st_mode & 0o077 == 0
        assert invitation.secret not in cluster.logs()

        result = cluster.search_until_all_finish(seconds=2)
        assert [node.state for node in result.cluster_nodes] == ["finished"] * 3

        second = network.host[1]
        result = cluster.search_until_all_finish(seconds=4, merge="share", at={1.0: second.cut, 2.0: second.heal})
        assert [node.state for node in result.cluster_nodes] == ["finished"] * 3

        result = cluster.search_until_all_finish(seconds=15, merge="share", at={1.5: second.cut, 11.5: second.heal})
        assert [node.state for node in result.cluster_nodes] == ["finished"] * 3, cluster.logs()
        assert "host1 is lost" in cluster.log("coordinator") and "host1 is back" in cluster.log("coordinator")

        result = cluster.search(seconds=4, at={1.5: second.cut})
        assert row_of(result, "host1").state.startswith("lost: silent")
        assert row_of(result, "host1").simulations > 0
        second.heal()
        cluster.wait_for_log("coordinator", "host1 is back", times=2)
        result = cluster.search(simulations=500_000, at={})
        assert result.simulations == 500_000
        assert row_of(result, "host1").state == "finished"

        _others_are_not_let_in(cluster, network, tmp_path, invitation)


def _others_are_not_let_in(cluster, network, folder, invitation):
    """A node with a wrong key, one without, and one that expects another coordinator: each says so, and ends."""
    stranger = make_pair("stranger")
    wrong = {
        "wrong": Invitation(invitation.address, invitation.coordinator_key, stranger.public, stranger.secret),
        "plain": Invitation(invitation.address),
        "elsewhere": Invitation(invitation.address, stranger.public, invitation.public, invitation.secret),
    }
    for name, given in wrong.items():
        write_invitation(folder / f"{name}.json", given)
        cluster.start_node(name, "--invitation", str(folder / f"{name}.json"), popen=network.host[0].popen)
    result = cluster.search(seconds=3)
    assert sorted(node.name for node in result.cluster_nodes) == ["host0", "host1", "host2"]
    assert cluster.log("coordinator").count(f"an unknown key was turned away: {stranger.public}") == 1
    for name in wrong:
        assert cluster.processes[name].wait(30) == 2, cluster.log(name)
    assert "it does not know our key" in cluster.log("wrong")
    assert "cannot agree with" in cluster.log("plain") and "cannot agree with" in cluster.log("elsewhere")
    with Cluster(wrong["wrong"]) as client, pytest.raises(InputError, match="does not know our key"):
        client.status()
    said = distmcts("status", str(folder / "wrong.json"))
    assert (said.returncode, said.stderr.count("\n")) == (2, 1) and "does not know our key" in said.stderr


@needs_switch
def test_slow_and_lossy(tmp_path):
    """20 ms each way, 2 % of the packets lost."""
    with start_switch(2, delay_s=0.02, loss=0.02, seed=1) as network, cluster_on(network, tmp_path) as cluster:
        for merge in ("sum", "share"):
            result = cluster.search_until_all_finish(seconds=4, merge=merge)
            assert [node.state for node in result.cluster_nodes] == ["finished"] * 2, cluster.logs()
        assert cluster.search(simulations=1_000_000).simulations == 1_000_000
        first = network.host[0]
        result = cluster.search_until_all_finish(seconds=8, merge="share", at={1.5: first.cut, 5.0: first.heal})
        assert [node.state for node in result.cluster_nodes] == ["finished"] * 2, cluster.logs()


@needs_hosts
def test_keys_made_by_hand(tmp_path):
    """`distmcts keys`, as a person would use it on two machines: neither secret leaves its folder."""
    here, there = tmp_path / "coordinator", tmp_path / "node"
    for folder, name in ((here, "server"), (there, "worker")):
        assert distmcts("keys", "new", name, "--keys", str(folder)).returncode == 0
    with start_hosts(1) as network:
        cluster = RealCluster(tmp_path)
        address = f"tcp://{network.address}:5556"
        start = partial(cluster.start_node, "host0", address, "--keys", str(there), popen=network.host[0].popen)
        try:
            cluster.start_coordinator("--bind", address, "--keys", str(here))
            assert distmcts("keys", "allow", str(here / "server.key"), "--keys", str(there)).returncode == 0
            start()
            assert cluster.processes["host0"].wait(30) == 2  # not allowed yet
            assert distmcts("keys", "allow", str(there / "worker.key"), "--keys", str(here)).returncode == 0
            start()
            cluster.wait_for_nodes("host0")
            assert cluster.search(seconds=1).cluster_nodes[0].state == "finished"

            def restart():
                cluster.kill("coordinator")
                cluster.start_coordinator()

            assert cluster.search(seconds=6, at={2.0: restart}).cluster_nodes[0].state == "finished"  # with the same keys
        finally:
            cluster.end()
