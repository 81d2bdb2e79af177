-- compatible-from: 10
-- Lists of orders that changed since an instant find attempts by their latest report, as they find other orders by their transactions.
create index booked_attempts_changed on storehook.booked_attempts (last_at, order_id);
