"""What can be wrong with the configuration of a launch is one line that names it."""

from pathlib import Path

import pytest
import yaml

from distmcts.errors import InputError
from launch.config import make_config
from launch.run_folder import new_run, open_run
from tests.support.command import ROOT, distmcts

TEMPLATES = sorted((ROOT / "configs").glob("cluster_*.yaml"))
JOB = {"game": "connect_four"}

BAD = {
    "job.game' is missing": {"job": {}},
    "'job' is missing": {},
    "unknown key 'job.secnods': did you mean 'job.seconds'?": {"job": {**JOB, "secnods": 3}},
    "job.position=4: expected text": {"job": {**JOB, "position": 4}},
    "job.game_parameters=4: expected keys of its own": {"job": {**JOB, "game_parameters": 4}},
    "unknown on 'slrum': did you mean 'slurm'?": {"job": JOB, "on": "slrum"},
    "unknown key 'local.node': did you mean 'local.nodes'?": {"job": JOB, "local": {"node": 3}},
    "local.nodes=0: input should be greater than or equal to 1": {"job": JOB, "local": {"nodes": 0}},
    "node.workers=-1": {"job": JOB, "node": {"workers": -1}},
    "memory='much'": {"job": JOB, "node": {"memory": "much"}},
    "'ssh.hosts' is missing": {"job": JOB, "on": "ssh"},
    "ssh.hosts: '-oProxyCommand=x' is not the name of a host": {"job": JOB, "on": "ssh", "ssh": {"hosts": ["-oProxyCommand=x"]}},
    "address 'here': expected tcp://HOST:PORT": {"job": JOB, "ssh": {"bind": "here"}},
    "slurm.time=3600: write it in quotes": {"job": JOB, "slurm": {"time": 3600}},
    "slurm.port=70000": {"job": JOB, "slurm": {"port": 70000}},
    "keys must be names": {"job": JOB, 3: 4},
    "job=[]": {"job": []},
}


@pytest.mark.parametrize("says", BAD)
def test_a_bad_one_is_named(says):
    with pytest.raises(InputError) as caught:
        make_config(BAD[says], "a file")
    assert str(caught.value).startswith("a file: ")
    assert says in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "job",
    [{"game": "chess_on_the_moon"}, {**JOB, "seconds": -1}, {**JOB, "merge": "mix"}, {**JOB, "c": "x"}, {**JOB, "share": 2}],
)
def test_a_bad_job_is_found_before_anything_starts(job):
    with pytest.raises(InputError):
        make_config({"job": job}, "a file").order()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_templates_are_what_they_say(path):
    config = make_config(yaml.safe_load(path.read_text()), path.name)
    assert f"distmcts launch configs/{path.name}" in path.read_text()
    assert path.stem == f"cluster_{config.on}"
    order = config.order()
    assert order.search.seconds or order.search.simulations


def test_every_way_has_a_template():
    assert [path.stem for path in TEMPLATES] == ["cluster_local", "cluster_ray", "cluster_slurm", "cluster_ssh"]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_commented_value_is_the_default(path):
    config = make_config(yaml.safe_load(path.read_text()), path.name)
    section, shown = "", {}
    for line in path.read_text().splitlines():
        bare = line.removeprefix("# ").rstrip()
        if bare.endswith(":") and not bare.startswith(" ") and bare[:-1] in type(config).model_fields:
            section = bare[:-1]
        elif "#   " in line[:6] or line.startswith("  # "):
            key, colon, value = line.lstrip("# ").partition(":")
            if colon and section not in ("", "job") and key in type(getattr(config, section)).model_fields:
                shown[section, key] = yaml.safe_load(value.partition(" #")[0])
    assert shown
    for (section, key), value in shown.items():
        default = type(getattr(config, section)).model_fields[key].default
        assert value == (list(default) if isinstance(default, tuple) else default), f"{section}.{key}"


def test_a_bare_on_in_yaml_is_meant_as_the_word():
    assert make_config(yaml.safe_load("on: ray\njob: {game: awale}"), "a file").on == "ray"
    assert make_config({True: "ray", "on": "slurm", "job": JOB}, "a file").on == "slurm"  # from the command line, on top


def test_a_run_folder_keeps_the_configuration(tmp_path):
    config = make_config({"job": {**JOB, "seconds": 2}, "on": "slurm", "slurm": {"nodes": 3, "setup": "a\nb"}}, "a file")
    folder = new_run(config, tmp_path / "run")
    assert open_run(folder.path)[1] == config
    assert folder.read_result() is None


@pytest.mark.parametrize(
    "arguments, says",
    [
        ([], "launch what?"),
        (["nowhere.yaml"], "nowhere.yaml"),
        (["job.game=connect_four", "--follow"], "--follow is for slurm"),
        (["job.game=connect_four", "--on", "moon"], "unknown on 'moon'"),
        (["--resume", "nowhere"], "nowhere: is not a launched run"),
        (["job.game=awale", "--resume", "nowhere"], "give one of them with its folder, and nothing else"),
        (["job.game=connect_for"], "connect_four"),
    ],
)
def test_the_command_says_it_in_one_line(tmp_path: Path, arguments, says):
    done = distmcts("launch", *arguments, cwd=tmp_path, timeout_s=60)
    assert done.returncode == 2 and done.stdout == ""
    assert says in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
