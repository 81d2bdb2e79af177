-- compatible-from: 10
-- Erasing an account also removes the name of the person who answered Apple about it by hand: about purchases that Apple signed for the
-- account, and purchases that a binding gave it.
create or replace function storehook.erase_consents(in_token uuid, out deleted bigint, out kept bigint)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    update storehook.consumption_answers a
       set sent_by = '-'
      from storehook.transactions t
     where a.sent_by <> '-'
       and t.transaction_id = a.transaction_id and t.bundle_id = a.bundle_id and t.environment = a.environment
       and (t.app_account_token = in_token
            or exists (
                select from storehook.purchase_bindings b
                 where b.original_transaction_id = t.original_transaction_id and b.bundle_id = t.bundle_id
                   and b.environment = t.environment and b.token = in_token));
    update storehook.consumption_consents c
       set account = null, app_account_token = null, text = case when c.granted then '-' end, recorded_by = '-'
     where c.app_account_token = in_token
       and exists (select from storehook.consumption_answers a where a.consent_id = c.id);
    get diagnostics kept = row_count;
    delete from storehook.consumption_consents c where c.app_account_token = in_token;
    get diagnostics deleted = row_count;
end
$$;
comment on function storehook.erase_consents(uuid) is
    'forgets what an account agreed to, and who answered Apple about it by hand; consents that an answer to Apple rests on are kept without a name';

-- For accounts that were erased before, it is removed now.
update storehook.consumption_answers a
   set sent_by = '-'
  from storehook.transactions t
 where a.sent_by <> '-'
   and t.transaction_id = a.transaction_id and t.bundle_id = a.bundle_id and t.environment = a.environment
   and exists (
        select from storehook.accounts o
         where o.erased_at is not null and a.began_at <= o.erased_at
           and (o.token = t.app_account_token
                or exists (
                    select from storehook.purchase_bindings b
                     where b.original_transaction_id = t.original_transaction_id and b.bundle_id = t.bundle_id
                       and b.environment = t.environment and b.token = o.token)));
