//! Programs that need only the runtime, so that Miri can run them too.
#![forbid(unsafe_code)]

crate::programs! {
    elements: fill_while_read copy_while_read overlapping_views_filled disjoint_parts_filled
        shown_while_written views_of_one_tensor_moved bytes_given_back_within_a_function;
    places: storage_set_while_read resized_while_shown moved_while_walked last_handle_races storages_without_end
        geometries_without_end many_dimensions sizes_without_sense;
    backends: size_that_changes host_that_changes host_too_small host_shared_by_two host_of_itself device_that_changes
        backend_that_panics backend_that_calls_when_dropped deep_storages host_of_another_dtype
        memory_at_odd_addresses;
    nests: deep_wrappers deep_errors deep_grads deep_hooks wrapped_in_threads;
    panics: kernel_and_observer_panic kernel_panics_under_guards observer_panics_everywhere
        payload_that_panics closures_that_panic_when_dropped calls_at_thread_exit;
    registry: libraries_come_and_go library_dropped_by_its_kernel overrides_without_end names_of_one_library
        registers_while_it_is_called listeners_reenter registered_twice boxed_kernels_that_lie wrong_types_by_name
        kernel_of_another_operator conflicts_while_called;
    recursion: calls_itself calls_itself_on_a_small_stack calls_itself_boxed observer_calls_itself;
    schemas: many_alias_names many_arguments deep_types long_defaults;
    keys: any_key_on_any_tensor keys_from_bits guards_out_of_order modes_left_by_threads;
    layers: functions_that_keep_tensors hooks_that_write functions_that_lie graph_shared_by_threads
        levels_that_ended fake_and_functional_in_threads backward_within_backward;
    reentrant: hook_goes_back_without_end hooks_look_when_dropped hooks_panic_when_dropped values_look_when_dropped;
    generators: shared_by_threads drawn_while_drawing seeded_while_drawing generators_within_each_other;
}
