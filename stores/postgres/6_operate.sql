-- What operators see and say: stores/ledger.cc, Ledger::resolve and forget; stores/ledger_index.cc,
-- find and list.

-- A record as people see it. One whose window is over is as absent as a freed one.
CREATE VIEW semel.shown AS
SELECT s.key, s.reference, s.state, s.policy, s.fence, s.tenant, s.route, s.reason, s.status,
       s.lease_end, s.created_at, s.changed_at, s.forgotten,
       semel.end_of(s.state, s.changed_at, s.retention_today, s.indeterminate_retention_today)
           AS ends_at
FROM semel.standing s
WHERE s.state <> 'freed';

-- By key, or, where that is null, by reference.
CREATE FUNCTION semel.find(p_key bytea, p_reference bytea, p_latest bigint)
RETURNS TABLE (
    now bigint, key bytea, reference bytea, state semel.state, policy semel.policy, fence bigint,
    tenant bytea, route bytea, reason semel.reason, status int, lease_end bigint, created_at bigint,
    changed_at bigint, ends_at bigint, answer bytea
) LANGUAGE sql VOLATILE AS $$
WITH t AS MATERIALIZED (SELECT semel.clock() AS now)
SELECT t.now, s.key, s.reference, s.state, s.policy, s.fence, s.tenant, s.route, s.reason,
       s.status, s.lease_end, s.created_at, s.changed_at, s.ends_at, r.answer
FROM t, semel.shown s JOIN semel.record r ON r.key = s.key
WHERE s.key = coalesce(p_key, (SELECT o.key FROM semel.record o
                               WHERE o.reference = p_reference LIMIT 1))
  AND (s.ends_at IS NULL OR semel.judged(t.now, p_latest) < s.ends_at)
$$;

-- A page in the order of claims. It looks at up to `p_looks` records behind `p_after`, and each row
-- says how far that was; null: to the end. There is always a first row: without a key if none fits.
CREATE FUNCTION semel.list(
    p_state semel.state, p_tenant bytea, p_after bigint, p_limit int, p_looks int, p_latest bigint
) RETURNS TABLE (
    now bigint, looked_to bigint, key bytea, reference bytea, state semel.state,
    policy semel.policy, fence bigint, tenant bytea, route bytea, reason semel.reason, status int,
    lease_end bigint, created_at bigint, changed_at bigint, ends_at bigint
) LANGUAGE sql VOLATILE AS $$
WITH looked_at AS MATERIALIZED (
    -- One of the two is empty without a look. Unknown outcomes are few, and have their own index.
    (SELECT r.key, r.fence FROM semel.record r
     WHERE p_state IS DISTINCT FROM 'indeterminate' AND r.fence > p_after
     ORDER BY r.fence LIMIT p_looks)
    UNION ALL
    (SELECT r.key, r.fence FROM semel.record r
     WHERE p_state = 'indeterminate' AND r.state = 'indeterminate' AND r.fence > p_after
     ORDER BY r.fence LIMIT p_looks)
), t AS MATERIALIZED (
    SELECT semel.clock() AS now, CASE WHEN count(*) = p_looks THEN max(l.fence) END AS looked_to
    FROM looked_at l
)
SELECT t.now, t.looked_to, s.key, s.reference, s.state, s.policy, s.fence, s.tenant, s.route,
       s.reason, s.status, s.lease_end, s.created_at, s.changed_at, s.ends_at
FROM t LEFT JOIN LATERAL (
    SELECT o.* FROM looked_at l JOIN semel.shown o ON o.key = l.key
    WHERE (o.ends_at IS NULL OR semel.judged(t.now, p_latest) < o.ends_at)
      AND (p_state IS NULL OR o.state = p_state)
      AND (p_tenant IS NULL OR (o.tenant = p_tenant AND NOT o.forgotten))
    ORDER BY l.fence LIMIT p_limit
) s ON true
$$;

