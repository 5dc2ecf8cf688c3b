"""Runs a WebAssembly program for the system interface WASI, with access to this folder: `wasi.py PROGRAM.wasm [ARGUMENT…]`."""

import sys

import wasmtime

config = wasmtime.Config()
config.cache = True  # caches compiled code
engine = wasmtime.Engine(config)
linker = wasmtime.Linker(engine)
linker.define_wasi()

wasi = wasmtime.WasiConfig()
wasi.argv = sys.argv[1:]
wasi.preopen_dir(".", ".")
wasi.inherit_stdout()
wasi.inherit_stderr()
store = wasmtime.Store(engine)
store.set_wasi(wasi)

instance = linker.instantiate(store, wasmtime.Module.from_file(engine, sys.argv[1]))
try:
    instance.exports(store)["_start"](store)
except wasmtime.ExitTrap as end:
    sys.exit(end.code)
