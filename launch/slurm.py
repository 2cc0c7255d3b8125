"""Cluster nodes as a job of Slurm. All of it is in one script, which can be read and submitted by hand: the coordinator on the
job's first machine, one node process on each by `srun`, and the search.

The script survives what Slurm does to jobs. Shortly before the time limit it gets a signal, has the coordinator make a checkpoint
and puts itself back into the queue; whenever it is started again, the coordinator goes on from its recovery file.
"""

import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable

from distmcts.errors import InputError, SearchError
from distmcts.files import write_whole
from distmcts.result import Result
from launch.commands import coordinator_arguments, node_arguments
from launch.config import LaunchConfig
from launch.run_folder import RunFolder

ASK_S = 60.0  # without a controller, Slurm's commands wait for ever
LOOK_S = 1.0
WARNING_S = 60  # before the time limit
LOG = "slurm"
WAITING = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESIZING", "SUSPENDED")
WAITING += ("SIGNALING", "STAGE_OUT", "STOPPED", "RESV_DEL_HOLD", "SPECIAL_EXIT")

SCRIPT = """\
#!/bin/bash
# {about}
# Written by `distmcts launch`. Submit it with: sbatch {script}
{options}
{setup}
run={run}
[ -e "$run/result.json" ] && exit 0

# The first machine of the job, this one, as the others reach it: names of machines need not resolve.
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
address=$(scontrol show node -o "$first" | grep -o 'NodeAddr=[^ ]*' | cut -d = -f 2)

# The coordinator writes what was found to its recovery file and sends the nodes home. Any that stay end with the job.
coordinator= search=
checkpoint() {{
    kill $search 2>/dev/null
    kill -USR1 $coordinator 2>/dev/null
    wait $coordinator
    rm -f "$run/invitation.json"
}}
back_into_the_queue() {{
    checkpoint
    [ -e "$run/result.json" ] && exit 0
    echo "distmcts: checkpoint made; job $SLURM_JOB_ID goes back into the queue"
    scontrol requeue "$SLURM_JOB_ID"
    exit 0
}}
trap {at_limit} USR1 # {warning} s before the time limit
trap 'checkpoint; exit 143' TERM # cancelled, preempted, or requeued by somebody else

rm -f "$run/invitation.json"
{coordinator} >>"$run/logs/coordinator.log" 2>&1 &
coordinator=$!
until [ -e "$run/invitation.json" ]; do
    if ! kill -0 $coordinator 2>/dev/null; then
        echo "distmcts: the coordinator has ended: $(tail -n 1 "$run/logs/coordinator.log")"
        exit 1
    fi
    sleep 0.2
done

# One node on each machine. The others go on when one dies.
node() {{
    exec {node} >>"$run/logs/$SLURMD_NODENAME.log" 2>&1
}}
export run
export -f node
srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --no-kill --kill-on-bad-exit=0 --wait=0 bash -c node \\
    >>"$run/logs/srun.log" 2>&1 &
nodes=$!

{search} &
search=$!
wait -n $search $nodes
code=$?
if kill -0 $search 2>/dev/null; then
    echo "distmcts: all nodes have ended: $(tail -q -n 1 "$run/logs/srun.log"); see also their logs"
    code=1
fi
checkpoint
exit $code
"""


def job_script(folder: RunFolder, config: LaunchConfig) -> str:
    slurm = config.slurm
    python = slurm.python or shlex.quote(sys.executable)
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", config.name)[:60]
    options = {
        "job-name": f"distmcts-{name}",
        "nodes": slurm.nodes,
        "ntasks-per-node": 1,
        "cpus-per-task": slurm.cpus_per_task,
        "time": slurm.time,
        "partition": slurm.partition,
        "output": folder.log(LOG),
        "open-mode": "append",
        "signal": f"B:USR1@{WARNING_S}",
    }
    lines = [f"#SBATCH --{key}={shlex.quote(str(value))}" for key, value in options.items() if value is not None]
    flags = ["requeue", "no-kill", *([] if slurm.cpus_per_task else ["exclusive"])]
    lines += [f"#SBATCH --{flag}" for flag in flags]
    lines += [line if line.startswith("#SBATCH") else f"#SBATCH {line}" for line in slurm.sbatch]
    coordinator = coordinator_arguments(folder, f"tcp://*:{slurm.port or '*'}", "tcp://ADDRESS:*")
    node = node_arguments("NAME", config.node, "INVITATION")
    if config.node.workers is None:
        node += ["--workers", "WORKERS"]
    return SCRIPT.format(
        about=f"{f'A search of {name}' if config.job else 'A cluster'} on {slurm.nodes} machines, run {folder.path.name}.",
        script=shlex.quote(str(folder.script)),
        options="\n".join(lines),
        setup=f"\n{slurm.setup.strip()}\n" if slurm.setup.strip() else "",
        run=shlex.quote(str(folder.path)),
        warning=WARNING_S,
        coordinator=_filled(python, [*coordinator, "--checkpoint-at-term"], {"tcp://ADDRESS:*": '"tcp://$address:*"'}),
        node=_filled(
            python,
            node,
            {"NAME": '"$SLURMD_NODENAME"', "INVITATION": '"$run/invitation.json"', "WORKERS": '"$SLURM_CPUS_ON_NODE"'},
        ),
        at_limit="back_into_the_queue" if config.job else "'checkpoint; exit 0'",
        search=f'{python} -m distmcts launch --attach "$run"' if config.job else "sleep infinity",
    )


