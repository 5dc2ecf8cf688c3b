//! The operators with shared kernels, and their registration for a backend.

/// Registers all shared kernels: `shared_kernels!(Mine, PrivateUse1);` for a [backend](crate::GpuBackend) and the key of its
/// tensors.
///
/// It makes a module called `registered`; `aten` of the kernels and the runtime's prelude have to be in scope.
#[macro_export]
macro_rules! shared_kernels {
    ($backend:ty, $key:ident) => {
        $crate::kernels! { $backend, $key;
            $crate::index::take::gather::<$backend>: gather;
            $crate::index::take::index_select::<$backend>: index_select;
            $crate::index::take::embedding::<$backend>: embedding;
            $crate::index::take::index::<$backend>: index_Tensor;
            $crate::index::put::scatter::<$backend>: scatter_src scatter_value scatter_add;
            $crate::index::put::scatter_in_place::<$backend>: scatter__src scatter__value scatter_add_;
            $crate::index::put::index_add::<$backend>: index_add;
            $crate::index::put::index_add_in_place::<$backend>: index_add_;
            $crate::index::put::index_put::<$backend>: index_put;
            $crate::index::put::index_put_in_place::<$backend>: index_put_;
            $crate::index::put::embedding_dense_backward::<$backend>: embedding_dense_backward;
            $crate::loss::forward::<$backend>: nll_loss_forward nll_loss2d_forward;
            $crate::loss::backward::<$backend>: nll_loss_backward nll_loss2d_backward;
            $crate::optimizer::sgd::<$backend>: _fused_sgd_;
            $crate::optimizer::adam::<$backend>: _fused_adam_;
            $crate::optimizer::adamw::<$backend>: _fused_adamw_;
            $crate::norm::batch::native_batch_norm::<$backend>: native_batch_norm;
            $crate::norm::batch::native_batch_norm_backward::<$backend>: native_batch_norm_backward;
            $crate::norm::group::native_group_norm::<$backend>: native_group_norm;
            $crate::norm::group::native_group_norm_backward::<$backend>: native_group_norm_backward;
            $crate::norm::layer::native_layer_norm::<$backend>: native_layer_norm;
            $crate::norm::layer::native_layer_norm_backward::<$backend>: native_layer_norm_backward;
            $crate::pooling::largest::<$backend>: max_pool2d_with_indices;
            $crate::pooling::largest_backward::<$backend>: max_pool2d_with_indices_backward;
            $crate::pooling::mean::<$backend>: avg_pool2d;
            $crate::pooling::mean_backward::<$backend>: avg_pool2d_backward;
            $crate::pooling::mean_of_shares::<$backend>: _adaptive_avg_pool2d;
            $crate::pooling::mean_of_shares_backward::<$backend>: _adaptive_avg_pool2d_backward;
            $crate::convolution::convolution::<$backend>: convolution;
            $crate::convolution::convolution_backward::<$backend>: convolution_backward;
            $crate::extreme::place_of_largest::<$backend>: argmax;
            $crate::extreme::place_of_smallest::<$backend>: argmin;
            $crate::extreme::largest::<$backend>: max_dim;
            $crate::extreme::smallest::<$backend>: min_dim;
            $crate::scan::cumsum::<$backend>: cumsum;
            $crate::random::uniform::<$backend>: uniform_;
            $crate::random::normal::<$backend>: normal_;
            $crate::random::bernoulli::<$backend>: bernoulli__float;
            $crate::softmax::softmax::<$backend>: _softmax;
            $crate::softmax::log_softmax::<$backend>: _log_softmax;
            $crate::softmax::softmax_backward::<$backend>: _softmax_backward_data;
            $crate::softmax::log_softmax_backward::<$backend>: _log_softmax_backward_data;
            $crate::create::cat::<$backend>: cat;
            $crate::create::arange::<$backend>: arange_start_step;
            $crate::product::product::<$backend>: mm bmm;
            $crate::product::sum_with_product::<$backend>: addmm baddbmm;
            $crate::reduce::reduction::<$backend>: sum sum_dim_IntList mean mean_dim amax amin prod prod_dim_int;
        }
    };
}
