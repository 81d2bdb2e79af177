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

/// A file of Sources/Services/ConsolePages/Served.
struct storehook_file {
    const char *_Nonnull name;
    /// The file's bytes, and a zero.
    const unsigned char *_Nonnull text;
};

/// How many there are.
int storehook_page_file_count(void);

/// The one at this place, from 0.
const struct storehook_file *_Nonnull storehook_page_file_at(int place);

/// The commit that the program was built from, as STOREHOOK_COMMIT named it when the program was packed; otherwise "unknown".
const char *_Nonnull storehook_commit(void);
