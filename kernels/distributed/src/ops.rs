//! The operators: PyTorch's schemas of collectives.
//!
//! They differ from PyTorch's in what the types of a schema are here:
//!
//! | PyTorch | here | |
//! |---|---|---|
//! | `Any group_name`, `ProcessGroup process_group` | `str` | the name of a registered group |
//! | `Any reduce_op`, `ReduceOp reduce_op` | `str` | the name of a [`ReduceOp`](crate::ReduceOp) |
//! | `Work` | `int` | a number for [`Work::take`](crate::Work::take) |
//! | `Tensor[][]` | `Tensor[]` | one list for each device of a rank, of which there is one |
//! | `Tensor[]` that is written to | `Tensor(a!)[]` | a schema says what it writes to |

use torch_library::torch_library;

torch_library! {
    /// Collectives that return new tensors, which [`wait_tensor`](fn@_c10d_functional::wait_tensor) waits for.
    ///
    /// PyTorch: `torch.ops._c10d_functional`, behind `torch.distributed._functional_collectives`.
    pub mod _c10d_functional {
        /// The reduction of the inputs of all ranks, for everybody.
        all_reduce(Tensor input, str reduce_op, str group_name) -> Tensor;
        /// The same in place. It is done when it returns.
        all_reduce_(Tensor(a!) input, str reduce_op, str group_name) -> Tensor(a!);
        /// Of several tensors of one type in one message.
        all_reduce_coalesced(Tensor[] inputs, str reduce_op, str group_name) -> Tensor[];
        /// The same in place.
        all_reduce_coalesced_(Tensor(a!)[] inputs, str reduce_op, str group_name) -> Tensor(a!)[];
        /// The inputs of all ranks along dimension 0, in the order of the ranks.
        all_gather_into_tensor(Tensor input, int group_size, str group_name) -> Tensor;
        /// The same into a tensor of the caller.
        all_gather_into_tensor_out(Tensor input, int group_size, str group_name, *, Tensor(a!) out) -> Tensor(a!);
        /// Of several tensors.
        all_gather_into_tensor_coalesced(Tensor[] inputs, int group_size, str group_name) -> Tensor[];
        /// This rank's part, along dimension 0, of the reduction of the inputs of all ranks.
        reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, str group_name) -> Tensor;
        /// The same into a tensor of the caller.
        reduce_scatter_tensor_out(Tensor input, str reduce_op, int group_size, str group_name, *,
            Tensor(a!) out) -> Tensor(a!);
        /// Of several tensors.
        reduce_scatter_tensor_coalesced(Tensor[] inputs, str reduce_op, int group_size, str group_name) -> Tensor[];
        /// Rows of dimension 0 to and from each rank: so many as the splits say, or equally many without any.
        all_to_all_single(Tensor input, SymInt[] output_split_sizes, SymInt[] input_split_sizes,
            str group_name) -> Tensor;
        /// The input of one rank, for everybody.
        broadcast(Tensor input, int src, str group_name) -> Tensor;
        /// The same in place.
        broadcast_(Tensor(a!) input, int src, str group_name) -> Tensor(a!);
        /// The result of a collective, when it is there: a tensor of its own. The one that the collective returned has
        /// the elements from then on, too.
        wait_tensor(Tensor input) -> Tensor;
        /// Of several collectives.
        wait_tensors(Tensor[] tensors) -> Tensor[];
    }
}

torch_library! {
    /// Collectives as parts of a network: those of [`mod@_c10d_functional`], which have the derivatives themselves
    /// here.
    ///
    /// PyTorch: `torch.ops._c10d_functional_autograd`.
    pub mod _c10d_functional_autograd {
        /// The gradient is scattered, summed over the ranks.
        all_gather_into_tensor(Tensor input, int group_size, str group_name) -> Tensor;
        /// The gradient is gathered.
        reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, str group_name) -> Tensor;
        /// The gradient goes the way back.
        all_to_all_single(Tensor input, SymInt[] output_split_sizes, SymInt[] input_split_sizes,
            str group_name) -> Tensor;
    }
}

torch_library! {
    /// Collectives that write to tensors of the caller, at once (`async_op=False`) or when the
    /// [`Work`](crate::Work) that they return is waited for. A timeout is in milliseconds, -1 is that of the group.
    ///
    /// PyTorch: `torch.ops.c10d`, behind `torch.distributed`.
    pub mod c10d {
        /// The reduction of the tensors of all ranks, for everybody. Several tensors are of one type.
        allreduce_(Tensor(a!)[] tensors, str process_group, str reduce_op, Tensor? sparse_indices,
            bool async_op=True, int timeout=-1) -> (Tensor(a!)[], int);
        /// The tensors of one rank, for everybody.
        broadcast_(Tensor(a!)[] tensors, str process_group, int root_rank, int root_tensor, bool async_op=True,
            int timeout=-1) -> (Tensor(a!)[], int);
        /// The input of each rank in the output of its number.
        allgather_(Tensor(a!)[] output_tensors, Tensor[] input_tensors, str process_group, bool async_op=True,
            int timeout=-1) -> (Tensor(a!)[], int);
        /// The inputs of all ranks along dimension 0.
        _allgather_base_(Tensor(a!) output_tensor, Tensor input_tensor, str process_group, bool async_op=True,
            int timeout=-1) -> (Tensor(a!), int);
        /// The reduction of the inputs with this rank's number.
        reduce_scatter_(Tensor(a!)[] output_tensors, Tensor[] input_tensors, str process_group, str reduce_op,
            bool async_op=True, int timeout=-1) -> (Tensor(a!)[], int);
        /// This rank's part, along dimension 0, of the reduction of all inputs.
        _reduce_scatter_base_(Tensor(a!) output_tensor, Tensor input_tensor, str process_group, str reduce_op,
            bool async_op=True, int timeout=-1) -> (Tensor(a!), int);
        /// To each rank the input of its number, from each into the output of its number. Sizes may differ.
        alltoall_(Tensor(a!)[] output_tensors, Tensor[] input_tensors, str process_group, bool async_op=True,
            int timeout=-1) -> (Tensor(a!)[], int);
        /// Until all ranks are here. The tensor says on which device, and nothing else.
        barrier(Tensor tensor, str process_group, int[] device_ids, bool async_op=True, int timeout=-1) -> int;
        /// One tensor to one rank, which calls `recv_` with the same tag.
        send(Tensor[] tensors, str process_group, int dst, int tag) -> int;
        /// What one rank sends: of the type and sizes of the tensor.
        recv_(Tensor(a!)[] tensors, str process_group, int src, int tag) -> int;
    }
}
