-- compatible-from: 10
-- Apple may sign another account into something that was bought once. What was before stays as it was.

alter table storehook.one_time_purchases add column earlier_accounts text;
comment on column storehook.one_time_purchases.earlier_accounts is
    'the accounts that were signed into it before app_account_token: until/account, in milliseconds since 1970, separated by spaces; null for none';
