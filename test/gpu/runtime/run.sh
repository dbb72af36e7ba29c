#!/bin/sh
# Builds runtime_gpu with the C compiler alone and runs it: no CMake, no CUDA toolkit, only the driver.
# run.sh [folder for the build]; exit status 77 where there is no device.
set -e
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
out=${1:-$(mktemp -d)}
mkdir -p "$out"
${CC:-cc} -std=c11 -O2 -Wall -Wextra -fopenmp -I"$root/runtime/include" -o "$out/runtime_gpu" \
  "$here/runtime_gpu.c" "$root"/runtime/*.c "$root"/runtime/cuda/*.c -lm -ldl -lpthread
exec "$out/runtime_gpu" "$here/kernels.ptx"