-- An operator's word on an unknown outcome. @return  done, not_found, not_unknown, attempt_alive;
-- and the key if somebody waits for it (semel.wake), else null.
CREATE FUNCTION semel.resolve(
    p_reference bytea, p_happened boolean, p_status int, p_answer bytea, p_latest bigint,
    p_tells boolean, OUT now bigint, OUT reply text, OUT watched bytea
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    standing   semel.standing;
    found_key  bytea;
    judged_now bigint;
    at         bigint;
BEGIN
    SELECT r.key INTO found_key FROM semel.record r WHERE r.reference = p_reference;
    PERFORM pg_advisory_xact_lock(semel.lock_of(found_key));
    now := semel.clock();
    judged_now := semel.judged(now, p_latest);
    at := least(now, p_latest);
    SELECT * INTO standing FROM semel.standing s
    WHERE s.key = found_key AND s.reference = p_reference;
    IF NOT FOUND OR semel.is_over(standing, judged_now) THEN
        reply := 'not_found';
    -- An operator is a reader too: a lease that ended in silence is an unknown outcome already.
    ELSIF standing.state <> 'indeterminate'
          AND NOT (standing.state = 'in_flight' AND judged_now >= standing.lease_end
                   AND standing.policy_today = 'EFFECTFUL') THEN
        reply := 'not_unknown';
    ELSIF p_happened THEN
        PERFORM semel.become_completed(standing, p_status, p_answer, at);
        reply := 'done';
    ELSIF judged_now < standing.lease_end THEN
        reply := 'attempt_alive';
    ELSE
        UPDATE semel.record r
        SET state = 'freed', changed_at = at, reason = NULL, status = NULL, postponed = NULL,
            due = semel.later(at, r.retention)
        WHERE r.key = found_key;
        reply := 'done';
    END IF;
    IF reply = 'done' AND standing.watched THEN
        watched := found_key;
    END IF;
    IF reply = 'done' AND p_tells THEN
        PERFORM semel.tell('resolved', at, found_key, p_reference, standing.fence,
                           standing.policy, standing.tenant, standing.route,
                           p_happened => p_happened);
    END IF;
END $$;

-- One bounded part of forgetting a tenant: its records among the next `p_looks` behind `p_after`,
-- at most `p_limit` of them. Done ones are erased, open ones lose the name.
-- @return  How far it came; null: to the end.
CREATE FUNCTION semel.forget(
    p_tenant bytea, p_after bigint, p_limit int, p_looks int, p_latest bigint,
    OUT now bigint, OUT forgotten bigint, OUT reached bigint
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    judged_now bigint;
    looks      bigint;
    keys       bytea[];
    last       bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(semel.lock_space(), semel.housekeeping());
    SELECT count(*), max(l.fence) INTO looks, reached
    FROM (SELECT r.fence FROM semel.record r WHERE r.fence > p_after
          ORDER BY r.fence LIMIT p_looks) l;
    SELECT array_agg(l.key ORDER BY l.fence), max(l.fence) INTO keys, last
    FROM (SELECT r.key, r.fence FROM semel.record r
          WHERE r.fence > p_after AND r.fence <= reached AND r.tenant = p_tenant
                AND NOT r.forgotten
          ORDER BY r.fence LIMIT p_limit) l;
    IF cardinality(keys) = p_limit THEN
        reached := last;
    ELSIF looks < p_looks THEN
        reached := NULL;
    END IF;
    -- All locks before the first write, for the order of transaction ids.
    PERFORM pg_advisory_xact_lock(semel.lock_of(l.key))
    FROM (SELECT k.key FROM unnest(keys) WITH ORDINALITY AS k (key, place)
          ORDER BY k.place OFFSET 0) l;
    now := semel.clock();
    judged_now := semel.judged(now, p_latest);
    WITH theirs AS MATERIALIZED (
        SELECT s.key, s.state, semel.is_over(s, judged_now) AS is_over
        FROM semel.standing s
        WHERE s.key = ANY (keys) AND s.tenant = p_tenant AND NOT s.forgotten
    ), erased AS (
        DELETE FROM semel.record r USING theirs t
        WHERE r.key = t.key AND (t.is_over OR t.state NOT IN ('in_flight', 'indeterminate'))
    ), emptied AS (
        UPDATE semel.record r SET tenant = '', forgotten = true FROM theirs t
        WHERE r.key = t.key AND NOT t.is_over AND t.state IN ('in_flight', 'indeterminate')
    )
    SELECT count(*) INTO forgotten FROM theirs t WHERE NOT t.is_over AND t.state <> 'freed';
END $$;

-- Up to so many records are counted, and more are estimated: of a store that an operator has left
-- alone for long it has to say so in time, too.
CREATE FUNCTION semel.health(
    OUT now bigint, OUT store_id text, OUT suspect text, OUT acknowledgements bigint,
    OUT accounted bigint, OUT contradicted bigint, OUT last_fence bigint, OUT records bigint,
    OUT indeterminate bigint, OUT oldest_indeterminate bigint
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    counted_max CONSTANT bigint := 10000;
BEGIN
    SELECT s.store_id, s.suspect, s.acknowledgements, s.accounted, s.contradicted
    INTO health.store_id, health.suspect, health.acknowledgements, health.accounted,
         health.contradicted
    FROM semel.store s;
    last_fence := semel.last_fence();
    SELECT count(*) INTO records
    FROM (SELECT FROM semel.record r LIMIT counted_max + 1) c;
    IF records > counted_max THEN
        SELECT greatest(records, c.reltuples::bigint) INTO records FROM pg_class c
        WHERE c.oid = 'semel.record'::regclass;
    END IF;
    SELECT count(*) INTO indeterminate
    FROM (SELECT FROM semel.record r WHERE r.state = 'indeterminate' LIMIT counted_max + 1) c;
    IF indeterminate > counted_max THEN
        SELECT greatest(indeterminate, c.reltuples::bigint) INTO indeterminate FROM pg_class c
        WHERE c.oid = 'semel.record_indeterminate'::regclass;
    END IF;
    SELECT r.changed_at INTO oldest_indeterminate FROM semel.record r
    WHERE r.state = 'indeterminate' ORDER BY r.changed_at LIMIT 1;
    now := semel.clock();
END $$;

-- The terms of the routes. Asked after an adoption, it is answered after it.
CREATE FUNCTION semel.routes(OUT now bigint, OUT routes bytea) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(semel.lock_space(), semel.adoption());
    SELECT s.routes INTO routes.routes FROM semel.store s;
    now := semel.clock();
END $$;

-- From now on the windows of these routes count too; of two of one name the longer ones.
CREATE FUNCTION semel.adopt(
    p_terms bytea, p_names bytea[], p_policies text[], p_retentions bigint[],
    p_indeterminate_retentions bigint[], p_not_after bigint, OUT now bigint
) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(semel.lock_space(), semel.adoption());
    now := semel.clock();
    IF now > p_not_after THEN
        RAISE EXCEPTION 'these routes come too late' USING ERRCODE = 'SML01';
    END IF;
    UPDATE semel.store SET routes = p_terms, routes_version = routes_version + 1;
    DELETE FROM semel.route;
    INSERT INTO semel.route (name, policy, retention, indeterminate_retention)
    SELECT a.name, max(a.policy::semel.policy), max(a.retention),
           CASE WHEN count(*) = count(a.indeterminate_retention)
                THEN max(a.indeterminate_retention) END
    FROM unnest(p_names, p_policies, p_retentions, p_indeterminate_retentions)
         AS a (name, policy, retention, indeterminate_retention)
    GROUP BY a.name;
END $$;
