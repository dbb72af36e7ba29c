#!/bin/bash
# run.sh [conformance|check|bench|stress] [FOLDER]: the kernels of the kit on this machine's device; without a word, all. Every
# program runs under a time limit. Results go to FOLDER (results) as JSON lines, and a line for each program to the screen.
cd "$(dirname "$0")" || exit 1
what="${1:-all}"
out="${2:-results}"
mkdir -p "$out"
failed=0

one() {
  local seconds="$1" name="$2"
  shift 2
  timeout -k 5 "$seconds" "$@" >"$out/$name.json" 2>"$out/$name.err"
  local status=$?
  [ "$status" = 0 ] || failed=1
  echo "$name: status $status, $(grep -c '"right": true' "$out/$name.json") right, $(grep -c '"right": false' "$out/$name.json") wrong"
  head -2 "$out/$name.err"
}

if [ "$what" = all ] || [ "$what" = conformance ]; then
  names=(conformance/*.ir)
  names=("${names[@]#conformance/}")
  timeout -k 5 120 ./conformance_run conformance "${names[@]%.ir}" >"$out/conformance.txt" 2>&1 || failed=1
  tail -n 20 "$out/conformance.txt"
fi
if [ "$what" = all ] || [ "$what" = check ]; then
  for kernel in transpose softmax_row stencil7 gemm gemm_cluster gemm_relu_bias; do one 60 "check_$kernel" ./gpu_kit check "$kernel"; done
fi
if [ "$what" = all ] || [ "$what" = bench ]; then
  for kernel in transpose softmax_row stencil7 gemm; do
    one 120 "bench_$kernel" ./gpu_kit bench "$kernel"
    cat "$out/bench_$kernel.json"
  done
fi
if [ "$what" = all ] || [ "$what" = stress ]; then
  one 300 stress_uploads ./gpu_kit check stencil7_after_uploads
  timeout -k 5 400 python3 stress.py ./libgpu_kit.so 1000 | tee "$out/stress.txt"
  [ "${PIPESTATUS[0]}" = 0 ] && ! grep -q -e WRONG -e HANG "$out/stress.txt" || failed=1
fi
exit "$failed"
