"""Opens the page in headless Chromium, from a server on loopback, and uses it: `browser.py FOLDER [SCREENSHOT.png]`."""

import functools
import http.server
import json
import math
import os
import pathlib
import re
import shutil
import struct
import sys
import threading

from playwright.sync_api import expect, sync_playwright

MODELS = pathlib.Path(__file__).parents[2] / "models"


def recorded():
    """PyTorch's outputs for the samples: rows of ten probabilities."""
    data = (MODELS / "digits.outputs.safetensors").read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    entry = json.loads(data[8 : 8 + length])["00"]
    rows, columns = entry["shape"]
    numbers = struct.unpack_from(f"<{rows * columns}f", data, 8 + length + entry["data_offsets"][0])
    return [numbers[row * columns : (row + 1) * columns] for row in range(rows)]


def reads_samples(page):
    for number, expected in enumerate(recorded()):
        page.get_by_role("button", name=f"sample {number + 1}").click()
        best = max(range(10), key=lambda digit: expected[digit])
        expect(page.locator("#state")).to_have_text(re.compile(rf"^read as {best}, in [\d.]+ ms$"))
        shown = [float(text.rstrip(" %")) for text in page.locator("#answer span:nth-of-type(2n)").all_inner_texts()]
        assert len(shown) == 10, shown
        for digit, (percent, likely) in enumerate(zip(shown, expected)):
            assert math.isclose(percent, 100 * likely, abs_tol=0.06), (number, digit, percent, likely)


def reads_what_is_drawn(page):
    page.get_by_role("button", name="clear").click()
    box = page.locator("#image").bounding_box()
    at = lambda x, y: (box["x"] + box["width"] * (x + 0.5) / 8, box["y"] + box["height"] * (y + 0.5) / 8)
    page.mouse.move(*at(4, 0))
    page.mouse.down()
    page.mouse.move(*at(4, 7), steps=20)
    page.mouse.up()
    expect(page.locator("#state")).to_contain_text("read as 1")


def main():
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
    handler.func.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 600})
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: message.type == "error" and problems.append(message.text))
        page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        expect(page.locator("#state")).to_contain_text("read as", timeout=120_000)
        reads_samples(page)
        reads_what_is_drawn(page)
        taken = page.locator("#state").inner_text()
        if len(sys.argv) > 2:
            page.screenshot(path=sys.argv[2])
        assert not problems, problems
        browser.close()
    server.shutdown()
    print(f"the model runs in a browser: eight samples as PyTorch has them, a drawn one is {taken}")


if __name__ == "__main__":
    main()
