#include "embedded.h"

static const unsigned char objects[] = {
#embed "../../../sql/objects.txt" suffix(, 0)
};

const char *_Nonnull storehook_objects(void) { return (const char *)objects; }
