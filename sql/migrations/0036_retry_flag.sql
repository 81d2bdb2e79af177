-- compatible-from: 10
-- Whether Apple said that it does not try to charge, or left the flag out: beside a signed status "grace period" the two mean different
-- things. in_billing_retry goes on holding false for both, as programs of earlier releases read it.
--
-- A nullable column without a default changes no row. Rows that are there already count as "left out" until a rebuild reads the
-- evidence anew; those written by earlier programs meanwhile do, too.
alter table storehook.purchase_facts add column is_not_retried boolean;
comment on column storehook.purchase_facts.is_not_retried is
    'true where the renewal info says that Apple does not try to charge; null where it tries, and where Apple leaves that out';
