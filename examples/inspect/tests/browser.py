"""Opens a catalogue file in headless Chromium and uses it: `browser.py PAGE.html [SCREENSHOT.png]`."""

import os
import pathlib
import shutil
import sys
import time

from playwright.sync_api import expect, sync_playwright


def finds_and_shows(page):
    rows = page.locator("#list a")
    page.locator("#detail").click()
    page.keyboard.press("/")
    page.keyboard.type("add.tensor")
    expect(rows.first).to_have_attribute("data-name", "aten::add.Tensor")
    page.keyboard.press("Enter")
    expect(page.locator("#detail h2")).to_have_text("aten::add.Tensor")
    expect(page.locator("#detail .schema")).to_contain_text("alpha=1")
    expect(page.locator("#detail")).to_contain_text("kernels/aten/src/cpu/")
    expect(page.locator("#detail")).to_contain_text("AddBackward0")
    expect(page.locator("#detail")).to_contain_text("rows of PyTorch's operator tests pass")
    expect(page.locator("#detail")).to_contain_text("swin_t")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#detail h2"), "an arrow goes to the next").not_to_have_text("aten::add.Tensor")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#detail h2"), "and back").to_have_text("aten::add.Tensor")
    page.keyboard.press("Escape")
    expect(page.locator("#search")).to_have_value("")


def is_fast(page):
    count = page.evaluate("operators.length")
    assert count > 2000, count
    start = time.perf_counter()
    taken = page.evaluate(
        "() => { const start = performance.now(); for (const word of ['a', 'so', 'softmax', 'zzz', ''])"
        " { search.value = word; find(); } return (performance.now() - start) / 5; }")
    assert taken < 100, f"a search took {taken} ms"
    return count, taken, time.perf_counter() - start


def opens_at_links(page, url):
    page.goto(f"{url}#aten::mm")
    page.reload()
    expect(page.locator("#detail h2")).to_have_text("aten::mm")
    page.evaluate("location.hash = '#aten::relu_'")
    expect(page.locator("#detail h2")).to_have_text("aten::relu_")
    page.evaluate("location.hash = '#aten::nothing'")
    expect(page.locator("#detail")).to_contain_text("no operator of this name")


def is_light_and_dark(page):
    color = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="light")
    light = color()
    page.emulate_media(color_scheme="dark")
    assert color() != light
    page.locator("#theme").click()
    assert color() == light, "the button wins over the system"


def main():
    url = pathlib.Path(sys.argv[1]).resolve().as_uri()
    with sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        problems, requests = [], []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: message.type == "error" and problems.append(message.text))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(url)
        finds_and_shows(page)
        count, taken, _ = is_fast(page)
        opens_at_links(page, url)
        is_light_and_dark(page)
        outside = [each for each in requests if not each.startswith(("file:", "data:"))]
        assert not problems and not outside, (problems, outside)
        if len(sys.argv) > 2:
            page.goto(f"{url}#aten::add.Tensor")
            page.screenshot(path=sys.argv[2])
        browser.close()
    print(f"the catalogue works in a browser: {count} operators, {taken:.1f} ms for a search")


if __name__ == "__main__":
    main()
