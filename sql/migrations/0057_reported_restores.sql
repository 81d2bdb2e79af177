-- compatible-from: 10
-- Apps report restores as well. A restore is of everything that the customer has, so that it names no product, and it may find nothing.
-- A report may name the transaction that it is about, and the environment.
-- All of it changes the catalog alone, whatever the number of rows. Not valid, as in 0015: every earlier row fits.
alter table storehook.purchase_attempts
    alter column product_id drop not null,
    add column transaction_id text,
    add column environment text collate "C",
    drop constraint purchase_attempts_outcome_check;
alter table storehook.purchase_attempts
    add constraint purchase_attempts_outcome_check
        check (outcome in ('pending', 'cancelled', 'failed', 'completed', 'nothing')) not valid,
    add constraint purchase_attempts_kind_fits_check
        check (kind = 'restore' or (product_id is not null and outcome <> 'nothing')) not valid,
    add constraint purchase_attempts_transaction_id_check check (length(transaction_id) between 1 and 64) not valid,
    add constraint purchase_attempts_environment_check
        check (environment in ('Production', 'Sandbox', 'Xcode', 'LocalTesting')) not valid;
comment on table storehook.purchase_attempts is
    'append-only: what apps reported of attempts to buy and to restore; nothing is decided by it';
comment on column storehook.purchase_attempts.product_id is 'Apple''s id of it, as the app wrote it; null where a restore names none';
comment on column storehook.purchase_attempts.outcome is 'nothing: a restore found nothing';
comment on column storehook.purchase_attempts.transaction_id is 'Apple''s id of the transaction, as the app wrote it; null where it named none';
comment on column storehook.purchase_attempts.environment is 'in Apple''s word, as the app wrote it; null where it named none';
