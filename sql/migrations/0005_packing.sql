-- Apple's bytes without the certificates that stand in each of them three times over.

-- The header segments of JWS (algorithm and certificates) that a worker has found on a notification whose signature and
-- chain it verified: a handful a year. A packed body names them by digest instead of repeating them. So rows here are
-- never changed and never deleted, retention or not, and belong into every backup that the outbox belongs into: without
-- them packed bytes cannot be read. The digest is computed here, so that it cannot be another header's.
create table storehook.signature_headers (
    digest     bytea       primary key generated always as (sha256(header)) stored,
    header     bytea       not null check (octet_length(header) between 1 and 16384),
    first_seen timestamptz not null default now()
);
comment on table storehook.signature_headers is
    'headers of verified signatures, which packed bodies in the outbox name by SHA-256; needed for as long as those are';

-- How a body is to be read. 0: as it was posted. 1: without its headers and its base64 (Sources/Outbox/PackedBody.swift
-- has the form); unpacked it is no longer than a body may be, which every reader checks. A packed notification of a
-- subscription takes less than 2 kB, so that it stands in its row; one stored as it was posted stands beside it (TOAST).
--
-- Workers of an earlier release take packed bytes for posted ones and bury them: stop them before the first worker of this
-- one starts. Nothing is packed before that one has verified something, and what was buried can be replayed.
alter table storehook.outbox
    add column packing smallint not null default 0 check (packing in (0, 1));
comment on table storehook.outbox is
    'the compact JWS of each POST that was answered 200, byte for byte once it is unpacked; append-only, one partition a day (UTC)';
comment on column storehook.outbox.packing is
    '0: body is as it was posted; 1: it names headers in signature_headers';
