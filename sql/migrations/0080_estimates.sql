-- compatible-from: 10
-- What the planner knows. By an estimate that is far too high PostgreSQL compiles a statement to machine code, each time it is run, which
-- takes hundreds of times as long as a read of a few rows does.

-- Tables of one row, which are part of most reads. Nothing else counts them: automatic analysis waits for fifty changes, and a table that was
-- never counted is planned as one of nearly two thousand rows.
analyze storehook.catalog_state, storehook.event_feed, storehook.figure_state, storehook.account_count_state, storehook.account_ids,
        storehook.audit_tail;

-- An app or a few, in two environments; a function is planned as a thousand rows.
alter function storehook.filled_apps() rows 4;
