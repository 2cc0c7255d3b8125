"""The README is run: its Python as a doctest, its commands as commands."""

import doctest
import re
import shlex
from pathlib import Path

from tests.support.command import distmcts

README = Path(__file__).parent.parent / "README.md"


def test_python_in_the_readme():
    failures, tried = doctest.testfile(str(README), module_relative=False, verbose=False)
    assert tried >= 5
    assert failures == 0


def test_commands_in_the_readme(tmp_path):
    """Commands after a $; every line of output that is shown must come, `...` stands for any."""
    (tmp_path / "configs").symlink_to(README.parent / "configs")  # and what they make does not stay
    blocks = re.findall(r"```\n\$ (.*?)\n(.*?)```", README.read_text(), re.DOTALL)
    assert blocks
    for command, shown in blocks:
        program, *arguments = shlex.split(command)
        assert program == "distmcts"
        answer = distmcts(*arguments, cwd=tmp_path, COLUMNS="120")
        assert answer.returncode == 0, answer.stderr
        pattern = re.escape(shown.strip()).replace(r"\.\.\.", ".*")
        assert re.search(pattern, answer.stdout, re.DOTALL), answer.stdout


def test_links_in_the_readme_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text())
    assert links
    for link in links:
        assert (README.parent / link).exists(), link


def test_files_that_contributors_are_sent_to_exist():
    text = (README.parent / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`((?:distmcts|kernels|games|launch|tests|configs|benchmarks|commands)/[\w./]+)`", text)
    assert len(named) > 15
    for name in named:
        places = [README.parent / name, README.parent / "distmcts" / name]
        assert "NAME" in name or any(place.exists() for place in places), name


def test_configs_are_searched():
    """Every search configuration runs, shortened."""
    for path in sorted((README.parent / "configs").glob("search_*.yaml")):
        answer = distmcts("search", "--config", str(path), "--simulations", "2000", "--json")
        assert answer.returncode == 0, answer.stderr
        assert '"simulations": 2000' in answer.stdout
