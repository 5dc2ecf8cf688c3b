//! Derivatives of padding.

use torch_library::derivatives;

use crate::aten;

derivatives! {
    in aten;

    constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor as ConstantPadNdBackward0 {
        self => {
            let narrower: Vec<i64> = pad.iter().map(|by| -by).collect();
            aten::constant_pad_nd(grad, &narrower)
        },
    }
    reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor as ReflectionPad1DBackward0 {
        self => aten::reflection_pad1d_backward(grad, self, padding),
    }
    reflection_pad1d_backward(
        Tensor grad_output, Tensor self, SymInt[2] padding
    ) -> Tensor as ReflectionPad1DBackwardBackward0 {
        grad_output => aten::reflection_pad1d(grad, padding),
        self => aten::zeros_like(self),
    }
    reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor as ReflectionPad2DBackward0 {
        self => aten::reflection_pad2d_backward(grad, self, padding),
    }
    reflection_pad2d_backward(
        Tensor grad_output, Tensor self, SymInt[4] padding
    ) -> Tensor as ReflectionPad2DBackwardBackward0 {
        grad_output => aten::reflection_pad2d(grad, padding),
        self => aten::zeros_like(self),
    }
    reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor as ReflectionPad3DBackward0 {
        self => aten::reflection_pad3d_backward(grad, self, padding),
    }
    reflection_pad3d_backward(
        Tensor grad_output, Tensor self, SymInt[6] padding
    ) -> Tensor as ReflectionPad3DBackwardBackward0 {
        grad_output => aten::reflection_pad3d(grad, padding),
        self => aten::zeros_like(self),
    }
    replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor as ReplicationPad1DBackward0 {
        self => aten::replication_pad1d_backward(grad, self, padding),
    }
    replication_pad1d_backward(
        Tensor grad_output, Tensor self, SymInt[2] padding
    ) -> Tensor as ReplicationPad1DBackwardBackward0 {
        grad_output => aten::replication_pad1d(grad, padding),
        self => aten::zeros_like(self),
    }
    replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor as ReplicationPad2DBackward0 {
        self => aten::replication_pad2d_backward(grad, self, padding),
    }
    replication_pad2d_backward(
        Tensor grad_output, Tensor self, SymInt[4] padding
    ) -> Tensor as ReplicationPad2DBackwardBackward0 {
        grad_output => aten::replication_pad2d(grad, padding),
        self => aten::zeros_like(self),
    }
    replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor as ReplicationPad3DBackward0 {
        self => aten::replication_pad3d_backward(grad, self, padding),
    }
    replication_pad3d_backward(
        Tensor grad_output, Tensor self, SymInt[6] padding
    ) -> Tensor as ReplicationPad3DBackwardBackward0 {
        grad_output => aten::replication_pad3d(grad, padding),
        self => aten::zeros_like(self),
    }
}
