//! The operators: PyTorch's schemas of collectives.
//!
//! They differ from PyTorch's in some types of arguments:
//!
//! | PyTorch | here | |
//! |---|---|---|
//! | `Any group_name`, `ProcessGroup process_group` | `str` | the name of a registered group |
//! | `Any reduce_op`, `ReduceOp reduce_op` | `str` | the name of a [`ReduceOp`](crate::ReduceOp) |
//! | `Work` | `int` | a number for [`Work::take`](crate::Work::take) |
//! | `Tensor[][]` | `Tensor[]` | one list for each device of a rank, of which there is one |
//! | `Tensor[]` that is written to | `Tensor(a!)[]` | schemas here declare what they write to |

use torch_library::torch_library;

torch_library! {
    /// Collectives that return new tensors, which [`wait_tensor`](fn@_c10d_functional::wait_tensor) waits for.
    ///
    /// PyTorch: `torch.ops._c10d_functional`, behind `torch.distributed._functional_collectives`.
    pub mod _c10d_functional {
        /// The reduction of the inputs of all ranks; every rank gets the result.
        all_reduce(Tensor input, str reduce_op, str group_name) -> Tensor;
        /// The variant of `all_reduce` that works in place. It is finished when it returns.
        all_reduce_(Tensor(a!) input, str reduce_op, str group_name) -> Tensor(a!);
        /// The variant of `all_reduce` for several tensors of one type, in one message.
        all_reduce_coalesced(Tensor[] inputs, str reduce_op, str group_name) -> Tensor[];
        /// The variant of `all_reduce_coalesced` that works in place.
        all_reduce_coalesced_(Tensor(a!)[] inputs, str reduce_op, str group_name) -> Tensor(a!)[];
        /// The inputs of all ranks along dimension 0, in the order of the ranks.
        all_gather_into_tensor(Tensor input, int group_size, str group_name) -> Tensor;
        /// The variant of `all_gather_into_tensor` that writes to a tensor of the caller.
        all_gather_into_tensor_out(Tensor input, int group_size, str group_name, *, Tensor(a!) out) -> Tensor(a!);
        /// The variant of `all_gather_into_tensor` for several tensors.
        all_gather_into_tensor_coalesced(Tensor[] inputs, int group_size, str group_name) -> Tensor[];
        /// This rank's part, along dimension 0, of the reduction of the inputs of all ranks.
        reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, str group_name) -> Tensor;
        /// The variant of `reduce_scatter_tensor` that writes to a tensor of the caller.
        reduce_scatter_tensor_out(Tensor input, str reduce_op, int group_size, str group_name, *,
            Tensor(a!) out) -> Tensor(a!);
        /// The variant of `reduce_scatter_tensor` for several tensors.
        reduce_scatter_tensor_coalesced(Tensor[] inputs, str reduce_op, int group_size, str group_name) -> Tensor[];
        /// Exchanges rows of dimension 0 between all ranks: as many as the splits say, or equal numbers without splits.
        all_to_all_single(Tensor input, SymInt[] output_split_sizes, SymInt[] input_split_sizes,
            str group_name) -> Tensor;
        /// The input of one rank; every rank gets it.
        broadcast(Tensor input, int src, str group_name) -> Tensor;
        /// The variant of `broadcast` that works in place.
        broadcast_(Tensor(a!) input, int src, str group_name) -> Tensor(a!);
        /// Waits for the result of a collective, and returns it as a new tensor. The tensor that the collective
        /// returned has the elements from then on, too.
        wait_tensor(Tensor input) -> Tensor;
        /// The variant of `wait_tensor` for the results of several collectives.
        wait_tensors(Tensor[] tensors) -> Tensor[];
    }
}

torch_library! {
    /// Differentiable collectives: those of [`mod@_c10d_functional`], which have derivatives themselves here.
    ///
    /// PyTorch: `torch.ops._c10d_functional_autograd`.
    pub mod _c10d_functional_autograd {
        /// As `_c10d_functional.all_gather_into_tensor`; the gradient is summed over the ranks and scattered.
        all_gather_into_tensor(Tensor input, int group_size, str group_name) -> Tensor;
        /// As `_c10d_functional.reduce_scatter_tensor`; the gradient is gathered.
        reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, str group_name) -> Tensor;
        /// As `_c10d_functional.all_to_all_single`; the gradient goes back to the ranks that its rows came from.
        all_to_all_single(Tensor input, SymInt[] output_split_sizes, SymInt[] input_split_sizes,
            str group_name) -> Tensor;
    }
}

torch_library! {
    /// Collectives that write to tensors of the caller, before they return (`async_op=False`) or when the program waits
    /// for the [`Work`](crate::Work) that they return. Timeouts are in milliseconds; -1 means the group's.
    ///
    /// PyTorch: `torch.ops.c10d`, behind `torch.distributed`.
    pub mod c10d {
        /// The reduction of the tensors of all ranks; every rank gets the result. Several tensors must have one type.
        allreduce_(Tensor(a!)[] tensors, str process_group, str reduce_op, Tensor? sparse_indices,
            bool async_op=True, int timeout=-1) -> (Tensor(a!)[], int);
        /// The tensors of one rank; every rank gets them.
        broadcast_(Tensor(a!)[] tensors, str process_group, int root_rank, int root_tensor, bool async_op=True,
            int timeout=-1) -> (Tensor(a!)[], int);
        /// The inputs of all ranks, each in the output with the rank's number.
        allgather_(Tensor(a!)[] output_tensors, Tensor[] input_tensors, str process_group, bool async_op=True,
            int timeout=-1) -> (Tensor(a!)[], int);
        /// The inputs of all ranks along dimension 0.
        _allgather_base_(Tensor(a!) output_tensor, Tensor input_tensor, str process_group, bool async_op=True,
            int timeout=-1) -> (Tensor(a!), int);
        /// The reduction, over all ranks, of the inputs with this rank's number.
        reduce_scatter_(Tensor(a!)[] output_tensors, Tensor[] input_tensors, str process_group, str reduce_op,
            bool async_op=True, int timeout=-1) -> (Tensor(a!)[], int);
        /// This rank's part, along dimension 0, of the reduction of all inputs.
        _reduce_scatter_base_(Tensor(a!) output_tensor, Tensor input_tensor, str process_group, str reduce_op,
            bool async_op=True, int timeout=-1) -> (Tensor(a!), int);
        /// Sends each rank the input with its number, and receives from each into the output with its number. Sizes may
        /// differ.
        alltoall_(Tensor(a!)[] output_tensors, Tensor[] input_tensors, str process_group, bool async_op=True,
            int timeout=-1) -> (Tensor(a!)[], int);
        /// Waits until all ranks have called it. The tensor only tells the device.
        barrier(Tensor tensor, str process_group, int[] device_ids, bool async_op=True, int timeout=-1) -> int;
        /// Sends one tensor to one rank, which calls `recv_` with the same tag.
        send(Tensor[] tensors, str process_group, int dst, int tag) -> int;
        /// Receives a tensor from one rank, with the type and sizes of the tensor that is given.
        recv_(Tensor(a!)[] tensors, str process_group, int src, int tag) -> int;
    }
}
