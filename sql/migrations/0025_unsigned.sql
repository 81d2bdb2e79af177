-- compatible-from: 10
-- What verifyReceipt answers to an app's old receipt, where that app has no Server API key. Nobody signs it, so it is evidence of its
-- own kinds, and weaker than anything that Apple signed of the same transaction, whatever their dates.
--
-- Programs of the release before go on beside this: what is not theirs to understand their workers bury as body_unreadable, to be
-- replayed by this one's. None of them makes any of it.

alter table storehook.outbox drop constraint outbox_kind_check;
do $$
declare
    partition regclass;
begin
    -- A partition made like outbox has constraints of its own, which do not go with the parent's.
    for partition in
        select i.inhrelid::regclass from pg_inherits i join pg_constraint c on c.conrelid = i.inhrelid
         where i.inhparent = 'storehook.outbox'::regclass and c.conname = 'outbox_kind_check'
    loop
        execute format('alter table %s drop constraint outbox_kind_check', partition);
    end loop;
end
$$;
alter table storehook.outbox
    add constraint outbox_kind_check check (kind between 0 and 6) not valid;
comment on column storehook.outbox.kind is
    '0: notification; 1: transaction; 2: renewal info; 3: app transaction (each a compact JWS); 4: old receipt, or verifyReceipt''s answer to one; 5: what such an answer says of a transaction; 6: of a subscription''s future; 4 to 6 unsigned';

-- As before, with the two kinds that speak of a purchase and are nobody's signed word. Not valid, as in 0015.
alter table storehook.records
    drop constraint records_kind_check,
    drop constraint records_check3,
    drop constraint records_check4;
alter table storehook.records
    add constraint records_kind_check
        check (kind in ('transaction', 'renewal', 'app_transaction', 'receipt', 'receipt_transaction', 'receipt_renewal'))
        not valid,
    add constraint records_check3
        check ((kind in ('transaction', 'renewal', 'receipt_transaction', 'receipt_renewal'))
               = (original_transaction_id is not null)) not valid,
    add constraint records_check4
        check ((kind in ('transaction', 'receipt_transaction')) = (transaction_id is not null)) not valid;
comment on table storehook.records is
    'every verified record that came by itself, every receipt, and what verifyReceipt''s unsigned answers say of each purchase, once; its own digest is the idempotency key';
comment on column storehook.records.digest is
    'SHA-256 of the JSON that was signed, as in transactions.digest; of what is unsigned, of its bytes';
comment on column storehook.records.signed_at is 'of what verifyReceipt says, which nobody signs: when it was answered';

alter table storehook.dead_letters drop constraint dead_letters_kind_check;
alter table storehook.dead_letters
    add constraint dead_letters_kind_check
        check (kind in ('notification', 'transaction', 'renewal', 'app_transaction', 'receipt', 'receipt_transaction',
                        'receipt_renewal')) not valid;

-- Null for what Apple signed, which is nearly everything: it takes no room there.
alter table storehook.purchase_facts
    add column is_unsigned boolean;
alter table storehook.transactions
    add column is_unsigned boolean;
alter table storehook.renewals
    add column is_unsigned boolean;
alter table storehook.purchase_facts
    add constraint purchase_facts_is_unsigned_check
        check (is_unsigned) not valid;
alter table storehook.transactions
    add constraint transactions_is_unsigned_check
        check (is_unsigned) not valid;
alter table storehook.renewals
    add constraint renewals_is_unsigned_check
        check (is_unsigned) not valid;
comment on column storehook.purchase_facts.is_unsigned is
    'true for what verifyReceipt said and nobody signed: it counts for nothing where Apple''s signed word of the same thing is known';
comment on column storehook.transactions.is_unsigned is
    'true where this is what verifyReceipt said, and Apple''s signed word is not known; signed_at is then when it was answered';
comment on column storehook.renewals.is_unsigned is
    'true where this is what verifyReceipt said, and Apple''s signed word is not known; signed_at is then when it was answered';

-- What verifyReceipt said last of each thing: who takes in the next answer stores only what says something else. A word is noted in
-- the commit that stores it.
create table storehook.unsigned_words (
    id          text        collate "C" not null,
    bundle_id   text        collate "C" not null,
    environment text        collate "C" not null,
    kind        text        not null check (kind in ('receipt_transaction', 'receipt_renewal')),
    saying      bytea       not null check (octet_length(saying) = 32),
    answered_at timestamptz not null,
    primary key (id, bundle_id, environment, kind)
) with (fillfactor = 80);
comment on table storehook.unsigned_words is
    'what verifyReceipt said last of each transaction, and of each subscription''s future, where Apple has not signed it';
comment on column storehook.unsigned_words.id is 'the transaction; of a subscription''s future the original transaction';
comment on column storehook.unsigned_words.saying is 'SHA-256 of what was said, without the instant';

-- As before, and a copy of a paid period that is only said to be one does not take the place of one that Apple signed.
create or replace view storehook.paid_periods as
select environment, bundle_id, original_transaction_id, transaction_id, product_id, kind, purchased_at, expires_at, price,
       currency, quantity, revoked_at, revocation_type, revocation_reason, revocation_percentage, storefront, offer_type,
       offer_id, billing_plan_type, payload->'commitmentInfo' as commitment_info
  from storehook.transactions t
 where (ownership = 'PURCHASED' or ownership is null)
   and not exists (
        select from storehook.transactions later
         where later.web_order_line_item_id = t.web_order_line_item_id and later.bundle_id = t.bundle_id
           and later.environment = t.environment and later.transaction_id <> t.transaction_id
           and (later.ownership = 'PURCHASED' or later.ownership is null)
           and (later.is_unsigned is null, later.signed_at, later.digest, later.transaction_id)
               > (t.is_unsigned is null, t.signed_at, t.digest, t.transaction_id));
