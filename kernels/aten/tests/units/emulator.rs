//! AMX-TILE and AMX-BF16 on processors that lack them: these raise a signal for each such instruction, whose handler
//! does what Intel's manual says of it. So tests run the same machine code everywhere.
#![expect(unsafe_code, reason = "handles a signal, and reads and writes where instructions would")]

use std::cell::RefCell;
use std::ptr;
use std::sync::Once;

/// A tile of the largest shape.
type Tile = [[u8; 64]; 16];

const ZEROS: Tile = [[0; 64]; 16];

/// The tiles of a thread.
struct State {
    /// Rows and bytes per row of each tile; none before a configuration.
    shapes: Option<[(usize, usize); 8]>,
    tiles: [Tile; 8],
}

impl State {
    const INITIAL: State = State { shapes: None, tiles: [ZEROS; 8] };
}

thread_local! {
    static STATE: RefCell<State> = const { RefCell::new(State::INITIAL) };
}

/// Emulates the instructions in this process from now on, unless the processor has them.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    if torch_library_aten::cpu::matmul::amx::is_available() {
        return;
    }
    ONCE.call_once(|| {
        // SAFETY: a structure of C that may be all zeros, completed and handed to the system; the handler has the
        // signature that `SA_SIGINFO` asks for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            assert_eq!(libc::sigaction(libc::SIGILL, &raw const action, ptr::null_mut()), 0);
        }
    });
}

extern "C" fn handle(_signal: libc::c_int, _info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system hands its context over, which is this handler's alone; the instruction pointer is that of
    // code.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    // SAFETY: ten bytes of the function that raised the signal: behind each of these instructions it has further ones.
    let code: [u8; 10] = unsafe { (registers[libc::REG_RIP as usize] as *const [u8; 10]).read_unaligned() };
    let Some(length) = STATE.with_borrow_mut(|state| state.execute(&code, registers)) else {
        std::process::abort() // any other illegal instruction ends the process, as it would without a handler
    };
    registers[libc::REG_RIP as usize] += length as i64;
}

/// The value of a general-purpose register, by its number in an instruction.
fn register(registers: &[i64; 23], number: u8) -> usize {
    const NUMBERED: [i32; 16] = [
        libc::REG_RAX,
        libc::REG_RCX,
        libc::REG_RDX,
        libc::REG_RBX,
        libc::REG_RSP,
        libc::REG_RBP,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];
    registers[NUMBERED[number as usize] as usize] as usize
}

/// An operand in memory.
struct Operand {
    base: usize,
    /// The scaled index register: the stride between rows where tiles are loaded and stored.
    index: usize,
    displacement: isize,
    /// The number of bytes that it takes after the opcode.
    length: usize,
}

impl Operand {
    /// Decodes `code`, which starts with the ModRM byte; the two bits extend the numbers of the index and the base
    /// register.
    fn decode(code: &[u8], [high_index, high_base]: [u8; 2], registers: &[i64; 23]) -> Option<Self> {
        let (mode, field) = (code[0] >> 6, code[0] & 7);
        let (base, index, at) = match field {
            4 => {
                let (scale, index, base) = (code[1] >> 6, code[1] >> 3 & 7, code[1] & 7);
                let index = index | high_index << 3;
                let stride = if index == 4 { 0 } else { register(registers, index) << scale };
                (base, stride, 2)
            }
            _ => (field, 0, 1),
        };
        let (displacement, length) = match mode {
            0 if base == 5 => return None, // relative to the instruction, or without a base
            0 => (0, at),
            1 => (code[at] as i8 as isize, at + 1),
            2 => (i32::from_le_bytes(code[at..at + 4].try_into().ok()?) as isize, at + 4),
            _ => return None,
        };
        Some(Operand { base: register(registers, base | high_base << 3), index, displacement, length })
    }

    fn address(&self, row: usize) -> *mut u8 {
        let address =
            self.base.wrapping_add_signed(self.displacement).wrapping_add(row.wrapping_mul(self.index));
        ptr::with_exposed_provenance_mut(address)
    }
}

