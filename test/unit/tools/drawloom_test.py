"""The drawloom command: each of its words on a right case, and on what it cannot understand."""

import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = sys.argv[1]

BLUR = """drawloom-pipeline 1 blur
input in: buffer<u16, 2>

func bx(x, y): u16 = (in(x - 1, y) + in(x, y) + in(x + 1, y)) / 3:u16

func blur(x, y): u16 = (bx(x, y - 1) + bx(x, y) + bx(x, y + 1)) / 3:u16

output blur

schedule {
  split blur.x -> xo, xi by 4
  vectorize blur.xi
  parallel blur.y
  compute_at bx blur.y
}

size blur = 3 : 13, -2 : 5
seed 42
"""
REFUSED = BLUR.replace("vectorize blur.xi", "vectorize blur.xj")
BROKEN = BLUR.replace("output blur", "output blurr")

failures = 0


def check(name, text, words, status, *expected):
    """Runs the command on a file of `text`; {file} in `words` and in `expected` stands for it."""
    global failures
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "case.dl")
        file.write_text(text)
        done = subprocess.run([COMMAND, *(w.format(file=file) for w in words)], capture_output=True, text=True, check=False)
        output = done.stdout + done.stderr
        missing = [e for e in expected if e.format(file=file) not in output]
    if done.returncode != status or missing:
        failures += 1
        print(f"{name}: status {done.returncode}, wanted {status}; not found: {missing}\n{output}")
    return done.stdout


def check_compile():
    """A case and a program to files: the object has the function, the header declares it, the schedule is beside them."""
    global failures
    program = check("lower for compile", BLUR, ["lower", "{file}", "--after", "emit_nest"], 0)
    for name, text, suffixes in [("case", BLUR, [".h", ".o", ".sched"]), ("program", program, [".h", ".o"])]:
        with tempfile.TemporaryDirectory() as folder:
            check(f"compile a {name}", text, ["compile", "{file}", "--output", f"{folder}/sharp"], 0)
            made = sorted(Path(folder).iterdir())
            if [f.name for f in made] != ["sharp" + s for s in suffixes]:
                failures += 1
                print(f"compile a {name}: made {made}")
            elif "blur(" not in made[0].read_text() or b"blur" not in made[1].read_bytes():
                failures += 1
                print(f"compile a {name}: no function blur")
    check("compile into no folder", BLUR, ["compile", "{file}", "--output", "/nowhere/sharp"], 2, "/nowhere/")
    check("compile a refused schedule", REFUSED, ["compile", "{file}"], 2, "{file}:12:", "xj")


def main():
    global failures
    check("run", BLUR, ["run", "{file}"], 0, "right  emit_nest", "right  flatten_storage", "right  native")
    without = check("run without machine code", BLUR, ["run", "{file}", "--no-native", "--seed", "3"], 0, "right  emit_nest")
    check("bisect", BLUR, ["bisect", "{file}"], 0, "all right")
    check("nest", BLUR, ["nest", "{file}"], 0, "blur", "parallel")
    check("lower", BLUR, ["lower", "{file}"], 0, "drawloom-ir 1", "func @blur", "parallel for", "ramp(")
    early = check("lower to the first pass", BLUR, ["lower", "{file}", "--after", "emit_nest"], 0, "vectorized for")
    printed = check("print", BLUR, ["print", "{file}"], 0, "drawloom-pipeline 1 blur", "seed 42")
    again = check("print what was printed", printed, ["print", "{file}"], 0)
    check("no such pass", BLUR, ["lower", "{file}", "--after", "flatten"], 2, "`flatten` is no pass", "flatten_storage")
    check("a refused schedule", REFUSED, ["run", "{file}"], 2, "{file}:12:", "xj")
    check("a mistake in the text", BROKEN, ["run", "{file}"], 2, "{file}:8:", "blurr")
    check("no such file", BLUR, ["run", "{file}.txt"], 2, "case.dl.txt")
    check("no such command", BLUR, ["walk", "{file}"], 2, "usage: drawloom")
    check("no file", BLUR, ["run"], 2, "usage: drawloom")
    check("no such option", BLUR, ["run", "{file}", "--fast"], 2, "usage: drawloom")
    check("no such target", BLUR, ["run", "{file}", "--target", "vax"], 2, "vax", "x86-64-v3")
    check_compile()
    for name, wrong in [
        ("machine code ran though it was not wanted", "native" in without),
        ("the program after the first pass has vectors already", "ramp(" in early),
        ("printing is not stable", printed != again),
    ]:
        if wrong:
            failures += 1
            print(name)
    return 1 if failures else 0


sys.exit(main())
