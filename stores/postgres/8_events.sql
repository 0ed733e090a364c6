-- Reading the transition log.

-- A page behind the place (`p_xid`, `p_seq`, `p_at`), or, where that is null, from the oldest that is
-- kept, in the order in which transitions became known. What runs still may come before what is here
-- already: only up to the oldest of that. There is always a first row, without a key if there is no
-- event: it says what the log has.
--
-- A place is where an event stands or stood. After a fail-over that lost some, or an older copy that
-- was put back, transactions of the same numbers are others: when it happened tells. What is not
-- here was lost, and what is here in its place was not read: `is_known` is false, and there is no
-- event.
CREATE FUNCTION semel.events(p_xid xid8, p_seq bigint, p_at bigint, p_limit int)
RETURNS TABLE (
    store_id text, trimmed_xid xid8, trimmed_seq bigint, trimmed_at bigint, is_known boolean,
    xid xid8, seq bigint, kind semel.event_kind, key bytea, reference bytea, fence bigint,
    policy semel.policy, tenant bytea, route bytea, reason semel.reason, status int,
    happened boolean, at bigint
) LANGUAGE sql STABLE AS $$
SELECT s.store_id, p.trimmed_xid, p.trimmed_seq, p.trimmed_at, k.is_known, e.*
FROM semel.store s CROSS JOIN semel.progress p CROSS JOIN LATERAL (
    SELECT p_xid IS NULL OR (p_xid, p_seq, p_at) = (p.trimmed_xid, p.trimmed_seq, p.trimmed_at)
        OR EXISTS (SELECT FROM semel.event o
                   WHERE o.xid = p_xid AND o.seq = p_seq AND o.at = p_at)
        OR EXISTS (SELECT FROM semel.erased_event o
                   WHERE o.xid = p_xid AND o.seq = p_seq AND o.at = p_at) AS is_known
) k LEFT JOIN LATERAL (
    SELECT o.xid, o.seq, o.kind, o.key, o.reference, o.fence, o.policy, o.tenant, o.route,
           o.reason, o.status, o.happened, o.at
    FROM semel.event o
    WHERE (o.xid, o.seq) > (coalesce(p_xid, '0'), coalesce(p_seq, 0))
          AND o.xid < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY o.xid, o.seq LIMIT p_limit
) e ON k.is_known
$$;

-- One bounded part of forgetting a tenant's events: among the next `p_looks` behind a position.
-- @return  How far it came; null: to the end.
CREATE FUNCTION semel.forget_events(
    p_tenant bytea, p_xid xid8, p_seq bigint, p_looks int, OUT reached_xid xid8,
    OUT reached_seq bigint
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    looks bigint;
BEGIN
    WITH looked_at AS MATERIALIZED (
        SELECT e.xid, e.seq, e.tenant FROM semel.event e
        WHERE (e.xid, e.seq) > (p_xid, p_seq) ORDER BY e.xid, e.seq LIMIT p_looks
    ), erased AS (
        DELETE FROM semel.event e USING looked_at l
        WHERE e.xid = l.xid AND e.seq = l.seq AND l.tenant = p_tenant
        RETURNING e.xid, e.seq, e.at
    ), kept AS (
        INSERT INTO semel.erased_event (xid, seq, at) SELECT e.xid, e.seq, e.at FROM erased e
    )
    SELECT (SELECT count(*) FROM looked_at), l.xid, l.seq INTO looks, reached_xid, reached_seq
    FROM looked_at l ORDER BY l.xid DESC, l.seq DESC LIMIT 1;
    IF looks < p_looks OR looks IS NULL THEN
        reached_xid := NULL;
        reached_seq := NULL;
    END IF;
END $$;
