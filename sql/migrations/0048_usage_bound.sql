-- compatible-from: 10
-- A counter of usage stops at a bound: beyond 2^53 readers of JSON take one number for another, and at 2^63 counting failed.
-- Without a look at the rows that are there, which would take a lock for as long; what writes a row is checked from now on.
alter table storehook.usage_counters add constraint usage_counters_bound check (used <= 1000000000000000) not valid;
