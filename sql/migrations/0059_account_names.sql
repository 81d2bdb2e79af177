-- compatible-from: 10
-- The account API keeps what an app calls an account from the moment on at which it hands out the token to buy with: Apple's records name
-- only the token, and may arrive before the app proves anything. Such an account is no customer so far. So its id stands here and not
-- in accounts, all of which are derived with each catalog.
create table storehook.account_names (
    token    uuid        primary key,
    account  text        not null check (length(account) between 1 and 1000),
    named_at timestamptz not null default now()
);
comment on table storehook.account_names is
    'what the app''s own tokens call an account, for accounts without an id in accounts; written once, with the first answer that has the token';
comment on column storehook.account_names.token is 'the appAccountToken';
comment on column storehook.account_names.account is 'the account''s id';

-- The database itself forgets the id of a person that is erased, so that programs of every release do.
-- SECURITY DEFINER: who erases an account need not be allowed to write here otherwise.
create function storehook.forget_account_name() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    delete from storehook.account_names where token = new.token;
    return null;
end
$$;
revoke all on function storehook.forget_account_name() from public;
create trigger accounts_forget_name after update of erased_at on storehook.accounts
    for each row when (new.erased_at is not null) execute function storehook.forget_account_name();
