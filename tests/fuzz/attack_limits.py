"""Read a file in a process of its own, and tell what came of it and what memory it took."""

import json
import os
import subprocess
import sys

SCRIPT = """
import json, re, sys
from heldout.errors import HeldoutError
{setup}
def peak():  # not ru_maxrss: that begins with the memory of the process that started this one
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s+(\\d+) kB", file.read())[1])
before = peak()
try:
    {call}
    said = ""
except HeldoutError as error:
    said = str(error)
print(json.dumps([said, (peak() - before) / 1024]))
"""


def done_with(call, setup="", path="", limit=4 << 30):
    """What was said (nothing if it was read), and by how many MB the memory grew.

    The address space is limited too: what takes gigabytes must not take the machine with it.
    """
    script = SCRIPT.format(call=call, setup=setup)
    own = os.environ | {"POLARS_MAX_THREADS": "1", "HELDOUT_THREADS": "2"}
    guarded = f"import resource\nresource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
    found = subprocess.run(  # noqa: S603 - this Python, the script above
        [sys.executable, "-c", guarded + script, str(path)],
        capture_output=True,
        text=True,
        env=own,
        check=False,
        timeout=300,
    )
    assert found.returncode == 0, found.stderr[-2000:]
    said, grown = json.loads(found.stdout.splitlines()[-1])
    return said, grown
