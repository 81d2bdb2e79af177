-- A user for each program, with the rights of its role. None has a password: PostgreSQL on the same machine knows them by
-- being the accounts of these names (peer authentication); for one elsewhere, give them passwords. Run by an administrator
-- after roles.sql, as often as you like:
--
--     psql -v ON_ERROR_STOP=1 -d storehook -f sql/roles.sql -f deploy/logins.sql

begin;
set local client_min_messages = warning;

do $$
declare
    account text;
    role text;
begin
    for account, role in
        select * from (values ('storehook-receiver', 'storehook_receiver'),
                              ('storehook-worker', 'storehook_worker'),
                              ('storehook-ops', 'storehook_ops'),
                              ('storehook-api', 'storehook_api')) as login
    loop
        if to_regrole(quote_ident(account)) is null then
            execute format('create role %I login', account);
        end if;
        execute format('grant %I to %I', role, account);
        execute format('grant connect on database %I to %I', current_database(), account);
    end loop;
end
$$;

-- Who blocks whom, and who holds back vacuum: without this an operator sees his own sessions alone.
grant pg_read_all_stats to "storehook-ops";

commit;
