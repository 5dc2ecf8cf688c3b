// A library that calls PyTorch's C++ itself, by the name that the compiler gives it.
void _ZN3c105ErrorD1Ev(void);
void call(void) { _ZN3c105ErrorD1Ev(); }
