-- compatible-from: 10
-- Requests of the staff for refunds, one about one transaction at a time: what is asked for and decided, and what Apple did. None of it
-- moves money. The view refund_requests is what SQL readers have of it.

create table storehook.staff_refund_requests (
    id                      bigint      generated always as identity primary key,
    environment             text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    original_transaction_id text        collate "C" not null,
    order_id                bigint      not null,
    item                    text        collate "C" not null,
    transaction_id          text        collate "C" not null,
    kind                    text        not null check (kind in ('full', 'partial', 'prorated')),
    state                   text        not null default 'pending'
                                        check (state in ('pending', 'approved', 'rejected', 'cancelled', 'processed')),
    currency                text        collate "C",
    price                   bigint      not null check (price > 0),
    requested               bigint      not null check (requested > 0),
    approved                bigint      check (approved > 0),
    is_whole                boolean     not null default false,
    share_before            integer     not null check (share_before between 0 and 100000),
    refunded_before         bigint      not null check (refunded_before >= 0),
    refunded_before_at      timestamptz,
    requester               text        not null check (length(requester) between 1 and 200),
    created_at              timestamptz not null,
    decider                 text        check (length(decider) between 1 and 200),
    decided_at              timestamptz,
    apple_share             integer     check (apple_share between 0 and 100000),
    apple_amount            bigint      check (apple_amount >= 0),
    apple_at                timestamptz,
    reversed_at             timestamptz,
    reference               text        check (length(reference) between 1 and 100),
    elsewhere_amount        bigint      check (elsewhere_amount > 0),
    elsewhere_at            timestamptz,
    processed_at            timestamptz,
    acted_by                text        not null check (length(acted_by) between 1 and 200),
    acted_role              text        not null check (acted_role in ('viewer', 'support', 'admin')),
    acted_at                timestamptz not null,
    check ((decider is null) = (decided_at is null)),
    check ((state = 'pending') = (decider is null)),
    check ((approved is not null) = (state in ('approved', 'processed'))),
    check ((state = 'processed') = (processed_at is not null)),
    check ((reference is null) = (elsewhere_amount is null) and (reference is null) = (elsewhere_at is null)),
    check (reversed_at is null or apple_at is not null)
) with (fillfactor = 80);
comment on table storehook.staff_refund_requests is
    'what staff asked for and decided about refunds, each of one transaction; amounts are in thousandths of its currency';
comment on column storehook.staff_refund_requests.id is 'shown as RF-001, four digits from RF-1000 on';
comment on column storehook.staff_refund_requests.item is 'which transaction of the order: see booked_transactions';
comment on column storehook.staff_refund_requests.requested is 'of a prorated one: what was left of the time when it was made';
comment on column storehook.staff_refund_requests.is_whole is 'whether what was approved was all that was left';
comment on column storehook.staff_refund_requests.share_before is
    'how much of the transaction was refunded when it was made, in thousandths of a percent; less where Apple has reversed that since';
comment on column storehook.staff_refund_requests.decider is 'the actor that approved, rejected or cancelled it; apple where Apple refunded first';
comment on column storehook.staff_refund_requests.apple_amount is
    'what Apple refunded after it was made; null where Apple did not, or does not say how much (see apple_at)';
comment on column storehook.staff_refund_requests.reversed_at is 'when Apple took that back';
comment on column storehook.staff_refund_requests.reference is 'of a refund made elsewhere: what it is called there';
comment on column storehook.staff_refund_requests.acted_by is 'the actor of the latest act of the staff';
comment on column storehook.staff_refund_requests.acted_role is 'the role of that actor at the time';
create unique index staff_refund_requests_open on storehook.staff_refund_requests (order_id, item)
    where state in ('pending', 'approved');
create index staff_refund_requests_of_purchase on storehook.staff_refund_requests (original_transaction_id);
create index staff_refund_requests_of_transaction on storehook.staff_refund_requests (transaction_id);

create table storehook.refund_request_texts (
    id        bigint primary key,
    reason    text check (length(reason) between 1 and 1000),
    note      text check (length(note) between 1 and 1000),
    erased_at timestamptz,
    check (erased_at is null or (reason is null and note is null))
);
comment on table storehook.refund_request_texts is 'what staff wrote about refund requests (staff_refund_requests); erasing the account empties it';
comment on column storehook.refund_request_texts.note is 'with the decision, for colleagues';

create view storehook.refund_requests as
select r.environment, r.bundle_id,
       'RF-' || case when r.id < 1000 then lpad(r.id::text, 3, '0') else r.id::text end as number,
       storehook.order_number(o.day, o.number) as order_number, o.order_key, r.transaction_id, r.kind as type, r.state,
       r.state = 'approved' and r.decided_at <= now() - interval '30 days' as is_not_refunded,
       r.requested, r.approved, r.currency, r.created_at, r.requester, r.decided_at, r.decider,
       r.apple_at as refunded_by_apple_at, r.apple_amount as refunded_by_apple, r.reversed_at,
       r.elsewhere_at as refunded_elsewhere_at, r.elsewhere_amount as refunded_elsewhere, r.reference, r.processed_at
  from storehook.staff_refund_requests r
  join storehook.booked_orders o on o.id = r.order_id;
