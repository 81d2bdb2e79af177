-- compatible-from: 10
-- Consents that were superseded before are noted, too. This is a migration of its own: reading takes no lock that a consent waits for.
-- The index comes last, because recording a consent waits while it is made. That is short: its column is empty so far.
insert into storehook.consents_superseded (id, at)
select c.id, c.superseded_at
  from (select id, lead(recorded_at) over (partition by app_account_token order by id) as superseded_at
          from storehook.consumption_consents
         where app_account_token is not null) c
 where c.superseded_at is not null
    on conflict (id) do nothing;

create index consumption_consents_by_text on storehook.consumption_consents (text_id) where text_id is not null;
