// What a library looks for to learn that a PyTorch is in the process.
unsigned long long aoti_torch_abi_version(void) { return 0; }
