//! PyTorch's function-schema language.
