-- The users of a PostgreSQL on the same machine, named like the system's accounts, so that each is known by being that
-- account (peer authentication) and no password exists. What a role may do is roles.sql's matter, which runs first; run
-- as often as you like.

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
                              ('storehook-ops', 'storehook_ops')) as login
    loop
        if to_regrole(quote_ident(account)) is null then
            execute format('create role %I login', account);
        end if;
        execute format('grant %I to %I', role, account);
        execute format('grant connect on database %I to %I', current_database(), account);
    end loop;
end
$$;

commit;
