"""Whatever the system refuses: no broken file, nothing left behind, a sentence and an exit status of an error."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from faults import COMMANDS


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.parametrize("command", COMMANDS)
def test_what_the_system_refuses_breaks_nothing(command, cli_env):
    """A few of the trials that ``python tests/faults.py`` makes."""
    script = Path(__file__).parent / "faults.py"
    done = subprocess.run([sys.executable, script, command, "--few", "4"], env=cli_env, capture_output=True, text=True)
    *wrong, count = done.stdout.splitlines() or [""]
    assert (done.returncode, wrong) == (0, []), done.stderr
    assert int(count.split()[0]) >= 12