def _filled(python: str, arguments: list[str], values: dict[str, str]) -> str:
    """A command with some arguments for the shell to fill in."""
    return " ".join([python, *(values.get(argument) or shlex.quote(argument) for argument in arguments)])


def preview(folder: RunFolder, config: LaunchConfig) -> list[str]:
    return [f"# {folder.script}", job_script(folder, config).rstrip(), "", shlex.join(_sbatch(folder))]


def _sbatch(folder: RunFolder) -> list[str]:
    return ["sbatch", "--parsable", str(folder.script)]


def submit(folder: RunFolder, config: LaunchConfig) -> str:
    """Submit the job; returns its id. One that is still in the queue is not submitted twice."""
    claim = folder.claim()
    try:
        job = folder.job_id.read_text().strip() if folder.job_id.exists() else ""
        deadline = time.monotonic() + ASK_S
        while job and _state(job)[0] == "COMPLETING" and time.monotonic() < deadline:  # cancelled a moment ago
            time.sleep(LOOK_S)
        if job and _state(job)[0] in WAITING:
            return job
        write_whole(folder.script, job_script(folder, config))
        done = _ask(*_sbatch(folder))
        job = done.stdout.strip().partition(";")[0]
        if done.returncode or not job.isdigit():
            raise SearchError(f"sbatch refused the job: {_one_line(done.stderr or done.stdout)}; the script is {folder.script}")
        write_whole(folder.job_id, f"{job}\n")
        return job
    finally:
        folder.give_back(claim)


def what_next(folder: RunFolder, job: str, stays: bool) -> str:
    run = shlex.quote(str(folder.path))
    result = ("use", f"distmcts search GAME --cluster {run}") if stays else ("result", f"{folder.resume_command} --follow")
    rows = [
        ("job", f"{job}, run {folder.path}"),
        ("state", f"squeue --jobs {job}"),
        ("watch", f"distmcts status {run}"),
        result,
        ("log", f"tail -f {shlex.quote(str(folder.log(LOG)))}"),
        ("end", f"scancel {job}   (what was searched until then counts if the run is resumed)"),
    ]
    return "\n".join(f"{what + ':':<8} {how}" for what, how in rows)


def follow(folder: RunFolder, job: str, show: Callable[[str], None]) -> Result:
    """Wait for the end of a job, and show its states; returns what was found. Blocks."""
    shown = ""
    while True:
        state, note = _state(job)
        text = f"job {job}: {state} {note}".rstrip()
        if text != shown:
            show(text)
            shown = text
        if (result := folder.read_result()) is not None:
            return result
        if state and state not in WAITING and state != "UNKNOWN":
            time.sleep(LOOK_S)  # a shared file system may be a little behind
            if (result := folder.read_result()) is not None:
                return result
            raise SearchError(f"job {job} has ended ({state}) without a result: {folder.last_line(LOG)}")
        time.sleep(LOOK_S)


def _state(job: str) -> tuple[str, str]:
    """The state of a job, and a reason or its machines; GONE if Slurm has forgotten it, UNKNOWN if it does not answer."""
    done = _ask("squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T %R")
    if done.returncode and "Invalid job id" not in done.stderr:
        return "UNKNOWN", _one_line(done.stderr)
    state, _, note = done.stdout.strip().partition(" ")
    return state or "GONE", note


def _ask(*command: str) -> subprocess.CompletedProcess:
    """Run a command of Slurm to its end."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=ASK_S, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise InputError(f"there is no `{command[0]}` on this machine; launch from a machine of a Slurm cluster") from None
    except subprocess.TimeoutExpired:
        raise SearchError(f"{command[0]}: no answer within {ASK_S:g} s; is Slurm's controller running?") from None


def _one_line(text: str) -> str:
    return " ".join(text.split()) or "no reason given"
