"""Look at the built documents as a reader does: links, pictures, and what is wider than the window.

python tools/pages.py build/docs [--shots FOLDER]

Links within the site have to lead to a page and a place that exist. Where there is a Chromium, each page is opened
in windows as wide as a desk's and a phone's: nothing may be wider than the window, no picture may be missing, and on
a desk no table and no code may need to be scrolled sideways. `--shots` keeps pictures of some pages. Exit status 1
where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

DESK, PHONE = 1280, 390  # pixels
MOST_SECONDS = 600
SHOWN = ["index", "tutorial", "guide/index", "benchmarks", "languages", "data_sets", "api/index", "guide/export"]

# Opens page after page in a frame of each width, and sends what it saw.
LOOK = """<!doctype html><title>look</title><body><script>
const pages = __PAGES__, widths = __WIDTHS__, seen = [];
const wide = (e) => e.scrollWidth > e.clientWidth + 1;
const name = (e) => e.tagName.toLowerCase() + (e.className ? "." + String(e.className).split(" ").join(".") : "");
async function look(page, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:800px;border:0`;
  const loaded = new Promise((done) => { frame.onload = done; });
  frame.src = "/" + page;
  document.body.append(frame);
  await loaded;
  const d = frame.contentDocument, found = [];
  for (const image of d.images) image.loading = "eager";
  await Promise.all([...d.images].map((image) => image.decode().catch(() => {
    found.push("no picture at " + image.getAttribute("src"));
  })));
  if (wide(d.documentElement)) {
    const out = [...d.querySelectorAll("article *")].filter((e) => e.getBoundingClientRect().right > width + 1
      && !e.closest(".table-wrapper, .highlight, pre, .math, .sphx-glr-script-out"));
    found.push(`wider than the window: ${d.documentElement.scrollWidth} px ` + out.slice(0, 3).map(name).join(", "));
  }
  for (const e of d.querySelectorAll("article .table-wrapper, article .highlight pre, article .math"))
    if (wide(e)) {
      if (width >= __DESK__) found.push(`to be scrolled: ${name(e)}, ${e.scrollWidth} of ${e.clientWidth} px, `
        + JSON.stringify(e.textContent.trim().slice(0, 40)));
      else if (!["auto", "scroll"].includes(frame.contentWindow.getComputedStyle(e).overflowX))
        found.push("cut off: " + name(e));
    }
  for (const e of d.querySelectorAll("article table"))
    if (!e.closest(".table-wrapper") && e.getBoundingClientRect().right > width + 1) found.push("cut off: " + name(e));
  frame.remove();
  return found;
}
(async () => {
  for (const page of pages)
    for (const width of widths)
      for (const what of await look(page, width)) seen.push([page, width, what]);
  await fetch("/", { method: "POST", body: JSON.stringify(seen) });
})().catch((e) => fetch("/", { method: "POST", body: JSON.stringify([["look", 0, String(e)]]) }));
</script>"""


class Page(HTMLParser):
    """What a page has places for, and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" or (tag == "a" and key == "name"):
                self.places.add(value or "")
            elif value is not None and ((tag in ("a", "link") and key == "href") or key == "src"):
                self.links.append(value)


def broken(root: Path, paths: list[str]) -> list[tuple[str, str]]:
    """The links of pages that lead nowhere in the site, each with its page."""
    pages = {path: Page((root / path).read_text(encoding="utf-8")) for path in paths}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:  # elsewhere
                continue
            target, place = urldefrag(urljoin(path, link)) if parts.path else (path, parts.fragment)
            target = unquote(urlsplit(target).path)
            if target.endswith("/"):
                target += "index.html"
            if not (root / target).is_file():
                found.append((path, f"no page {link}"))
            elif place and target in pages and unquote(place) not in pages[target].places:
                found.append((path, f"no such place: {link}"))
    return found


def browser() -> list[str] | None:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        return None
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [found, "--headless", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", *sandbox]


class Site(SimpleHTTPRequestHandler):
    """The files of the site, the page that looks at them, and what it has to say."""

    look: str
    said: Any = None
    done: threading.Event

    def do_GET(self) -> None:
        if self.path != "/look":
            return super().do_GET()
        body = self.look.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        type(self).said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.done.set()

    def log_message(self, *ignored: Any) -> None: ...


def seen(root: Path, paths: list[str], command: list[str], shots: Path | None) -> list[tuple[str, str]]:
    """What a browser finds wrong."""
    look = LOOK.replace("__PAGES__", json.dumps(paths)).replace("__WIDTHS__", json.dumps([DESK, PHONE]))
    site = type("Site", (Site,), {"look": look.replace("__DESK__", str(DESK)), "done": threading.Event()})
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), partial(site, directory=str(root))) as server,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address, own = f"http://127.0.0.1:{server.server_port}", [*command, f"--user-data-dir={profile}"]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        child = subprocess.Popen([*own, "--remote-debugging-port=0", f"{address}/look"], **quiet)
        try:
            if not site.done.wait(MOST_SECONDS):
                sys.exit(f"the browser said nothing for {MOST_SECONDS} s")
        finally:
            child.terminate()
            child.wait(30)
        for name in SHOWN if shots is not None else []:
            for width in (DESK, PHONE):
                for scheme in ("light", "dark"):
                    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
                    target = shots / f"{name.replace('/', '-')}-{width}-{scheme}.png"
                    size = f"--window-size={width},{1000 if width == DESK else 800}"
                    page = f"{address}/{name}.html"
                    subprocess.run([*own, *dark, size, f"--screenshot={target}", page], check=True, timeout=60, **quiet)
        server.shutdown()
    return [(f"{page} at {width} px", what) for page, width, what in site.said]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--shots", type=Path, help="a folder for pictures of some pages")
    options = parser.parse_args()
    root: Path = options.site.resolve()
    paths = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.html"))
    if not paths:
        parser.error(f"no pages in {root}")
    faults = broken(root, paths)
    command = browser()
    if command is not None:
        if options.shots is not None:
            options.shots.mkdir(parents=True, exist_ok=True)
        faults += seen(root, paths, command, options.shots)
    for page, what in faults:
        print(f"{page}: {what}")
    how = "links" if command is None else f"links, pictures and widths ({DESK} and {PHONE} px)"
    print(f"{len(paths)} pages, {how}: {len(faults)} faults" + ("; no Chromium found" if command is None else ""))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
