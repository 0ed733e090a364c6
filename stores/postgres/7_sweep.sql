-- Housekeeping in bounded batches: stores/ledger.cc, Ledger::sweep. One process at a time, and
-- nobody waits for it: what another transaction holds is left for the next time.

-- Drops up to `p_limit` of the oldest events, of those that nobody can come before any more.
CREATE FUNCTION semel.trim(p_at bigint, p_limit int, p_age bigint, p_count bigint)
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    newest  bigint := (SELECT s.last_value FROM semel.event_seqs s);
    dropped int;
BEGIN
    WITH oldest AS (
        SELECT e.xid, e.seq,
               bool_and(e.at <= p_at - p_age OR e.seq <= newest - p_count)
                   OVER (ORDER BY e.xid, e.seq) AS goes
        FROM (SELECT o.xid, o.seq, o.at FROM semel.event o
              WHERE o.xid < pg_snapshot_xmin(pg_current_snapshot())
              ORDER BY o.xid, o.seq LIMIT p_limit) e
    ), gone AS (
        DELETE FROM semel.event e USING oldest o
        WHERE e.xid = o.xid AND e.seq = o.seq AND o.goes
    ), last AS (
        SELECT o.xid, o.seq FROM oldest o WHERE o.goes ORDER BY o.xid DESC, o.seq DESC LIMIT 1
    ), noted AS (
        UPDATE semel.store SET trimmed_xid = l.xid, trimmed_seq = l.seq FROM last l
    )
    SELECT count(*) INTO dropped FROM oldest o WHERE o.goes;
    RETURN dropped = p_limit;
END $$;

CREATE FUNCTION semel.sweep(
    p_limit int, p_latest bigint, p_tells boolean,
    p_event_age bigint, p_event_count bigint,  -- Seconds; null: there is no log to trim.
    OUT now bigint, OUT expired bigint, OUT owner_lost bigint, OUT more boolean
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    version  bigint;
    found    bytea[];
    keys     bytea[];
    standing semel.standing;
BEGIN
    now := semel.clock();
    expired := 0;
    owner_lost := 0;
    more := false;
    IF coalesce(semel.judged(now, p_latest), 0) = 0
       OR NOT pg_try_advisory_xact_lock(semel.lock_space(), semel.housekeeping()) THEN
        RETURN;
    END IF;
    SELECT s.routes_version INTO version FROM semel.store s;
    -- What is due by its own window, or was put off for a route that may say otherwise now.
    SELECT array_agg(d.key) INTO found FROM (
        (SELECT r.key FROM semel.record r WHERE r.due <= sweep.now ORDER BY r.due
         LIMIT p_limit + 1)
        UNION
        (SELECT r.key FROM semel.record r WHERE r.postponed < version LIMIT p_limit + 1)) d;
    -- First the locks of the keys, then those of the rows: ids rise in the order of transitions.
    SELECT array_agg(d.key) INTO keys
    FROM (SELECT k.key FROM unnest(found[1:p_limit]) AS k (key) OFFSET 0) d
    WHERE pg_try_advisory_xact_lock(semel.lock_of(d.key));
    SELECT array_agg(d.key) INTO keys FROM (
        SELECT r.key FROM semel.record r
        WHERE r.key = ANY (keys) AND (r.due <= sweep.now OR r.postponed < version)
        FOR UPDATE SKIP LOCKED) d;
    more := cardinality(found) > p_limit AND keys IS NOT NULL;

    FOR standing IN
        SELECT * FROM semel.standing s
        WHERE s.key = ANY (keys) AND s.state = 'in_flight' AND s.policy_today = 'EFFECTFUL'
    LOOP
        PERFORM semel.become_indeterminate(standing, 'owner_lost', NULL, now, p_tells);
        keys := array_remove(keys, standing.key);
        owner_lost := owner_lost + 1;
    END LOOP;
    WITH erased AS (
        DELETE FROM semel.record r USING semel.standing s
        WHERE r.key = s.key AND s.key = ANY (keys)
          AND sweep.now >= semel.due_of(s.state, s.policy, s.lease_end, s.changed_at,
                                        s.retention_today, s.indeterminate_retention_today)
        RETURNING r.state, r.key, r.reference, r.fence, r.policy, r.tenant, r.route
    ), told AS (
        INSERT INTO semel.event (at, fence, kind, policy, key, reference, tenant, route)
        SELECT sweep.now, e.fence, 'expired', e.policy, e.key, e.reference, e.tenant, e.route
        FROM erased e WHERE p_tells AND e.state <> 'freed'
    )
    SELECT count(*) INTO expired FROM erased e WHERE e.state <> 'freed';
    -- Their routes keep these longer than they asked for.
    UPDATE semel.record r
    SET postponed = version,
        due = semel.due_of(s.state, s.policy, s.lease_end, s.changed_at, s.retention_today,
                           s.indeterminate_retention_today)
    FROM semel.standing s
    WHERE r.key = s.key AND s.key = ANY (keys);

    IF p_event_age IS NOT NULL
       AND semel.trim(now, p_limit, p_event_age * 1000000, p_event_count) THEN
        more := true;
    END IF;
END $$;
