// Loads a module of the system interface WASI, as far as a page has a system: a clock, random numbers, a place for messages.

const NO_SUCH_FILE = 8, NOT_THERE = 52; // what the interface calls `badf` and `nosys`

export async function load(url, say) {
    let memory;
    const view = () => new DataView(memory.buffer);
    const counts = (first, second) => { // of arguments or variables: there are none
        view().setUint32(first, 0, true);
        view().setUint32(second, 0, true);
        return 0;
    };
    const system = {
        args_sizes_get: counts,
        environ_sizes_get: counts,
        args_get: () => 0,
        environ_get: () => 0,
        clock_time_get(_clock, _precision, time) {
            view().setBigUint64(time, BigInt(Math.round(performance.now() * 1e6)), true);
            return 0;
        },
        random_get(start, length) {
            const most = 65536; // that a browser gives at a time
            for (let at = 0; at < length; at += most) {
                crypto.getRandomValues(new Uint8Array(memory.buffer, start + at, Math.min(most, length - at)));
            }
            return 0;
        },
        fd_write(file, parts, count, written) {
            if (file !== 1 && file !== 2) return NO_SUCH_FILE;
            let [text, bytes] = ["", 0];
            for (let part = 0; part < count; part++) {
                const [start, length] = [0, 4].map(offset => view().getUint32(parts + 8 * part + offset, true));
                text += new TextDecoder().decode(new Uint8Array(memory.buffer, start, length));
                bytes += length;
            }
            say(text);
            view().setUint32(written, bytes, true);
            return 0;
        },
        fd_prestat_get: () => NO_SUCH_FILE, // no folders
        sched_yield: () => 0,
        proc_exit(code) { throw new Error(`the module ended with ${code}`); },
    };
    const otherwise = { get: (known, name) => known[name] ?? (() => NOT_THERE) };
    const imports = { wasi_snapshot_preview1: new Proxy(system, otherwise) };
    const { instance } = await WebAssembly.instantiateStreaming(fetch(url), imports);
    memory = instance.exports.memory;
    instance.exports.__wasm_call_ctors(); // this is where operators are collected
    return instance.exports;
}
