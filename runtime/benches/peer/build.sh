# To be sourced: builds the peer against the PyTorch of PEER_PYTHON into target/peer, again whenever its source has changed.
# Sets `launch`, and `peer` and `peer_so` to the program and the shared object; these two stay empty if torch is not installed.
python=${PEER_PYTHON:-python3}
peer= peer_so=
peer_source=$(dirname "${BASH_SOURCE[0]}")
peer_target=$peer_source/../../../target/peer
mkdir -p "$peer_target"
launch=$peer_target/launch
cxx=${CXX:-g++}
if command -v "$cxx" >/dev/null; then
    [ "$launch" -nt "$peer_source/launch.cpp" ] || "$cxx" -O2 "$peer_source/launch.cpp" -o "$launch" -ldl
fi
if torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))' 2>/dev/null); then
    peer=$peer_target/dispatch peer_so=$peer_target/libdispatch.so
    build_peer() { # OUTPUT FLAGS…
        local output=$1
        shift
        [ "$output" -nt "$peer_source/dispatch.cpp" ] ||
            "$cxx" -std=c++20 -O3 -DNDEBUG -w -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" \
                "$peer_source/dispatch.cpp" -o "$output" "$@" -L"$torch/lib" -ltorch_cpu -lc10 -Wl,-rpath,"$torch/lib" \
                -Wl,--allow-shlib-undefined -pthread
    }
    build_peer "$peer"
    build_peer "$peer_so" -fPIC -shared -DSHARED_OBJECT
else
    echo "no torch in $python: the peer's columns stay empty (set PEER_PYTHON)" >&2
fi
