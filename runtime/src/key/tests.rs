//! Checks that the numbers of keys and sets are those of PyTorch 2.15.

use std::collections::BTreeSet;

use super::*;
use crate::Result;

/// Pseudorandom numbers, the same in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 32) as usize % bound
    }

    /// Sets of many kinds: dense and sparse in bits, without backends, with one functionality.
    fn set(&mut self) -> DispatchKeySet {
        let bits = match self.below(4) {
            0 => self.next(),
            1 => self.next() & self.next() & self.next(),
            2 => self.next() & !BACKENDS,
            _ => (self.next() & BACKENDS) | 1 << (16 + self.below(46)),
        };
        DispatchKeySet::from_raw(bits & DispatchKeySet::FULL.raw())
    }
}

const BACKENDS: u64 = 0xffff;

#[rustfmt::skip]
const FUNCTIONALITIES: [&str; 47] = [
    "Undefined", "Dense", "FPGA", "Vulkan", "Metal", "Quantized", "CustomRNGKeyId", "MkldnnCPU", "Sparse",
    "SparseCsr", "NestedTensor", "BackendSelect", "Fake", "Python", "FuncTorchDynamicLayerBackMode",
    "Functionalize", "Conjugate", "Negative", "ZeroTensor", "ADInplaceOrView", "AutogradOther",
    "AutogradFunctionality", "AutogradNestedTensor", "Tracer", "AutocastCPU", "AutocastMTIA", "AutocastMAIA",
    "AutocastXPU", "AutocastIPU", "AutocastHPU", "AutocastXLA", "AutocastMPS", "AutocastCUDA",
    "AutocastPrivateUse1", "FuncTorchBatched", "BatchedNestedTensor", "FuncTorchVmapMode", "Batched",
    "VmapMode", "FuncTorchGradWrapper", "DeferredInit", "PythonTLSSnapshot", "FuncTorchDynamicLayerFrontMode",
    "TESTING_ONLY_GenericWrapper", "TESTING_ONLY_GenericMode", "PreDispatch", "PythonDispatcher",
];
#[rustfmt::skip]
const BACKEND_NAMES: [&str; 16] = [
    "CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA", "PrivateUse1",
    "PrivateUse2", "PrivateUse3", "Meta",
];
/// For each per-backend functionality: its key, the prefix of its runtime keys, and the value and slot of the first.
const PER_BACKEND: [(DispatchKey, &str, u8, usize); 6] = [
    (DispatchKey::Dense, "", 49, 1),
    (DispatchKey::Quantized, "Quantized", 66, 20),
    (DispatchKey::Sparse, "Sparse", 83, 38),
    (DispatchKey::SparseCsr, "SparseCsr", 100, 54),
    (DispatchKey::NestedTensor, "NestedTensor", 117, 70),
    (DispatchKey::AutogradFunctionality, "Autograd", 134, 96),
];
const ALIASES: [(DispatchKey, u8, u64, usize); 6] = [
    (DispatchKey::Autograd, 150, 240_518_234_111, 18),
    (DispatchKey::CompositeImplicitAutograd, 151, 240_585_277_439, 103),
    (DispatchKey::FuncTorchBatchedDecomposition, 152, 562_949_953_421_312, 1),
    (DispatchKey::CompositeImplicitAutogradNestedTensor, 153, 137_472_573_439, 17),
    (DispatchKey::CompositeExplicitAutograd, 154, 33_554_431, 69),
    (DispatchKey::CompositeExplicitAutogradNonFunctional, 155, 25_165_303, 47),
];

fn raw(key: DispatchKey) -> u64 {
    DispatchKeySet::from_key(key).raw()
}

#[test]
fn functionalities_are_numbered_by_priority() {
    for (value, name) in FUNCTIONALITIES.iter().enumerate() {
        let key = DispatchKey::from_value(value as u8).expect(name);
        assert_eq!((key.name(), key.value() as usize, key.functionality()), (*name, value, key));
        assert_eq!(key.backend(), None);
        assert_eq!(raw(key), if value == 0 { 0 } else { 1 << (15 + value) }, "{name}");
        assert_eq!(key.is_per_backend_functionality(), PER_BACKEND.iter().any(|row| row.0 == key), "{name}");
    }
    assert_eq!(DispatchKey::Undefined.category(), DispatchKeyCategory::Undefined);
    assert_eq!(DispatchKey::FPGA.category(), DispatchKeyCategory::Functionality);
}

