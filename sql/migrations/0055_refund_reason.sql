-- compatible-from: 10
-- Why Apple refunded, in what is known of each purchase: events and explanations say it in words.
--
-- A nullable column without a default changes no row. Rows of before, and of earlier programs, have none until `storehook rebuild`
-- reads their evidence anew, which does not report that as a difference. The explanation of a purchase takes the reason of its latest
-- record meanwhile.
alter table storehook.purchase_facts add column revocation_reason smallint;
comment on column storehook.purchase_facts.revocation_reason is
    'why Apple refunded: 0 another reason, 1 an issue with the app; null where nothing was refunded, or Apple does not say';
alter table storehook.one_time_purchases add column revocation_reason smallint;
comment on column storehook.one_time_purchases.revocation_reason is
    'why Apple refunded: 0 another reason, 1 an issue with the app; null while it stands, or where Apple does not say';
comment on column storehook.transactions.revocation_reason is
    'why Apple refunded: 0 another reason, 1 an issue with the app';
comment on column storehook.paid_periods.revocation_reason is
    'why Apple refunded: 0 another reason, 1 an issue with the app';
