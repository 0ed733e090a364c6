-- What Semel keeps in PostgreSQL. Times are microseconds since 1970 by the server's clock, windows
-- are seconds. docs/record-format.md, "In PostgreSQL".

CREATE SCHEMA semel;
COMMENT ON SCHEMA semel IS 'Records of Semel, which lets each side effect through at most once. '
    'Emptying or restoring it lets calls run again: see "Backup, and what not to restore".';

CREATE TYPE semel.policy AS ENUM ('IDEMPOTENT', 'EFFECTFUL');  -- The stricter one is the greater.
CREATE TYPE semel.state AS ENUM ('in_flight', 'completed', 'indeterminate', 'freed');
CREATE TYPE semel.reason AS ENUM
    ('timeout', 'cut', 'malformed', 'upstream_status', 'owner_lost', 'unrecorded', 'internal');
CREATE TYPE semel.event_kind AS ENUM
    ('claimed', 'completed', 'released', 'indeterminate', 'resolved', 'expired');

-- The store itself, in one row.
CREATE TABLE semel.store (
    the_only_one     boolean PRIMARY KEY DEFAULT true CHECK (the_only_one),
    format           int NOT NULL,
    store_id         text NOT NULL,               -- 32 hex digits, drawn when it was made.
    suspect          text,                        -- Why records may have been lost. Null: it is whole.
    -- Its clock was found ahead of everybody's: nothing ends until an operator has looked at it.
    has_leapt        boolean NOT NULL DEFAULT false,
    acknowledgements bigint NOT NULL DEFAULT 0,   -- How often an operator has given his word.
    accounted        bigint NOT NULL DEFAULT 0,   -- Claims up to this fence: lost or not, he knows.
    -- Stores that processes knew in its place, and the highest fence that one of these processes had
    -- been told there; and as it was by an operator's last word.
    doubted          jsonb NOT NULL DEFAULT '{}',
    replaced         jsonb NOT NULL DEFAULT '{}',
    contradicted     bigint NOT NULL DEFAULT 0,   -- Late answers after "it did not happen".
    routes           bytea,                       -- The terms of the routes; null: none yet.
    routes_version   bigint NOT NULL DEFAULT 1
) WITH (fillfactor = 10);

-- How far housekeeping has come, in one row that no claim reads: it is written each second, and some
-- old transaction may keep all that it was before.
CREATE TABLE semel.progress (
    the_only_one boolean PRIMARY KEY DEFAULT true CHECK (the_only_one),
    passed       bigint NOT NULL DEFAULT 0,     -- Up to this claim what was overtaken is gone.
    aged         bigint NOT NULL DEFAULT 0,     -- Up to this claim a writer's note may have aged out.
    trimmed_xid  xid8 NOT NULL DEFAULT '0',     -- Up to this event the log keeps none.
    trimmed_seq  bigint NOT NULL DEFAULT 0,
    trimmed_at   bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

-- Numbers of claims. They rise, with gaps. What was given to whom stands in `writer`.
CREATE SEQUENCE semel.fences;

-- What each connection of each process was given, in the transaction of the claim. The highest
-- fence counts: a store that says less than a process was told has lost claims. A claim adds its row
-- and changes none, so that the next one finds the highest at once, whatever some old transaction
-- keeps of those below. The sweep takes these away.
CREATE TABLE semel.writer (
    writer text NOT NULL,
    lane   int NOT NULL,
    fence  bigint NOT NULL,
    seen   bigint NOT NULL,                       -- When the process was last known to be there.
    PRIMARY KEY (writer, lane, fence)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX writer_fence ON semel.writer (fence);

-- Windows and policy of the routes of today that have keys.
CREATE TABLE semel.route (
    name                    bytea PRIMARY KEY,
    policy                  semel.policy NOT NULL,
    retention               bigint NOT NULL,
    indeterminate_retention bigint                -- Null: never expires.
);

CREATE TABLE semel.record (
    fence                   bigint NOT NULL,
    lease_end               bigint NOT NULL,
    created_at              bigint NOT NULL,
    changed_at              bigint NOT NULL,      -- Every window counts from here.
    retention               bigint NOT NULL,
    indeterminate_retention bigint,               -- Null: never expires.
    due                     bigint,               -- When housekeeping looks at it. Null: never.
    postponed               bigint,               -- The routes_version that put `due` off.
    freed_fence             bigint,
    state                   semel.state NOT NULL,
    policy                  semel.policy NOT NULL,
    reason                  semel.reason,         -- Of an indeterminate one.
    status                  int,                  -- Of the answer, or what an upstream really sent.
    forgotten               boolean NOT NULL DEFAULT false,
    watched                 boolean NOT NULL DEFAULT false,  -- Somebody waits for its end.
    key                     bytea PRIMARY KEY,
    token                   bytea NOT NULL,
    reference               bytea NOT NULL,
    caller                  bytea,                -- Digests: null is the one that is all zero.
    guards                  bytea,
    fingerprint             bytea,
    freed_token             bytea,                -- Of an attempt that an operator freed before.
    tenant                  bytea NOT NULL,       -- Names are bytes: a header may hold any.
    route                   bytea NOT NULL,
    answer                  bytea                 -- Null: of the answer only the status is kept.
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05,
        autovacuum_vacuum_cost_delay = 1);
CREATE INDEX record_reference ON semel.record (reference);
CREATE INDEX record_fence ON semel.record (fence);
CREATE INDEX record_due ON semel.record (due) WHERE due IS NOT NULL;
CREATE INDEX record_postponed ON semel.record (postponed) WHERE postponed IS NOT NULL;
CREATE INDEX record_indeterminate ON semel.record (fence) WHERE state = 'indeterminate';
CREATE INDEX record_unknown_since ON semel.record (changed_at) WHERE state = 'indeterminate';

-- The transition log. A reader shows only what no running transaction can come before, so that the
-- order of (xid, seq) is the order in which transitions become known.
CREATE SEQUENCE semel.event_seqs;
CREATE TABLE semel.event (
    xid       xid8 NOT NULL DEFAULT pg_catalog.pg_current_xact_id(),
    seq       bigint NOT NULL DEFAULT pg_catalog.nextval('semel.event_seqs'),
    at        bigint NOT NULL,
    fence     bigint NOT NULL,
    kind      semel.event_kind NOT NULL,
    policy    semel.policy NOT NULL,
    reason    semel.reason,
    status    int,
    happened  boolean,
    key       bytea NOT NULL,
    reference bytea NOT NULL,
    tenant    bytea NOT NULL,
    route     bytea NOT NULL,
    PRIMARY KEY (xid, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 1);

-- Where events stood that were erased with their tenant: readers who were there go on from there.
CREATE TABLE semel.erased_event (
    xid xid8 NOT NULL,
    seq bigint NOT NULL,
    at  bigint NOT NULL,
    PRIMARY KEY (xid, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 1);

INSERT INTO semel.store (format, store_id)
VALUES (1, pg_catalog.replace(pg_catalog.gen_random_uuid()::text, '-', ''));
INSERT INTO semel.progress DEFAULT VALUES;
