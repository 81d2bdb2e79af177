-- compatible-from: 10
-- Tables of one row, which are part of most reads. Nothing else counts them: automatic analysis waits for fifty changes, and a table that was
-- never counted is planned as one of nearly two thousand rows. By such an estimate PostgreSQL compiled the read of one account to machine
-- code, each time, which took hundreds of times as long as the read.
analyze storehook.catalog_state, storehook.event_feed, storehook.figure_state, storehook.account_count_state, storehook.account_ids,
        storehook.audit_tail;
