"""`distmcts status`: what it shows, and what it says when there is nothing to show."""

from rich.console import Console

from distmcts.cluster.messages import JobRow, MoveRow, NodeRow, Status
from distmcts.commands.status import _page
from distmcts.kernels.layout import SCALE
from tests.support.command import distmcts


def shown(status: Status, before: dict[str, int], passed_s: float) -> str:
    console = Console(width=120)
    with console.capture() as capture:
        console.print(_page(status, before, passed_s))
    return capture.get()


def test_texts_of_others_are_no_markup():
    """A reason may have brackets in it, and closing ones that were never opened."""
    nodes = [NodeRow("[red]a", "refused: no [/opt/lib], no [b]", 2, 1000, 0.0, 0, 0.0)]
    rows = [MoveRow(3, 100, 50 * SCALE, 1, None)]
    jobs = [JobRow("[/job]", "search of [i]x", "searching", 100, None, rows, {"3": "[/c4]"})]
    text = shown(Status("name", 5.0, nodes, jobs, {"not [/a] message": 2}), {"[red]a": 500}, 0.5)
    for part in ("[red]a", "no [/opt/lib], no [b]", "[/job]", "search of [i]x", "[/c4]", "not [/a] message: 2", "+0.500"):
        assert part in text
    assert "1,000" in text  # a second
    assert "1 node, coordinator up 5 s" in text and "1 job" in text


def test_a_run_without_a_cluster_says_what_to_do(tmp_path):
    (tmp_path / "over").mkdir()
    (tmp_path / "over" / "result.json").write_text("{}")
    (tmp_path / "queued").mkdir()
    (tmp_path / "queued" / "slurm_job_id").write_text("17\n")
    (tmp_path / "stopped").mkdir()
    for name, says in (
        ("over", "over: has finished; over/result.json has the result"),
        ("queued", "squeue --jobs 17"),
        ("stopped", "resume a stopped run with: distmcts launch --resume stopped"),
        ("127.0.0.1:5555", "is neither an address, as in tcp://127.0.0.1:5555"),
    ):
        answer = distmcts("status", name, cwd=tmp_path)
        assert (answer.returncode, answer.stderr.count("\n")) == (2, 1)
        assert says in answer.stderr
