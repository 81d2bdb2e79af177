#pragma once
#include <stddef.h>
#include <stdint.h>

// libFuzzer as a library (LLVM, "LibFuzzer", section "Using libFuzzer as a library"): the compiler links it in with
// -sanitize=fuzzer, and comes without a header for it.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*run)(const uint8_t *data, size_t size));