comment on view storehook.refund_requests is
    'requests of staff for refunds, without what they wrote; amounts are in thousandths of the currency';
comment on column storehook.refund_requests.is_not_refunded is 'approved 30 days ago, and not refunded by Apple';

-- What a request is, for the audit. Apple's own doings are no acts of staff.
create function storehook.audit_refund_state(request storehook.staff_refund_requests) returns text
    language sql immutable parallel safe
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select jsonb_strip_nulls(jsonb_build_object(
        'state', request.state, 'type', request.kind, 'transaction', request.transaction_id, 'currency', request.currency,
        'requested', request.requested, 'approved', request.approved, 'reference', request.reference,
        'refunded_elsewhere', request.elsewhere_amount, 'refunded_elsewhere_at', request.elsewhere_at))::text
$$;
revoke all on function storehook.audit_refund_state(storehook.staff_refund_requests) from public;

create function storehook.audit_refund_request() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
    written storehook.refund_request_texts;
begin
    select * into written from storehook.refund_request_texts t where t.id = new.id;
    draft.actor := storehook.audit_actor(new.acted_by);
    draft.role := new.acted_role;
    draft.act := case
        when tg_op = 'INSERT' then 'create_refund_request'
        else case new.state
            when 'approved' then 'approve_refund_request'
            when 'rejected' then 'reject_refund_request'
            when 'cancelled' then 'cancel_refund_request'
            else 'record_refund' end
        end;
    draft.environment := new.environment;
    draft.app := new.bundle_id;
    draft.subject_kind := 'refund_request';
    draft.subject := 'RF-' || case when new.id < 1000 then lpad(new.id::text, 3, '0') else new.id::text end;
    if tg_op = 'UPDATE' then draft.before := storehook.audit_refund_state(old); end if;
    draft.after := storehook.audit_refund_state(new);
    draft.record := 'staff_refund_requests:' || new.id;
    draft.accounts := array(
        select l.token from storehook.account_lines l
         where (l.original_transaction_id, l.bundle_id, l.environment)
               = (new.original_transaction_id, new.bundle_id, new.environment)
         union
        select t.app_account_token from storehook.transactions t
         where (t.transaction_id, t.bundle_id, t.environment) = (new.transaction_id, new.bundle_id, new.environment)
           and t.app_account_token <> '00000000-0000-0000-0000-000000000000');
    draft.body := storehook.audit_text(
        case when tg_op = 'INSERT' then jsonb_build_object('why', written.reason)
             else jsonb_build_object('note', written.note) end);
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_refund_request() from public;
create trigger staff_refund_requests_audit after insert on storehook.staff_refund_requests
    for each row execute function storehook.audit_refund_request();
create trigger staff_refund_requests_audit_decision after update on storehook.staff_refund_requests
    for each row when (new.acted_at is distinct from old.acted_at)
    execute function storehook.audit_refund_request();

-- An erasure empties what the audit has of the person; see 0063. A request's purchase may have become the account's after the request.
create or replace function storehook.audit_erasure() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    concerned bigint[];
begin
    concerned := array(
        select k.place from storehook.audit_texts k where k.accounts && array[new.token]
         union
        select a.place from storehook.account_lines l
          join storehook.audit a
               on a.subject_kind = 'purchase' and a.subject = l.original_transaction_id and a.app = l.bundle_id
              and a.environment = l.environment
         where l.token = new.token
         union
        select a.place from storehook.account_lines l
          join storehook.staff_refund_requests r using (original_transaction_id, bundle_id, environment)
          join storehook.audit a on a.record = 'staff_refund_requests:' || r.id
         where l.token = new.token);
    perform from storehook.audit_texts t
      where t.erased_at is null and t.place = any(concerned) order by t.place for update;
    update storehook.audit_texts t set salt = null, body = null, erased_at = clock_timestamp()
     where t.erased_at is null and t.place = any(concerned);
    perform storehook.add_audit_draft(storehook.audit_draft(new));
    return null;
end
$$;

comment on column storehook.consumption_answers.rule is
    'the number and name of the policy''s rule, or the refund request that decided';

-- Programs that apply evidence follow what Apple refunds; operators ask and decide. `sql/roles.sql` grants the same; here it is granted so that
-- programs go on between the upgrade and the next run of that file.
do $$
declare
    writer name;
begin
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.subscriptions'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, update (state, decider, decided_at, share_before, refunded_before, refunded_before_at, apple_share,
            apple_amount, apple_at, reversed_at, processed_at) on storehook.staff_refund_requests to %I', writer);
    end loop;
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.staff_acts'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert on storehook.staff_refund_requests, storehook.refund_request_texts to %I', writer);
        execute format('grant update (state, decider, decided_at, approved, is_whole, reference, elsewhere_amount, elsewhere_at,
            processed_at, acted_by, acted_role, acted_at) on storehook.staff_refund_requests to %I', writer);
        execute format('grant update (reason, note, erased_at) on storehook.refund_request_texts to %I', writer);
        execute format('grant select on storehook.refund_requests to %I', writer);
    end loop;
end
$$;
