"""A headless Chromium for the tests of pages."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM, DRIVER = shutil.which("chromium") or "", shutil.which("chromedriver") or ""
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--hide-scrollbars", "--force-device-scale-factor=1", "--allow-pre-commit-input",
)  # fmt: skip


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """A browser of its own, without a network log entry or console message so far; skips where there is none."""
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if not (CHROMIUM and DRIVER):
        pytest.skip("chromium or chromedriver is not installed")
    options = selenium.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = selenium.Chrome(options=options, service=selenium.ChromeService(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def set_width(driver: Any, width: int, height: int = 900) -> None:
    """Width of the page itself, which a window cannot have below 500."""
    told = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", told)


def until(driver: Any, script: str, seconds: float = 20) -> Any:
    """What the script returns as soon as that is true."""
    end = time.monotonic() + seconds
    while not (found := driver.execute_script(f"return {script}")):
        assert time.monotonic() < end, f"in vain: {script}"
        time.sleep(0.05)
    return found


def complaints(driver: Any) -> list[str]:
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def requests(driver: Any) -> list[str]:
    """Addresses asked for since the last call, files and what is inside the page itself excepted."""
    told = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [one["params"]["request"]["url"] for one in told if one["method"] == "Network.requestWillBeSent"]
    return [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]


def overflow(driver: Any) -> int:
    """Pixels by which the page is wider than the window."""
    return int(driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth"))


def screenshot(driver: Any, path: Path, *, whole: bool = False) -> None:
    """PNG of the window, or of the whole page."""
    import base64

    path.parent.mkdir(parents=True, exist_ok=True)
    told = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})
    path.write_bytes(base64.b64decode(told["data"]))