#[test]
fn per_backend_keys_follow_in_blocks() {
    for (functionality, prefix, value, slot) in PER_BACKEND {
        assert_eq!(functionality.category(), DispatchKeyCategory::PerBackendFunctionality);
        assert_eq!(functionality.slot(), None);
        for (idx, backend) in BackendComponent::ALL.into_iter().enumerate() {
            let key = functionality.on(backend);
            assert_eq!(key.name(), format!("{prefix}{}", BACKEND_NAMES[idx]));
            assert_eq!((key.value(), key.slot()), (value + idx as u8, Some(slot + idx)), "{key}");
            assert_eq!((key.functionality(), key.backend()), (functionality, Some(backend)), "{key}");
            assert_eq!(raw(key), raw(functionality) | 1 << idx, "{key}");
            assert_eq!(key.category(), DispatchKeyCategory::PerBackendRuntime);
        }
    }
    assert_eq!(DispatchKey::Tracer.on(BackendComponent::CUDA), DispatchKey::Tracer);
}

#[test]
fn markers_are_no_keys() {
    let none: Vec<u8> = (0..=u8::MAX).filter(|value| DispatchKey::from_value(*value).is_none()).collect();
    let wanted: Vec<u8> = [47, 48, 65, 82, 99, 116, 133].into_iter().chain(156..=u8::MAX).collect();
    assert_eq!(none, wanted);
    assert_eq!(DispatchKey::all().count(), 149);
    assert!(DispatchKey::all().is_sorted());
}

#[test]
fn slots_are_the_runtime_keys_by_priority() {
    assert_eq!(NUM_RUNTIME_KEYS, 137);
    for (slot, key) in DispatchKey::runtime_keys().iter().enumerate() {
        assert!(key.is_runtime());
        assert_eq!(key.slot(), Some(slot), "{key}");
    }
    let singles = [("FPGA", 17), ("CustomRNGKeyId", 36), ("BackendSelect", 86), ("AutogradOther", 95)];
    for (name, slot) in singles.into_iter().chain([("AutogradNestedTensor", 112), ("PythonDispatcher", 136)])
    {
        assert_eq!(name.parse::<DispatchKey>().map(DispatchKey::slot).expect(name), Some(slot), "{name}");
    }
    for bit in [62, 63] {
        let spare = DispatchKeySet::from_raw(DispatchKeySet::FULL.raw() | 1 << bit);
        assert_eq!(spare.table_index(), NUM_RUNTIME_KEYS + bit - 62);
        assert_eq!(spare.highest_functionality(), DispatchKey::PythonDispatcher);
        assert_eq!(spare.iter().count(), 136);
    }
}

#[test]
fn aliases_cover_these_sets() {
    for (alias, value, keys, count) in ALIASES {
        assert_eq!((alias.value(), alias.expansion().raw()), (value, keys), "{alias}");
        assert_eq!(alias.expansion().iter().count(), count, "{alias}");
        assert_eq!(
            (raw(alias), alias.slot(), alias.category()),
            (0, None, DispatchKeyCategory::Alias),
            "{alias}"
        );
        let covered: BTreeSet<_> = DispatchKey::all().filter(|key| alias.covers(*key)).collect();
        assert_eq!(covered, alias.expansion().iter().collect(), "{alias}");
        assert!(!DispatchKey::Undefined.is_included_in_alias(alias));
        // PyTorch compares bits, of which an alias has none.
        assert!(ALIASES.iter().all(|other| other.0.is_included_in_alias(alias)));
    }
    assert!(DispatchKey::Sparse.is_included_in_alias(DispatchKey::CompositeExplicitAutograd));
    assert!(!DispatchKey::CompositeExplicitAutograd.covers(DispatchKey::Sparse));
    assert!(!DispatchKey::Autograd.is_included_in_alias(DispatchKey::CPU));
}

#[test]
fn autograd_keys_stand_above_their_backends() {
    for backend in BackendComponent::ALL {
        let dense = DispatchKey::Dense.on(backend);
        let own = DispatchKey::AutogradFunctionality.on(backend);
        let has_own = !matches!(backend, BackendComponent::HIP | BackendComponent::VE);
        assert_eq!(dense.autograd_key(), if has_own { own } else { DispatchKey::AutogradOther }, "{backend}");
        assert_eq!(DispatchKey::Sparse.on(backend).autograd_key(), dense.autograd_key(), "{backend}");
        let below = if has_own && backend != BackendComponent::MTIA { raw(dense) } else { 0 };
        assert_eq!(own.backends_below_autograd().raw(), below, "{backend}");
    }
    assert_eq!(DispatchKey::MkldnnCPU.autograd_key(), DispatchKey::AutogradOther);
    assert_eq!(DispatchKey::AutogradOther.backends_below_autograd().raw(), 33_488_895);
    assert_eq!(DispatchKey::AutogradNestedTensor.backends_below_autograd().iter().count(), 16);
    assert_eq!(DispatchKey::CPU.backends_below_autograd(), DispatchKeySet::EMPTY);
    assert!(
        DispatchKey::SparseCsr.is_backend()
            && DispatchKey::MkldnnCPU.is_backend()
            && DispatchKey::Meta.is_backend()
    );
    let others = [
        DispatchKey::NestedTensorCPU,
        DispatchKey::Undefined,
        DispatchKey::AutogradCPU,
        DispatchKey::Autograd,
    ];
    assert!(others.into_iter().all(|key| !key.is_backend()));
}

