"""Random programs."""

from collections.abc import Iterator

from .core import ROOT, Case, Settings, Step, failed, passed, run, skipped

CASES = 2000


def fuzz(settings: Settings) -> Iterator[Case]:
    """Runs tests/fuzz/run.sh with a fresh seed."""
    script = ROOT / "tests" / "fuzz" / "run.sh"
    if not script.exists():
        yield skipped("fuzz", "no sources yet")
        return
    output = run("bash", script, "--cases", str(CASES), "--seed", str(settings.seed))
    note = f"{CASES} cases, seed {settings.seed}"
    yield passed("fuzz", note) if output.code == 0 else failed("fuzz", output.text, note)


STEPS = [Step("fuzz", fuzz)]
