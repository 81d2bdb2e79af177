-- compatible-from: 10
-- Names and mail addresses of accounts, where the app's backend gives them: for the people at the desk, who look customers up by them.
create table storehook.account_profiles (
    token      uuid primary key,
    name       text,
    mail       text,
    changed_at timestamptz not null default now(),
    constraint account_profiles_name_check check (length(name) between 1 and 200),
    constraint account_profiles_mail_check check (length(mail) between 1 and 254),
    constraint account_profiles_something_check check (name is not null or mail is not null)
);
comment on table storehook.account_profiles is
    'name and mail address of accounts, as the operator''s servers gave them; deleted when the account is erased';
comment on column storehook.account_profiles.token is 'the account''s appAccountToken';
-- Found by how they begin, in any case, whatever the database's collation.
create index account_profiles_by_name on storehook.account_profiles (lower(name) text_pattern_ops) where name is not null;
create index account_profiles_by_mail on storehook.account_profiles (lower(mail) text_pattern_ops) where mail is not null;

-- The account API writes them, and whoever erases accounts deletes them. As in 0065.
do $$
declare
    writer name;
begin
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.purchase_attempts'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert, update, delete on storehook.account_profiles to %I', writer);
    end loop;
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.account_names'::regclass and a.privilege_type = 'DELETE' and a.grantee <> c.relowner
    loop
        execute format('grant select, delete on storehook.account_profiles to %I', writer);
    end loop;
end
$$;
