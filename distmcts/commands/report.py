"""`distmcts report`: write a run's report and table again from its records."""

from pathlib import Path
from typing import Annotated

import typer


def run(folder: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")]) -> None:
    """Rebuild report.html and results.csv of a run from its records, even while it is running."""
    write_outputs(folder)
    print(f"report: {folder / 'report.html'}")


def write_outputs(folder: Path) -> None:
    """Write what is computed from records."""
    from distmcts.errors import file_errors
    from distmcts.experiments.report import write_report
    from distmcts.experiments.results import results_csv
    from distmcts.experiments.run_folder import RECORDS, REPORT, RESULTS, open_run
    from distmcts.experiments.summary import summarise
    from distmcts.files import write_whole
    from distmcts.records import read_records

    config, manifest = open_run(folder)
    summary = summarise(config, manifest, read_records(folder / RECORDS))
    with file_errors(folder):
        write_whole(folder / RESULTS, results_csv(summary))
        write_report(summary, folder / REPORT)
