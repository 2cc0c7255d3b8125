"""The page: everything in it, nothing beside it, shown without complaint by a real browser, written whole or not at all."""

import html
import http.server
import json
import os
import re
import shutil
import stat
import subprocess
import threading
from contextlib import contextmanager
from html.parser import HTMLParser

import matplotlib
import pytest

from distmcts.errors import InputError
from distmcts.experiments.plots import plots
from distmcts.experiments.report import render, write_report
from tests.experiments.summaries import PLOTS, TABLES, full

IDS = [*(f"plot-{name}" for name in PLOTS), *(f"table-{name}" for name in TABLES)]
SECTIONS = ["advice", "speed", "strength", "quality", "simulated", "method", "manifest"]
VOID = {"meta", "link", "br"}
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
in_browser = pytest.mark.skipif(
    BROWSER is None, reason="no chromium, chromium-browser or google-chrome on the PATH; .ci/run installs one as root on Debian"
)
HOSTILE = """</style></svg><script>alert("1")</script><img src="http://evil.example/x.png" onerror='x()'>-->$\\frac{$&amp;"""


class Page(HTMLParser):
    """Ids, references, words within each id, and whether tags close in order."""

    def __init__(self, text: str):
        super().__init__()
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.references: list[str] = []
        self.words: dict[str, str] = {}
        self._open: list[tuple[str, str | None]] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self._note(tag, dict(attrs))
        if tag not in VOID:
            self._open.append((tag, dict(attrs).get("id")))

    def handle_startendtag(self, tag, attrs):
        self._note(tag, dict(attrs))

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        for _, name in self._open:
            if name:
                self.words[name] = self.words.get(name, "") + data

    def _note(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [attrs["id"]] if "id" in attrs else []
        for key, value in attrs.items():
            if key in ("href", "src", "xlink:href", "action", "data", "poster", "srcset"):
                self.references.append(value)
            self.references += re.findall(r"url\(([^)]*)\)", value or "")


@pytest.fixture(scope="module")
def page():
    return render(full())


def test_everything_is_there_once(page):
    found = Page(page)
    assert [name for name in IDS + SECTIONS if found.ids.count(name) != 1] == []
    assert len(found.ids) == len(set(found.ids))
    assert [name for name in IDS if len(found.words[name].strip()) < 50] == []
    assert [name for name in found.ids if name in SECTIONS] == SECTIONS  # in this order


def test_references_stay_in_the_page(page):
    found = Page(page)
    assert len(found.references) > 50
    assert {reference for reference in found.references if not reference.startswith("#")} == {"data:,"}
    assert {reference[1:] for reference in found.references if reference.startswith("#")} <= set(found.ids)
    assert re.search(r"https?:|//www|@import|<!ENTITY|<\?xml", page) is None
    assert page.lower().count("<!doctype") == 1
    assert "script" not in found.tags


def test_numbers_of_the_plots_are_in_tables(page):
    words = Page(page).words
    assert "812,345" in words["table-speed"]
    assert "+52 to +185" in words["table-matches"]
    assert "1.28 to 2.20" in words["table-strength"]
    assert "0.50 (beyond)" in words["table-strength"]
    assert "+28%−2% to +67%" in words["table-strength"]
    assert "73% to 93%" in words["table-quality"]
    assert "below −1200" in words["table-simulated-workers"]
    assert "−41" in words["table-simulated-machines"]
    assert "distmcts compare --config" in words["table-manifest"]


def test_plots_are_accessible_text_that_scales(page):
    drawn = dict(re.findall(r'<figure id="([\w-]+)">\s*(<svg.*?</svg>)', page, re.DOTALL))
    assert list(drawn) == [f"plot-{name}" for name in PLOTS]
    for svg in drawn.values():
        opening = svg[: svg.index(">")]
        assert 'width="100%"' in opening
        assert "viewBox=" in opening
        assert 'role="img"' in opening
        assert "aria-label=" in opening
        assert " height=" not in opening
        assert "<metadata" not in svg
        assert svg.count("<text") > 4
    assert ">tree lockfree wu_uct<" in drawn["plot-speedup"]


def test_plots_are_reproducible_and_leave_matplotlib_alone(page):
    before = dict(matplotlib.rcParams)
    matplotlib.rcParams["font.size"] = 30  # as a user's matplotlibrc might
    try:
        assert [name for name, svg in plots(full()).items() if svg not in page] == []
        assert matplotlib.rcParams["font.size"] == 30
    finally:
        matplotlib.rcParams.update(before)


def test_the_state_is_said(page):
    assert "Finished: all 84 units." in page
    assert "So far: 12 of 84 units." in render({"finished": False, "units_done": 12, "units_planned": 84})


def test_nothing_measured():
    found = Page(render({}))
    assert [name for name in SECTIONS if name not in found.ids] == []
    for section, words in [
        ("speed", "Speed was not measured."),
        ("strength", "Strength was not measured."),
        ("quality", "Quality was not measured."),
        ("simulated", "Nothing was simulated."),
        ("method", "c was not tuned."),
    ]:
        assert words in found.words[section]
    assert found.tags.count("svg") == 0


@pytest.mark.parametrize("section", full())
def test_any_section_may_be_alone_or_unknown(section):
    rows = full()[section]
    values = [rows, None]
    if isinstance(rows, list) and section != "notes":
        values += [[], [dict.fromkeys(row) for row in rows], [{}]]
    for value in values:
        Page(render({section: value}))


def test_hostile_text_is_shown_not_obeyed():
    summary = full() | {"title": HOSTILE, "game": HOSTILE, "notes": [HOSTILE]}
    summary["manifest"]["command"] = HOSTILE + "\udcff"
    for section in ("speed", "matches", "strength", "quality"):
        summary[section] = [summary[section][0] | {"scheme": HOSTILE, "cell": HOSTILE}]
    summary["simulated_workers"][0]["reading"] = summary["simulated_machines"][0]["rule"] = HOSTILE
    found = Page(render(summary))
    assert {"script", "img"}.isdisjoint(found.tags)
    assert HOSTILE in found.words["manifest"]
    assert HOSTILE[:40] in found.words["plot-elo"]


def test_written_whole(tmp_path):
    path = tmp_path / "report.html"
    write_report({"manifest": {"command": "compare \udcff"}}, path)  # a byte of the command line that is not text
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~current_umask()
    assert os.listdir(tmp_path) == ["report.html"]


def current_umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def test_a_failure_keeps_the_old_page(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(AttributeError):
        write_report({"speed": [7]}, path)

    def full_disk(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(InputError, match="No space left on device"):
        write_report({}, path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        write_report({}, tmp_path / "nowhere" / "report.html")


@contextmanager
def served(folder):
    """The folder on a loopback address, and the list of what is asked for."""
    asked: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def send_head(self):
            asked.append(self.path)
            return super().send_head()

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def browse(address: str, profile) -> tuple[str, list[str]]:
    """The page as the browser has it in the end, and what it complained about."""
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr", "--v=0"]
    work = [f"--user-data-dir={profile}", "--window-size=1100,900", "--virtual-time-budget=2000", "--dump-dom", address]
    done = subprocess.run([BROWSER, *options, *work], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@in_browser
def test_shown_without_a_further_request_or_complaint(tmp_path, page):
    (tmp_path / "report.html").write_text(page)
    with served(tmp_path) as (address, asked):
        shown, complaints = browse(f"{address}/report.html", tmp_path / "profile")
    assert asked == ["/report.html"]
    assert complaints == []
    words = Page(shown).words
    assert [name for name in IDS if not words.get(name, "").strip()] == []


@in_browser
def test_a_complaint_or_a_request_would_be_seen(tmp_path):
    (tmp_path / "broken.html").write_text("<!doctype html><script>undefined_name()</script><img src=missing.png>")
    with served(tmp_path) as (address, asked):
        _, complaints = browse(f"{address}/broken.html", tmp_path / "profile")
    assert "/missing.png" in asked
    assert any("undefined_name" in line for line in complaints)


# A window is at least 500 pixels wide even without a screen, a frame may be as narrow as a phone: the page in frames of several
# widths, and what a script finds in each. The page itself has no script.
FRAMES = """<!doctype html><link rel="icon" href="data:,">WIDTHS<pre></pre><script>addEventListener("load", () => {
  const found = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument, root = page.documentElement;
    const size = it => { const box = it.getBoundingClientRect(); return Math.min(box.width, box.height); };
    const letters = [...page.querySelectorAll("svg text")].map(it => it.getBoundingClientRect().height);
    const outside = [...page.querySelectorAll("figure svg")].flatMap(svg => [...svg.querySelectorAll("text")].filter(text => {
      const [inner, outer] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
      return inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.bottom > outer.bottom + 1;
    }));
    return {width: root.clientWidth, wider: root.scrollWidth - root.clientWidth, outside: outside.map(it => it.textContent),
      sizes: Object.fromEntries([...page.querySelectorAll("figure, table")].map(it => [it.id, size(it)])),
      words: Object.fromEntries([...page.querySelectorAll("figure, table")].map(it => [it.id, it.textContent.trim().length])),
      least_letter: Math.min(...letters.filter(height => height > 0))};
  });
  document.querySelector("pre").textContent = JSON.stringify(found);
})</script>"""


@in_browser
def test_fits_a_desk_and_a_phone(tmp_path, page):
    widths = [1100, 390, 320]
    frames = "".join(f'<iframe src="report.html" style="width:{width}px;height:900px;border:0"></iframe>' for width in widths)
    (tmp_path / "report.html").write_text(page)
    (tmp_path / "frames.html").write_text(FRAMES.replace("WIDTHS", frames))
    with served(tmp_path) as (address, _):
        shown, complaints = browse(f"{address}/frames.html", tmp_path / "profile")
    assert complaints == []
    found = json.loads(html.unescape(re.search("<pre>(.*?)</pre>", shown)[1]))
    for frame, width in zip(found, widths, strict=True):
        assert width - 20 <= frame["width"] <= width  # a scroll bar may take some
        assert frame["wider"] <= 0  # only tables scroll sideways, each in its own box
        assert frame["outside"] == []  # no label is cut
        assert [name for name in IDS if frame["sizes"][name] < 50 or frame["words"][name] < 50] == []
        assert frame["least_letter"] > (8 if width < 350 else 9)  # pixels, the height of a line