impl State {
    /// Executes an instruction and returns its length; `None` if it is not one of AMX, or one that the processor would
    /// refuse in this state.
    fn execute(&mut self, code: &[u8; 10], registers: &[i64; 23]) -> Option<usize> {
        // The three bytes of a VEX prefix: the escape; the extensions of registers, with the opcode map; a third
        // operand, with the legacy prefix that it stands for.
        let [0xc4, extensions, operand, opcode, rest @ ..] = code else { return None };
        let (high_index, high_base, map) = (!extensions >> 6 & 1, !extensions >> 5 & 1, extensions & 0x1f);
        let (is_wide, third, prefix) = (operand >> 7 == 1, !operand >> 3 & 15, operand & 3);
        let (mode, first, second) = (rest[0] >> 6, rest[0] >> 3 & 7, rest[0] & 7);
        if map != 2 || is_wide || operand >> 2 & 1 == 1 {
            return None;
        }
        let memory = || Operand::decode(rest, [high_index, high_base], registers);
        let length = match (opcode, prefix, mode) {
            (0x49, 0, 3) if rest[0] == 0xc0 => {
                *self = State::INITIAL; // tilerelease
                1
            }
            (0x49, 0, 0..=2) => {
                let operand = memory()?;
                self.configure(operand.address(0));
                operand.length
            }
            (0x49, 3, 3) => {
                self.shape(first)?;
                self.tiles[first as usize] = ZEROS; // tilezero
                1
            }
            (0x4b, 3, 0..=2) if second == 4 => {
                let (operand, (rows, bytes)) = (memory()?, self.shape(first)?);
                let mut tile = ZEROS;
                for (i, row) in tile.iter_mut().take(rows).enumerate() {
                    // SAFETY: the instruction would read this memory: the code under test guarantees it.
                    unsafe { operand.address(i).copy_to(row.as_mut_ptr(), bytes) };
                }
                self.tiles[first as usize] = tile; // tileloadd
                operand.length
            }
            (0x4b, 2, 0..=2) if second == 4 => {
                let (operand, (rows, bytes)) = (memory()?, self.shape(first)?);
                for (i, row) in self.tiles[first as usize].iter().take(rows).enumerate() {
                    // SAFETY: the instruction would write this memory: the code under test guarantees it.
                    unsafe { operand.address(i).copy_from(row.as_ptr(), bytes) };
                }
                operand.length // tilestored
            }
            (0x5c, 2, 3) => {
                self.multiply(first, second, third)?; // tdpbf16ps
                1
            }
            _ => return None,
        };
        Some(4 + length)
    }

    /// `ldtilecfg`: zeroes all tiles.
    fn configure(&mut self, address: *const u8) {
        // SAFETY: the instruction would read these 64 bytes: the code under test guarantees them.
        let bytes: [u8; 64] = unsafe { address.cast::<[u8; 64]>().read_unaligned() };
        let (rows, shapes) = (&bytes[48..56], bytes[16..32].as_chunks::<2>().0);
        let is_valid = bytes[0] == 1 && bytes[1..16].iter().all(|byte| *byte == 0);
        let shapes =
            std::array::from_fn(|tile| (rows[tile] as usize, u16::from_le_bytes(shapes[tile]) as usize));
        *self = State::INITIAL;
        let fits =
            shapes.iter().all(|(rows, bytes)| *rows <= 16 && *bytes <= 64 && (*rows == 0) == (*bytes == 0));
        self.shapes = (is_valid && fits).then_some(shapes);
    }

    /// The rows and the bytes per row of a tile; `None` if it is not configured, which the processor refuses.
    fn shape(&self, tile: u8) -> Option<(usize, usize)> {
        self.shapes.map(|shapes| shapes[tile as usize]).filter(|(rows, _)| *rows > 0)
    }

    /// `tdpbf16ps`: adds the products of pairs. The even and the odd elements are summed separately at first, and
    /// subnormal numbers count as zero.
    fn multiply(&mut self, sums: u8, left: u8, right: u8) -> Option<()> {
        let [(rows, bytes), (left_rows, left_bytes), (right_rows, right_bytes)] =
            [self.shape(sums)?, self.shape(left)?, self.shape(right)?];
        if right > 7 || rows != left_rows || bytes != right_bytes || left_bytes != 4 * right_rows {
            return None;
        }
        let [left, right] = [left, right].map(|tile| self.tiles[tile as usize]);
        let element = |row: &[u8; 64], i: usize| {
            flushed(f32::from_bits(u32::from(u16::from_le_bytes([row[2 * i], row[2 * i + 1]])) << 16))
        };
        for (left, sums) in left.iter().zip(&mut self.tiles[sums as usize]).take(rows) {
            for (column, sum) in sums.as_chunks_mut::<4>().0.iter_mut().take(bytes / 4).enumerate() {
                let mut parts = [0.0f32; 2];
                for (step, right) in right.iter().take(right_rows).enumerate() {
                    for (i, part) in parts.iter_mut().enumerate() {
                        let (x, y) = (element(left, 2 * step + i), element(right, 2 * column + i));
                        *part = flushed(x.mul_add(y, *part));
                    }
                }
                let before = flushed(f32::from_le_bytes(*sum));
                *sum = flushed(before + flushed(parts[0] + parts[1])).to_le_bytes();
            }
        }
        Some(())
    }
}

/// Zero for a subnormal number.
fn flushed(x: f32) -> f32 {
    if x.is_subnormal() { 0.0f32.copysign(x) } else { x }
}
