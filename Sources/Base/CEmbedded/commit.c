#include "embedded.h"

// Package.swift defines it where the environment has it.
#ifndef STOREHOOK_COMMIT
#define STOREHOOK_COMMIT unknown
#endif

#define TEXT_OF(tokens) TEXT(tokens)
#define TEXT(tokens) #tokens

const char *_Nonnull storehook_commit(void) { return TEXT_OF(STOREHOOK_COMMIT); }
