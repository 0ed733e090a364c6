-- Housekeeping in bounded batches: stores/ledger.cc, Ledger::sweep. One process at a time, and
-- nobody waits for it: what another transaction holds is left for the next time.

-- Drops up to `p_limit` of the oldest events, of those that nobody can come before any more.
CREATE FUNCTION semel.trim(p_at bigint, p_limit int, p_age bigint, p_count bigint)
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    newest  bigint := (SELECT s.last_value FROM semel.event_seqs s);
    dropped int;
BEGIN
    WITH oldest AS MATERIALIZED (
        SELECT e.xid, e.seq, e.at,
               bool_and(e.at <= p_at - p_age OR e.seq <= newest - p_count
                        OR (e.xid, e.seq) <= (e.trimmed_xid, e.trimmed_seq))
                   OVER (ORDER BY e.xid, e.seq) AS goes
        FROM (SELECT * FROM (
                  (SELECT o.xid, o.seq, o.at FROM semel.event o
                   WHERE o.xid < pg_snapshot_xmin(pg_current_snapshot())
                   ORDER BY o.xid, o.seq LIMIT p_limit)
                  UNION ALL
                  (SELECT o.xid, o.seq, o.at FROM semel.erased_event o
                   ORDER BY o.xid, o.seq LIMIT p_limit)) a
              CROSS JOIN semel.progress ORDER BY a.xid, a.seq LIMIT p_limit) e
    ), gone AS (
        DELETE FROM semel.event e USING oldest o
        WHERE e.xid = o.xid AND e.seq = o.seq AND o.goes
    ), erased AS (
        DELETE FROM semel.erased_event e USING oldest o
        WHERE e.xid = o.xid AND e.seq = o.seq AND o.goes
    ), last AS (
        SELECT o.xid, o.seq, o.at FROM oldest o WHERE o.goes
        ORDER BY o.xid DESC, o.seq DESC LIMIT 1
    ), noted AS (
        UPDATE semel.progress p SET trimmed_xid = l.xid, trimmed_seq = l.seq, trimmed_at = l.at
        FROM last l WHERE (p.trimmed_xid, p.trimmed_seq) < (l.xid, l.seq)
    )
    SELECT count(*) INTO dropped FROM oldest o WHERE o.goes;
    RETURN dropped = p_limit;
END $$;

-- Drops the notes of claims that a later claim on the same connection has overtaken: for each of
-- the next `p_limit` claims the one before it, so that nothing is looked at that is gone already.
CREATE FUNCTION semel.drop_overtaken(p_at bigint, p_limit int)
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    -- A claim that was noted so long ago has no lower one behind it that is still on its way.
    lag    CONSTANT bigint := 10000000;
    note   semel.writer;
    looks  int := 0;
    came   bigint;
BEGIN
    FOR note IN
        SELECT w.* FROM semel.writer w WHERE w.fence > (SELECT p.passed FROM semel.progress p)
        ORDER BY w.fence LIMIT p_limit
    LOOP
        EXIT WHEN note.seen BETWEEN p_at - lag AND p_at;
        DELETE FROM semel.writer w
        WHERE w.writer = note.writer AND w.lane = note.lane
              AND w.fence = (SELECT b.fence FROM semel.writer b
                             WHERE b.writer = note.writer AND b.lane = note.lane
                                   AND b.fence < note.fence
                             ORDER BY b.fence DESC LIMIT 1);
        looks := looks + 1;
        came := note.fence;
    END LOOP;
    UPDATE semel.progress SET passed = came WHERE came IS NOT NULL;
    RETURN looks = p_limit;
END $$;

-- A process that runs says so of all its connections, also of those that it makes no use of.
CREATE FUNCTION semel.renew(p_writer text, p_at bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    a_day CONSTANT bigint := 86400000000;
    note  semel.writer;
BEGIN
    LOOP
        SELECT * INTO note FROM semel.writer w
        WHERE w.writer = p_writer AND w.lane < coalesce(note.lane, 2147483647)
        ORDER BY w.lane DESC, w.fence DESC LIMIT 1;
        EXIT WHEN NOT FOUND;
        UPDATE semel.writer w SET seen = p_at
        WHERE w.writer = note.writer AND w.lane = note.lane AND w.fence = note.fence
              AND w.seen < p_at - a_day;
    END LOOP;
END $$;

-- Drops what is noted of processes that were not here for longer than anything that they could miss
-- is kept. Looks at a few connections, somewhere; `aged` has it that none of them counts as lost.
CREATE FUNCTION semel.drop_aged(p_at bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    looks      CONSTANT int := 16;
    thirty_days CONSTANT bigint := 2592000;
    kept       bigint := (SELECT max(greatest(r.retention, r.indeterminate_retention))
                          FROM semel.route r);
    oldest     bigint := semel.later(p_at, -greatest(kept, thirty_days));
    passed     bigint := (SELECT p.passed FROM semel.progress p);
    note       semel.writer;
    last_aged  bigint;
BEGIN
    note.writer := md5(random()::text);
    note.lane := 0;
    FOR i IN 1 .. looks LOOP
        SELECT * INTO note FROM semel.writer w
        WHERE (w.writer, w.lane) < (note.writer, note.lane)
        ORDER BY w.writer DESC, w.lane DESC, w.fence DESC LIMIT 1;
        IF NOT FOUND THEN  -- Around, to the end of the names.
            SELECT * INTO note FROM semel.writer w
            ORDER BY w.writer DESC, w.lane DESC, w.fence DESC LIMIT 1;
            EXIT WHEN NOT FOUND;
        END IF;
        CONTINUE WHEN note.seen >= oldest OR note.fence > passed;
        DELETE FROM semel.writer w WHERE w.writer = note.writer AND w.lane = note.lane;
        last_aged := greatest(last_aged, note.fence);
    END LOOP;
    UPDATE semel.progress SET aged = greatest(aged, last_aged) WHERE last_aged IS NOT NULL;
END $$;

CREATE FUNCTION semel.sweep(
    p_limit int, p_latest bigint, p_tells boolean,
    p_event_age bigint, p_event_count bigint,  -- Seconds; null: there is no log to trim.
    p_writer text,                             -- Now and then who asks, and lives; else null.
    OUT now bigint, OUT expired bigint, OUT owner_lost bigint,
    OUT more boolean,                          -- Null: another one is at it.
    OUT watched bytea[]                        -- Keys that somebody waits for (semel.wake), or null.
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
    IF coalesce(semel.judged(now, p_latest), 0) = 0 THEN
        RETURN;
    END IF;
    IF NOT pg_try_advisory_xact_lock(semel.lock_space(), semel.housekeeping()) THEN
        more := NULL;
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
        IF standing.watched THEN
            watched := watched || standing.key;
        END IF;
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

    -- Of these nobody waits for a lock: more of them, for as little as the rest takes.
    IF p_event_age IS NOT NULL
       AND semel.trim(now, 8 * p_limit, p_event_age * 1000000, p_event_count) THEN
        more := true;
    END IF;
    IF semel.drop_overtaken(now, 8 * p_limit) THEN
        more := true;
    END IF;
    PERFORM semel.renew(p_writer, now);
    IF NOT more THEN  -- There is time for what is noted of processes that are gone.
        PERFORM semel.drop_aged(now);
    END IF;
END $$;
