"""The advice says what was shown, says what was not, and never more."""

import json

import pytest

from distmcts.experiments.advice import FEW_PAIRS, advice, elo_text
from tests.experiments.summaries import full


def said(summary) -> str:
    return "\n".join(advice(summary))


def of_time(summary):
    return [row for row in summary["matches"] if row["budget"] == "time"]


def set_elo(row, elo, low, high, decision):
    row.update(elo=elo, elo_low=low, elo_high=high, decision=decision)


def test_a_clear_lead_is_a_recommendation():
    summary = full()
    for row in of_time(summary):
        set_elo(row, -100, -160, -40, "not stronger")
    set_elo(of_time(summary)[0], 115, 52, 185, "stronger")
    first = advice(summary)[0]
    assert first.startswith("For connect_four() at 0.05 s a move on this machine, use tree lockfree virtual_loss x2:")
    assert "+115 Elo (interval +52 to +185, 50 pairs)" in first
    assert "no interval reaches its own" in said(summary)


def test_overlapping_intervals_are_undecided():
    rivals = next(sentence for sentence in advice(full()) if "intervals overlap" in sentence)
    assert "tree lockfree wu_uct x2" in rivals
    assert "root sum x2" in rivals
    assert "undecided" in rivals
    assert "leaf x2" not in rivals


def test_the_best_of_many_is_said_to_be_chosen():
    assert "best of 6 results" in said(full())


def test_nothing_shown_to_be_stronger():
    summary = full()
    for row in of_time(summary):
        set_elo(row, 20, -40, 80, "undecided")
    first = advice(summary)[0]
    assert "undecided whether any parallel scheme is stronger than serial" in first
    assert "use tree" not in said(summary)


def test_all_weaker():
    summary = full()
    for row in of_time(summary):
        set_elo(row, -100, -160, -40, "not stronger")
    assert "use serial: every parallel scheme" in advice(summary)[0]


def test_all_tested_and_none_stronger():
    summary = full()
    for row in of_time(summary):
        set_elo(row, 5, -30, 40, "not stronger")
    assert "use serial: the tests found no parallel scheme stronger" in advice(summary)[0]


@pytest.mark.parametrize(("low", "decision"), [(10, "undecided"), (-10, "stronger")])
def test_interval_and_sequential_test_must_agree(low, decision):
    summary = full()
    for row in of_time(summary):
        set_elo(row, 70, low, 130, decision)
    assert "use tree" not in said(summary)


def test_few_pairs_tell_nothing():
    summary = full()
    for row in summary["matches"]:
        row["pairs"] = 4
    assert "too few games to tell which scheme to use: at most 4 pairs" in advice(summary)[0]
    assert "use tree" not in said(summary)


def test_few_pairs_of_one_scheme():
    summary = full()
    of_time(summary)[3].update(pairs=FEW_PAIRS - 1, decision="undecided")
    assert "Too few games to tell: root sum x2." in said(summary)


def test_a_sequential_test_may_end_early():
    summary = full()
    of_time(summary)[0].update(pairs=FEW_PAIRS - 1)
    assert "use tree lockfree virtual_loss x2" in advice(summary)[0]


def test_without_matches_rates_do_not_decide():
    summary = full() | {"matches": [], "strength": []}
    first = advice(summary)[0]
    assert "cannot say which scheme to use" in first
    assert "hints" in first


def test_a_rate_is_not_strength():
    sentence = next(sentence for sentence in advice(full()) if "rate" in sentence)
    assert sentence.startswith("root sum x2 has the highest rate, 1.93 times serial's, but a rate is not strength")


def test_strength_speedup_that_may_be_no_gain():
    summary = full()
    summary["strength"][0].update(low=0.9)
    assert "1.66 times the time (2 workers, interval 0.90 to 2.20); so by this measure the gain is not certain" in said(summary)
    summary["strength"][0].update(beyond=True)
    assert "a guess" in said(summary)


def test_tuning():
    summary = full()
    assert "tuned" not in said(summary)
    summary["tuning"]["rows"] = [row for row in summary["tuning"]["rows"] if row["scheme"] != "leaf"]
    assert "c was not tuned for leaf" in said(summary)
    summary["tuning"] = {"tuned": False, "rows": []}
    assert "c was not tuned:" in said(summary)


def test_simulated_is_called_simulated():
    summary = full()
    sentences = [sentence for sentence in advice(summary) if "1,024" in sentence or "64 machines" in sentence]
    assert len(sentences) == 2
    assert all(sentence.startswith("Simulated, not run on real ") for sentence in sentences)
    assert "none: below -1200 (interval below -1200 to -420)" in sentences[0]
    assert "Which of wu_uct and virtual_loss is best is undecided" in sentences[0]
    for row in summary["simulated_workers"]:
        row["pairs"] = 5
    assert "1,024 workers against serial with as many simulations played too few games to tell." in said(summary)


def test_an_unfinished_run_says_so_first():
    summary = full() | {"finished": False, "units_done": 12}
    assert advice(summary)[0].startswith("The comparison is not finished (12 of 84 units")


def test_a_busy_machine_and_too_many_workers():
    summary = full()
    assert "busy" not in said(summary)
    summary["manifest"].update(load_at_start=1.9, cores=1)
    assert "The machine was busy at the start (load 1.9 on 1 core)" in said(summary)
    assert "Cells with more than 1 worker had to share cores" in said(summary)


def test_long_lists_are_cut():
    summary = full()
    rows = [row | {"cell": f"scheme {i} x2"} for i in range(20) for row in of_time(full())[:1]]
    summary["matches"] = rows
    rivals = next(sentence for sentence in advice(summary) if "intervals overlap" in sentence)
    assert "or 14 others" in rivals


@pytest.mark.parametrize("section", full())
def test_any_section_may_be_missing_or_empty_or_unknown(section):
    summary = full()
    del summary[section]
    assert advice(summary)
    assert advice(full() | {section: None})
    rows = full()[section]
    if isinstance(rows, list) and section != "notes":
        assert advice(full() | {section: []})
        assert advice(full() | {section: [dict.fromkeys(row) for row in rows]})
        assert advice(full() | {section: [{}]})


def test_nothing_measured():
    assert advice({}) == [
        "The comparison is not finished (0 of ? units are done): all that follows may still change.",
        "For this game on this machine, this run cannot say which scheme to use: no scheme played against serial at equal time.",
    ]


def test_the_summary_is_plain_json_and_stays_as_it_is():
    summary = full()
    before = json.dumps(summary)
    advice(summary)
    assert json.dumps(summary) == before


def test_elo_in_words():
    assert [elo_text(elo) for elo in (12.4, -0.3, -12.6, 1200, -1200, None, float("nan"))] == [
        "+12",
        "0",
        "-13",
        "above +1200",
        "below -1200",
        "unknown",
        "unknown",
    ]
