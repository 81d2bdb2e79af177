-- compatible-from: 10
-- What staff wrote before goes to where it is written since migration 40. By itself, so that reading through all bindings keeps nobody
-- from writing one.
with moved as (
    update storehook.staff_acts a set recorded_by = '-', why = '-'
      from storehook.staff_acts before
     where before.id = a.id
       and not exists (select from storehook.staff_texts t where t.what = 'act' and t.id = a.id)
    returning a.id, before.recorded_by, before.why
)
insert into storehook.staff_texts (what, id, recorded_by, why)
select 'act', id, recorded_by, why from moved;

with moved as (
    update storehook.purchase_bindings b set recorded_by = '-', why = '-'
      from storehook.purchase_bindings before
     where before.id = b.id and before.kind = 'staff' and b.kind = 'staff'
       and not exists (select from storehook.staff_texts t where t.what = 'binding' and t.id = b.id)
    returning b.id, before.recorded_by, before.why
)
insert into storehook.staff_texts (what, id, recorded_by, why)
select 'binding', id, recorded_by, why from moved;

-- Of accounts that were erased before it is taken out now.
update storehook.staff_texts t set recorded_by = null, why = null, erased_at = now()
  from storehook.staff_acts a
  join storehook.accounts o on o.token = a.token and o.erased_at is not null and a.at <= o.erased_at
 where t.what = 'act' and t.id = a.id;
update storehook.staff_texts t set recorded_by = null, why = null, erased_at = now()
  from storehook.purchase_bindings b
  join storehook.accounts o on o.token = b.token and o.erased_at is not null and b.at <= o.erased_at
 where t.what = 'binding' and t.id = b.id;
-- So is what they had agreed to, but for what they agreed to since. What they used is not: nobody can say what of it they used since.
-- To erase an account once more forgets that, too.
update storehook.consumption_consents c
   set account = null, app_account_token = null, text = case when c.granted then '-' end, recorded_by = '-'
  from storehook.accounts o
 where o.token = c.app_account_token and o.erased_at is not null and c.recorded_at <= o.erased_at
   and exists (select from storehook.consumption_answers a where a.consent_id = c.id);
delete from storehook.consumption_consents c
 using storehook.accounts o
 where o.token = c.app_account_token and o.erased_at is not null and c.recorded_at <= o.erased_at;
