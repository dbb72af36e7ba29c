"""tools/check_layers on small trees with one mistake each: the mistake is reported at its line, alone."""

import subprocess
import sys
import tempfile
from pathlib import Path

CHECKER = sys.argv[1]

# Headers that every tree has, so that includes resolve.
BASE = {
    "src/drawloom/support/text.h": "",
    "src/drawloom/support/diags.def": 'DIAG(split_factor_zero, refused, "no")\nDIAG(no_file, error, "no")\n',
    "src/drawloom/ir/expr.h": '#include "drawloom/support/text.h"\n',
    "src/drawloom/analysis/box.h": '#include "drawloom/ir/expr.h"\n',
    "src/drawloom/lang/func.h": '#include "drawloom/analysis/box.h"\n',
    "src/drawloom/nest/tree.h": '#include "drawloom/lang/func.h"\n',
    "src/drawloom/lower/lower.h": '#include "drawloom/nest/tree.h"\n',
    "src/drawloom/driver/compile.h": '#include "drawloom/lower/lower.h"\n',
    "runtime/include/drawloom/runtime.h": "#include <stdint.h>\n",
}

# name, file, content, and what is reported ("" for nothing)
CASES = [
    ("arrows are cumulative", "src/drawloom/lower/a.cpp", '#include "drawloom/support/text.h"\n', ""),
    ("upward include", "src/drawloom/ir/a.cpp", '#include "drawloom/ir/expr.h"\n#include "drawloom/nest/tree.h"\n',
     "src/drawloom/ir/a.cpp:2: ir may not include nest"),
    ("angle brackets hide nothing", "src/drawloom/ir/a.cpp", "#include <drawloom/lang/func.h>\n",
     "src/drawloom/ir/a.cpp:1: ir may not include lang"),
    ("relative paths hide nothing", "src/drawloom/ir/a.cpp", '#include "../lang/func.h"\n',
     "src/drawloom/ir/a.cpp:1: ir may not include lang"),
    ("oracle knows no schedules", "src/drawloom/interp/oracle/a.cpp", '#include "drawloom/nest/tree.h"\n',
     "src/drawloom/interp/oracle/a.cpp:1: oracle may not include nest"),
    ("runtime is a leaf", "runtime/a.c", '#include "drawloom/runtime.h"\n#include "drawloom/support/text.h"\n',
     "runtime/a.c:2: runtime may not include support"),
    ("LLVM outside its folder", "src/drawloom/driver/compile.cpp", "#include <llvm/IR/Module.h>\n",
     "src/drawloom/driver/compile.cpp:1: includes LLVM"),
    ("LLVM in code generation", "src/drawloom/codegen/llvm/x86/a.cpp", "#include <llvm/IR/Module.h>\n", ""),
    ("LLVM in the driver's JIT", "src/drawloom/driver/jit.cpp", '#include "llvm/IR/Module.h"\n', ""),
    ("unknown folder", "src/drawloom/util/a.cpp", "", "src/drawloom/util/a.cpp:1: is in a folder"),
    ("missing header", "src/drawloom/ir/a.cpp", '#include "drawloom/ir/gone.h"\n',
     "src/drawloom/ir/a.cpp:1: includes drawloom/ir/gone.h, which does not exist"),
    ("an app uses the driver", "apps/blur/main.cpp", '#include "drawloom/driver/compile.h"\n', ""),
    ("an app looks inside", "apps/blur/main.cpp", '#include "drawloom/lower/lower.h"\n',
     "apps/blur/main.cpp:1: apps may not include lower"),
    ("refusal outside nest", "src/drawloom/lower/a.cpp", "\nreturn Diag(DiagKind::split_factor_zero, loc);\n",
     "src/drawloom/lower/a.cpp:2: makes the refusal `split_factor_zero`"),
    ("refusal in nest", "src/drawloom/nest/a.cpp", "return Diag(DiagKind::split_factor_zero, loc);\n", ""),
    ("other errors anywhere", "src/drawloom/lower/a.cpp", "return Diag(DiagKind::no_file, loc);\n", ""),
    ("interval analysis in lower", "src/drawloom/lower/a.cpp", '#include "drawloom/analysis/box.h"\n',
     "src/drawloom/lower/a.cpp:1: lower/ analyses no intervals"),
    ("interval analysis by another door", "src/drawloom/lower/a.cpp", "auto range = interval_of<Form>(f, env, fixed);\n",
     "src/drawloom/lower/a.cpp:1: lower/ analyses no intervals"),
]


def run(file, content):
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**BASE, file: content}.items():
            target = Path(root, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        result = subprocess.run([sys.executable, CHECKER, root], capture_output=True, text=True, check=False)
    return result.returncode, result.stdout.splitlines()[:-1]


def wrong(file, content, expected):
    """What is wrong with the checker's answer, or None."""
    status, lines = run(file, content)
    if not expected:
        return None if status == 0 and not lines else f"reported {lines}"
    if status == 0 or len(lines) != 1 or not lines[0].startswith(expected):
        return f"expected one line `{expected}...`, got status {status}, {lines}"
    return None


failed = 0
for name, file, content, expected in CASES:
    fault = wrong(file, content, expected)
    if fault:
        failed += 1
        print(f"{name}: {fault}")
print(f"{len(CASES) - failed} passed, {failed} failed")
sys.exit(failed > 0)
