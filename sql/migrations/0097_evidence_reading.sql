-- compatible-from: 10
-- What the console reads of evidence and consents: the story of a purchase, what one notification says, and what a customer agreed to.

-- What a recorded notification says, as outbox_bodies has it: so that who looks at one need not be able to read all that Apple sent.
create function storehook.notification_body(notification uuid) returns bytea
    language sql stable security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select b.stored
      from storehook.notifications n
     cross join lateral storehook.outbox_bodies(array[n.outbox_id], array[n.received_at]) b
     where n.notification_uuid = notification_body.notification
$$;
revoke all on function storehook.notification_body(uuid) from public;

-- `sql/roles.sql` grants the same; here it is granted so that programs go on between the upgrade and the next run of that file. See 0093.
do $$
declare
    held name;
begin
    for held in
        select r.rolname
          from pg_proc f cross join lateral aclexplode(f.proacl) a join pg_roles r on r.oid = a.grantee
         where f.oid = 'storehook.record_forbidden_tries()'::regprocedure and a.grantee <> f.proowner
    loop
        execute format('grant execute on function storehook.notification_body(uuid) to %I', held);
        execute format('grant select on storehook.notifications, storehook.records, storehook.purchase_facts, '
                       'storehook.consumption_consents, storehook.consent_texts to %I', held);
    end loop;
end
$$;
