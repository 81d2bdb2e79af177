-- compatible-from: 10
-- What decides between the periods of a subscription: who began each of them, and what stands beside what.

-- Null in rows of before, and in what programs of the release before write: nobody knows there, but for renewals. What Apple signed is
-- read again by `storehook rebuild`.
alter table storehook.purchase_facts
    add column reason text,
    add column additional_reason text;
comment on column storehook.purchase_facts.reason is
    'PURCHASE or RENEWAL, as Apple says; null where Apple says neither, or the row was written before it was kept';
comment on column storehook.purchase_facts.additional_reason is
    'why the transaction stands beside others of its period, in Apple''s word; null for nearly all';
alter table storehook.transactions
    add column additional_reason text;
comment on column storehook.transactions.additional_reason is
    'why it stands beside other transactions of its period, in Apple''s word (additionalTransactionReason)';