#[test]
fn tensors_carry_these_keys() {
    assert_eq!(DispatchKeySet::of_tensor(DispatchKey::CPU).raw(), 635_655_225_345);
    assert_eq!(DispatchKeySet::of_tensor(DispatchKey::Meta).raw(), 85_899_444_224);
    assert_eq!(DispatchKeySet::of_tensor(DispatchKey::SparseCPU).raw(), 635_663_548_417);
    assert_eq!(DispatchKeySet::of_tensor(DispatchKey::MkldnnCPU).raw(), 51_543_801_856);
    assert_eq!(DispatchKeySet::of_inference_tensor(DispatchKey::CPU).raw(), 549_755_879_425);
    let autocast = BackendComponent::ALL.map(|backend| backend.autocast_key().map_or(0, DispatchKey::value));
    assert_eq!(autocast, [24, 32, 0, 30, 31, 28, 27, 29, 0, 0, 25, 26, 33, 0, 0, 0]);
}

#[test]
fn named_sets_have_these_bits() {
    let sets = [
        (DispatchKeySet::FULL, 4_611_686_018_427_387_903),
        (DispatchKeySet::ALL_BACKENDS, 65_535),
        (DispatchKeySet::AUTOGRAD, 240_518_168_576),
        (DispatchKeySet::AUTOGRAD_AND_AD_INPLACE_OR_VIEW, 257_698_037_760),
        (DispatchKeySet::AUTOCAST, 562_400_197_607_424),
        (DispatchKeySet::DEFAULT_INCLUDED, 17_246_978_048),
        (DispatchKeySet::DEFAULT_EXCLUDED, 562_400_197_607_424),
        (DispatchKeySet::PYTHON, 72_057_594_306_363_392),
        (DispatchKeySet::FUNCTORCH_TRANSFORMS, 34_339_947_158_700_032),
        (DispatchKeySet::AUTOGRAD_OTHER_BACKENDS, 33_488_895),
        (DispatchKeySet::BACKEND_FUNCTIONALITIES, 26_345_471),
        (DispatchKeySet::AFTER_AUTOGRAD, 2_305_843_043_573_432_319),
        (DispatchKeySet::AFTER_AD_INPLACE_OR_VIEW, 2_305_843_026_393_563_135),
        (DispatchKeySet::AFTER_FUNCTIONALIZE, 2_305_843_010_287_435_775),
        (DispatchKeySet::full_after(DispatchKey::Undefined), 2_305_843_009_213_726_719),
        (DispatchKeySet::full_after(DispatchKey::SparseMeta), 2_305_843_009_222_082_559),
    ];
    for (set, bits) in sets {
        assert_eq!(set.raw(), bits, "{set}");
    }
}

#[test]
fn a_set_is_a_cross_product() {
    let keys = DispatchKeySet::from_keys(&[DispatchKey::CPU, DispatchKey::AutogradCUDA]);
    assert!(keys.has(DispatchKey::CUDA) && keys.has(DispatchKey::AutogradCPU));
    assert_eq!(keys.highest_priority(), DispatchKey::AutogradCUDA);
    assert_eq!(keys.remove(DispatchKey::AutogradCPU).to_string(), "DispatchKeySet(CPU, CUDA)");
    assert_eq!(keys.remove_backend(BackendComponent::CUDA).to_string(), "DispatchKeySet(CPU, AutogradCPU)");
    let mixed = DispatchKeySet::from(DispatchKey::SparseCPU) | DispatchKey::Meta.into();
    assert_eq!(mixed.highest_priority(), DispatchKey::SparseMeta);
    // Two sets that share no key may share a backend.
    let stray = DispatchKeySet::from(DispatchKey::CPU) & DispatchKey::AutogradCPU.into();
    assert_eq!((stray.raw(), stray.is_empty(), stray.to_string().as_str()), (1, false, "DispatchKeySet()"));
    assert_eq!(stray.highest_priority(), DispatchKey::Undefined);
    assert_eq!(DispatchKeySet::from(DispatchKey::Quantized).highest_priority(), DispatchKey::Quantized);
}

