# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The site of `make docs`: links of the tree become links of the site, the reference of the gateware, the build."""

import http.server
import json
import re
import shutil
import subprocess
import sys
import threading

from pathlib import Path

import pytest
from mkdocs.config import load_config

from tools import docs_site, docstrings

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page, link, expected", [
    ("index.md",         "[a](docs/start.md)",              "[a](start.md)"),
    ("index.md",         "![a](docs/pictures/path.svg)",    "![a](pictures/path.svg)"),
    ("index.md",         "[a](ARCHITECTURE.md)",            "[a](architecture.md)"),
    ("index.md",         "[a](LICENSES/GPL-2.0-only.txt)",  "a"),
    ("start.md",         "[a](../README.md)",               "[a](index.md)"),
    ("contracts/dma.md", "[a](../../ARCHITECTURE.md#map)",  "[a](../architecture.md#map)"),
    ("driver.md",        "[a](../examples/README.md)",      "[a](examples.md)"),
    ("bring-up.md",      "[a](#3-load)",                    "[a](#section-3-load)"),
    ("start.md",         "[a](bring-up.md#3-load)",         "[a](bring-up.md#section-3-load)"),
    ("start.md",         "[a](https://example.org/x.md)",   "[a](https://example.org/x.md)"),
])
def test_relinked(page, link, expected):
    code = "\n\n    [a](docs/start.md)\n"  # It stays.
    assert docs_site.relinked(f"see {link}.{code}", page) == f"see {expected}.{code}"


def build(folder, *options):
    """Builds a site as `make docs` does. With --quiet, MkDocs would count no warning as an error."""
    return subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder, *options],
        cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.mark.full
def test_the_site_is_built_without_a_warning(tmp_path):
    result = build(tmp_path)
    assert (result.returncode, re.findall("WARNING.*|ERROR.*", result.stderr)) == (0, [])
    for page, name in (("tlp", "MemoryReadPort"), ("c", "litepcie_stream_advance"), ("python", "Stream.samples")):
        assert name in (tmp_path / "reference" / f"{page}.html").read_text()


def test_the_report_of_the_benchmark_is_a_page_if_there_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr(docs_site, "REPORT", tmp_path / "report.html")
    config = load_config(str(ROOT / "mkdocs.yml"))
    config.plugins._current_plugin = "docs_site"  # As in a build.
    assert "report.html" not in [file.src_uri for file in docs_site.on_files([], config)]
    docs_site.REPORT.write_text("<table>")
    assert [file.content_string for file in docs_site.on_files([], config) if file.src_uri == "report.html"] == [
        "<table>"]


@pytest.mark.parametrize("link, warning", [("[a](none.md)", "none.md"), ("[a](start.md#none)", "#none")])
def test_a_broken_link_is_an_error(link, warning, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "start.md").write_text(f"# Start\n\n{link}\n")
    config = tmp_path / "mkdocs.yml"
    text   = (ROOT / "mkdocs.yml").read_text()
    text   = text[:text.index("nav:")].replace("docs_dir: docs", f"docs_dir: {docs}")
    config.write_text(text.replace("  - tools/docs_site.py", "  []").replace("hooks:\n  []\n", ""))
    result = build(tmp_path / "site", "--config-file", config)
    assert result.returncode == 1
    assert warning in result.stdout + result.stderr


MODULE = '''\
"""A module."""

WIDTH = 3

class Shown(Base):
    """Does a thing.

    With ``code`` and a_name.

    Parameters
    ----------
    width : bits.
    depth : words,
        a power of two.

    Attributes
    ----------
    `source` : stream, **out**, `sys`: LITEPCIE_*.
    a, b     : Signal(), **in**.

    Registers: none.
    """
    def __init__(self, width, *, depth=4):
        pass

    def add(self, port):
        """Adds a port.

        Parameters
        ----------
        port : a port.
        """

class _Hidden:
    """Not public."""

def function(a, b=1):
    """Adds."""
'''

PAGE = """\
# part

Made of the docstrings in `gateware/part/`.

## `part/module.py`

A module.

### Shown

    Shown(width, *, depth=4)

Does a thing.

With `code` and a\\_name.

**Parameters**

- `width`: bits.
- `depth`: words, a power of two.

**Attributes**

- `source`: stream, **out**, `sys`: LITEPCIE\\_\\*.
- `a`, `b`: Signal(), **in**.

Registers: none.

#### Shown.add

    add(port)

Adds a port.

**Parameters**

- `port`: a port.

### function

    function(a, b=1)

Adds.
"""


