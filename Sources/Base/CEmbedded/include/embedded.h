#pragma once

/// A file of sql/migrations.
struct storehook_migration {
    int version;
    const char *_Nonnull name;
    /// The file's bytes, and a zero.
    const unsigned char *_Nonnull sql;
};

/// How many there are.
int storehook_migration_count(void);

/// The one at this place, from 0, in their order.
const struct storehook_migration *_Nonnull storehook_migration_at(int place);

/// The text of sql/objects.txt.
const char *_Nonnull storehook_objects(void);

/// The commit that the program was built from, as STOREHOOK_COMMIT named it when the program was packed; otherwise "unknown".
const char *_Nonnull storehook_commit(void);
