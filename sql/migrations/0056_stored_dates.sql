-- compatible-from: 10
-- When the first and the last evidence of a purchase were stored, in the rows that readers of accounts read anyway. Workers write both
-- with every other change of a row. A row that an earlier release makes has neither, and one that it changes keeps what it had. The next
-- evidence of the purchase fills both where there are none, and a rebuild completes both, from notifications and records, which keep these
-- dates for good.

-- Nullable, without a default: each statement changes the catalog alone, whatever the number of rows.
alter table storehook.subscriptions
    add column first_stored_at timestamptz,
    add column last_stored_at timestamptz;
comment on column storehook.subscriptions.first_stored_at is
    'when the first evidence of it was stored; null where an earlier release wrote the row, until a rebuild or its next evidence';
comment on column storehook.subscriptions.last_stored_at is 'when its latest evidence was stored; likewise';
alter table storehook.one_time_purchases
    add column first_stored_at timestamptz,
    add column last_stored_at timestamptz;
comment on column storehook.one_time_purchases.first_stored_at is 'as in subscriptions';
comment on column storehook.one_time_purchases.last_stored_at is 'as in subscriptions';