#[test]
fn highest_priorities_look_at_their_part() {
    let keys = DispatchKeySet::of_tensor(DispatchKey::SparseCUDA).add(DispatchKey::Conjugate);
    assert_eq!(keys.highest_functionality(), DispatchKey::AutocastCUDA);
    assert_eq!(keys.highest_backend(), Some(BackendComponent::CUDA));
    assert_eq!(keys.highest_priority_backend(), DispatchKey::SparseCUDA);
    assert_eq!(keys.legacy_extract(), DispatchKey::Conjugate);
    assert_eq!(keys.remove(DispatchKey::Conjugate).legacy_extract(), DispatchKey::SparseCUDA);
    assert_eq!(DispatchKeySet::EMPTY.highest_backend(), None);
    let layers = (2..47).filter(|value| {
        let layer = DispatchKey::from_value(*value).expect("a functionality");
        DispatchKeySet::from_keys(&[DispatchKey::CPU, layer]).legacy_extract() == DispatchKey::CPU
    });
    let dropped: Vec<u8> = layers.collect();
    assert_eq!(dropped, [13, 15, 19, 20, 21, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 36, 39, 41]);
}

#[test]
fn iteration_and_slot_agree_with_membership() {
    let mut random = Random(1);
    for _ in 0..5_000 {
        let (set, other) = (random.set(), random.set());
        let members: Vec<_> =
            DispatchKey::runtime_keys()[1..].iter().copied().filter(|key| set.has(*key)).collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), members, "{:#x}", set.raw());
        if set.highest_backend().is_some() || set.highest_functionality().is_runtime() {
            assert_eq!(set.highest_priority().slot(), Some(set.table_index()), "{:#x}", set.raw());
            let highest = set.highest_functionality() != DispatchKey::Undefined;
            assert_eq!(highest.then(|| set.highest_priority()), members.last().copied().filter(|_| highest));
        }
        assert_eq!((set - other).raw(), set.raw() & (!other.raw() | BACKENDS));
        assert_eq!((set ^ other).raw(), (set | other).raw() - (set & other).raw());
        assert_eq!(set.has_all(other), (set | other) == set);
        assert_eq!(set.has_any(other), (set & other).raw() != 0);
    }
    assert_eq!(DispatchKeySet::FULL.iter().count(), 136);
    assert_eq!(DispatchKeySet::EMPTY.iter().next(), None);
}

#[test]
fn names_print_and_parse_one_to_one() -> Result<()> {
    let mut names = BTreeSet::new();
    for key in DispatchKey::all() {
        assert_eq!(key.to_string().parse::<DispatchKey>()?, key);
        assert!(names.insert(key.to_string()));
    }
    assert_eq!(format!("{:>5}|{:<5}", DispatchKey::CPU, BackendComponent::MAIA), "  CPU|MAIA ");
    Ok(())
}

#[test]
fn an_unknown_name_is_told_the_nearest() {
    let messages = [
        ("AutogradCpu", r#"no dispatch key is named "AutogradCpu"; did you mean AutogradCPU?"#),
        ("cpu", r#"no dispatch key is named "cpu"; did you mean CPU?"#),
        ("Frobnicate", r#"no dispatch key is named "Frobnicate""#),
        (
            "DefaultBackend",
            r#"no dispatch key is named "DefaultBackend"; it is CompositeExplicitAutograd now"#,
        ),
        ("StartOfDenseBackends", r#"no dispatch key is named "StartOfDenseBackends""#),
        ("", r#"no dispatch key is named """#),
    ];
    for (text, message) in messages {
        assert_eq!(text.parse::<DispatchKey>().map_err(|error| error.to_string()), Err(message.to_owned()));
    }
}

#[test]
fn devices_have_keys() {
    assert_eq!(DispatchKey::for_device("cuda").ok(), Some(DispatchKey::CUDA));
    assert_eq!(DispatchKey::for_device("privateuseone").ok(), Some(DispatchKey::PrivateUse1));
    assert_eq!(DispatchKey::for_device("vulkan").ok(), Some(DispatchKey::Vulkan));
    let error = DispatchKey::for_device("mkldnn").expect_err("it has no dense tensors");
    assert_eq!(
        error.to_string(),
        "no dispatch key for device type \"mkldnn\": expected one of cpu, cuda, hip, xla, mps, ipu, xpu, hpu, ve, lazy, mtia, \
         maia, privateuseone, meta"
    );
}
