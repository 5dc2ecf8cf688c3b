#!/usr/bin/env bash
# Tests a published third-party library: torchaudio's kernels, from its wheel on the package index, first without PyTorch and then beside it.
#     PYTORCH_PYTHON=/path/to/python runtime/stable/tests/third_party.sh WHEEL
# WHEEL is the path that `runtime/python/build` printed; the Python has PyTorch and NumPy. If nothing can be installed, it says so and succeeds.
set -euo pipefail
wheel=$(realpath "$1")
python=${PYTORCH_PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd)
if ! "$python" -c 'import numpy, torch' 2>/dev/null; then
    echo 'skipped: no PyTorch to compare with, `PYTORCH_PYTHON` names a Python that has one'
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# The wheel on the index has kernels for CUDA as well, so it needs CUDA's runtime, but no device.
if ! "$python" -m pip install --quiet --no-deps --target published 'torchaudio==2.11.0' 'nvidia-cuda-runtime>=13,<14'; then
    echo 'skipped: torchaudio cannot be installed here'
    exit 0
fi
"$python" -m pip install --quiet --no-deps --target ours "$wheel"
library=published/torchaudio/lib/libtorchaudio.abi3.so
runtime=$(dirname "$(find "$PWD/published" -name 'libcudart.so.13' | head -n 1)")
export PYTHONPATH=ours PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH="$runtime"
"$python" "$here/third_party.py" here "$library" results.npz
"$python" "$here/third_party.py" beside "$library" results.npz
