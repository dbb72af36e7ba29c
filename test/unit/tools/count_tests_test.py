"""tools/count_tests on one ctest entry of each kind, and on all of them together."""

import subprocess
import sys
import tempfile
from pathlib import Path

COUNTER = sys.argv[1]

FAILURE = '<failure message=""/>'

# name, status, elements before the output, output, and what is counted: passed, failed, skipped
CASES = [
    ("plain program", "run", "", "", (1, 0, 0)),
    ("plain program, failed", "fail", FAILURE, "", (0, 1, 0)),
    ("Catch2, all passed", "run", "", "All tests passed (30 assertions in 12 test cases)\n", (12, 0, 0)),
    ("Catch2, one case", "run", "", "All tests passed (1 assertion in 1 test case)\n", (1, 0, 0)),
    ("Catch2, some failed", "fail", FAILURE, "test cases: 12 | 10 passed | 2 failed\n", (10, 2, 0)),
    ("Catch2, all failed", "fail", FAILURE, "test cases:  2 |  2 failed\n", (0, 2, 0)),
    ("own runner", "run", "", "golden: 7 passed, 0 failed, 1 skipped\n", (7, 0, 0)),
    ("own runner, failed", "fail", FAILURE, "6 passed, 2 failed\n", (6, 2, 0)),
    ("two lines in one program", "run", "", "a: 1 passed, 0 failed\nb: 2 passed, 0 failed\n", (3, 0, 0)),
    ("crash after the count", "fail", FAILURE, "3 passed, 0 failed\n", (3, 1, 0)),
    ("no such program", "notrun", '<skipped message="Unable to find executable"/>', "", (0, 1, 0)),
    ("skipped by itself", "notrun", '<skipped message="SKIP_RETURN_CODE=4"/>', "", (0, 0, 1)),
    ("disabled", "disabled", '<skipped message="Disabled"/>', "", (0, 0, 1)),
]


def testcase(status, elements, output):
    return f'<testcase name="t" status="{status}">{elements}<system-out>{output}</system-out></testcase>'


def run(testcases):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "tests.xml")
        file.write_text(f"<testsuite>{''.join(testcases)}</testsuite>")
        return subprocess.run([sys.executable, COUNTER, file], capture_output=True, text=True, check=False)


def line(passed, failed, skipped):
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "") + "\n"


def right(testcases, counts):
    """The line is the expected one, and the status is 0 only if something passed and nothing failed."""
    result = run(testcases)
    return result.stdout == line(*counts) and (result.returncode == 0) == (counts[0] > 0 and counts[1] == 0)


checks = [(name, [testcase(*entry)], counts) for name, *entry, counts in CASES]
everything = [testcase(*entry) for _, *entry, _ in CASES]
checks.append(("all together", everything, [sum(counts) for counts in zip(*(case[-1] for case in CASES))]))
checks.append(("nothing ran", [], (0, 0, 0)))

wrong = [name for name, testcases, counts in checks if not right(testcases, counts)]
for name in wrong:
    print(f"wrong count: {name}")
print(f"{len(checks) - len(wrong)} passed, {len(wrong)} failed")
sys.exit(bool(wrong))