def test_the_reference_of_a_folder(tmp_path, monkeypatch):
    """A page is made of the docstrings; other folders are known, without those of the build."""
    for name in ("part", "soc", "build"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / "part" / "module.py").write_text(MODULE)
    monkeypatch.setattr(docstrings, "GATEWARE", tmp_path)
    assert docstrings.page("part") == PAGE
    assert docstrings.packages() == ["soc", "part"]


@pytest.mark.parametrize("text, markdown", [("a < b and c_d", r"a &lt; b and c\_d"), ("**in**, *x*", r"**in**, \*x\*"),
    ("``a_b`` and `c`", "`a_b` and `c`")])
def test_escaped(text, markdown):
    assert docstrings.escaped(text) == markdown


BROWSER  = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SEARCHES = {"throughput": "benchmark.html", "parquet": "python.html", "numpy": "python.html", "rescan": "bring-up.html",
    "interrupt": "driver.html", "xdma": "from-xdma.html", "overruns": "capture.html",
    "io_uring": "library.html", "LUTs": "resources.html", "dma_test": "tool.html"}

# Each page in a frame of each width; its errors, whether it is wider than the frame, and whether the switch works.
PROGRAM = """<!doctype html><body><script src="/search/lunr.js"></script><script>
const faults = [], frame = document.createElement("iframe");
async function main() {
  document.body.append(frame);
  for (const width of [400, 800, 1366]) for (const page of PAGES) {
    frame.style.width = `${width}px`; frame.style.height = "800px";
    window.said = text => faults.push(`${page}: ${text}`);
    await new Promise(done => { frame.onload = done; frame.src = page; });
    const root = frame.contentDocument.documentElement;
    if (root.scrollWidth > root.clientWidth) faults.push(`${page}: ${root.scrollWidth} wide in ${width}`);
    for (const mode of page == "/report.html" ? [] : ["dark", "light"]) {  // The report of make bench has no switch.
      frame.contentDocument.querySelector(`[data-bs-theme-value=${mode}]`).click();
      if (root.dataset.bsTheme != mode) faults.push(`${page}: does not become ${mode}`);
    }
  }
  const data = await (await fetch("/search/search_index.json")).json();
  lunr.tokenizer.separator = new RegExp(data.config.separator);
  const index = lunr(function () {
    this.field("title"); this.field("text"); this.ref("location"); data.docs.forEach(doc => this.add(doc));
  });
  for (const [words, page] of Object.entries(SEARCHES)) {
    const first = index.search(words)[0]?.ref;
    if (first?.split("#")[0] != page) faults.push(`search: ${words} finds ${first}`);
  }
}
main().catch(error => faults.push(String(error))).finally(
  () => fetch("/result", { method: "POST", body: JSON.stringify(faults) }));
</script>"""


class Site(http.server.SimpleHTTPRequestHandler):
    """Serves the site; each page reports its errors to the page of the test."""
    folder, result = "", None

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=self.folder)

    def do_GET(self):
        if not self.path.endswith(".html"):
            return super().do_GET()
        pages = sorted(str(one.relative_to(self.folder)) for one in Path(self.folder).rglob("*.html"))
        text  = PROGRAM.replace("PAGES", json.dumps(["/" + one for one in pages])).replace("SEARCHES",
            json.dumps(SEARCHES)) if self.path == "/program.html" else (Path(self.folder) / self.path[1:]).read_text()
        report = "<script>addEventListener('error', e => e.message && parent.said?.(e.message))</script>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(text.replace("<head>", f"<head>{report}", 1).encode())

    def do_POST(self):
        self.server.result = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()
        self.server.done.set()

    def log_message(self, *arguments):
        pass


@pytest.mark.full
@pytest.mark.skipif(not BROWSER, reason="no Chromium is installed")
def test_the_site_in_a_browser(tmp_path):
    """No error of a script, no page wider than its window, the switch of colours, and ten searches."""
    assert build(tmp_path / "site").returncode == 0
    handler = type("Handler", (Site,), {"folder": str(tmp_path / "site")})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.done, server.result = threading.Event(), None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with subprocess.Popen([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900",
                f"--user-data-dir={tmp_path}/profile", "--remote-debugging-port=0",
                f"http://127.0.0.1:{server.server_port}/program.html"], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL) as browser:
            server.done.wait(150)
            browser.terminate()
        server.shutdown()
    assert server.result == []
