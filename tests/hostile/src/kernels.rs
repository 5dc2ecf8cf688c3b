//! Programs that call operators of `aten` and use the loops for kernels.
#![forbid(unsafe_code)]

crate::programs! {
    closures: slice_writes slice_resizes slice_sets_storage slice_calls_operators step_writes finish_writes
        map_writes map_moves_tensors map_calls_operators closure_panics ranges_panic ranges_within_ranges
        compute_in_threads draws_within_a_turn;
    outputs: fold_outputs_overlap out_variants_overlap statistics_overlap two_types_one_memory rows_of_narrow_numbers
        outputs_that_coincide results_over_inputs;
    indices: index_select_indices gather_indices take_indices embedding_indices index_put_indices scatter_indices
        scatter_add_indices index_add_indices index_indices put_indices short_row_indices embedding_bag_indices unpool_indices
        pivots_changed lengths_changed repeats_changed sorters_changed labels_changed;
    moved: storage_set_while_negated resized_while_added moved_while_multiplied lists_moved_while_joined
        shrunk_while_reduced written_while_reduced rows_moved_while_sorted written_while_copied images_moved_while_folded
        statistics_moved_while_normalised;
    short_rows: rows_added_to_themselves short_rows_written short_rows_moved;
    in_place: added_in_threads overlapping_views_added optimizers_share_state one_tensor_twice transposed_onto_itself
        generators_of_kernels results_in_threads;
    parts: parts_without_end grids_without_end sizes_without_end dimensions_without_end nothing_in_many_rows;
    exits: kernels_at_thread_exit;
    graphs: deep_graph hooks_write_in_backward saved_tensors_moved checkpointed_in_threads batches_in_threads
        example_leaves_vmap traced_in_threads leaf_accumulates_within_itself;
    exchange: dlpack_outlives_its_tensor dlpack_while_moved arrays_while_written files_that_lie files_that_shrink files_while_written
        batches_while_moved truths_of_any_bytes;
    any: any_operator_while_moved any_operator_on_one_memory any_operator_on_large_memory;
}
