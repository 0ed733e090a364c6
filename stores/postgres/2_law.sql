-- What all transitions share: the time, the lock of a key, and how long a record counts. The law
-- itself is stores/ledger.cc; these functions are that file for many processes. They run as who
-- calls them, name everything in full, and read no clock but the server's.

-- Microseconds since 1970. A double holds them exactly until the year 2255.
CREATE FUNCTION semel.clock() RETURNS bigint LANGUAGE sql VOLATILE
RETURN (pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000000)::bigint;

-- Each transition holds this lock of its key from before its first look until its commit: the next
-- one sees what it did, absent keys are locked like others, and transaction ids rise in the order
-- of the transitions of one key, because none is drawn before.
CREATE FUNCTION semel.lock_of(p_key bytea) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN pg_catalog.hashtextextended(pg_catalog.encode(p_key, 'hex'), 0);

-- The other locks have two numbers, and cannot be those of keys. This is the first of theirs.
CREATE FUNCTION semel.lock_space() RETURNS int LANGUAGE sql IMMUTABLE RETURN 1397050701;
-- Who sweeps or forgets does so alone.
CREATE FUNCTION semel.housekeeping() RETURNS int LANGUAGE sql IMMUTABLE RETURN 1;
-- Who asks for the routes waits for who adopts some.
CREATE FUNCTION semel.adoption() RETURNS int LANGUAGE sql IMMUTABLE RETURN 2;

CREATE FUNCTION semel.later(at bigint, seconds bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN at + seconds * 1000000;

-- Windows may be null, which is longer than any other: never.
CREATE FUNCTION semel.longer(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE greatest(a, b) END;

-- A record as it counts today: of its own window and that of its route the longer one, of both
-- policies the stricter one.
CREATE VIEW semel.standing AS
SELECT r.*,
       greatest(r.policy, t.policy) AS policy_today,
       greatest(r.retention, t.retention) AS retention_today,
       CASE WHEN t.name IS NULL THEN r.indeterminate_retention
            ELSE semel.longer(r.indeterminate_retention, t.indeterminate_retention)
       END AS indeterminate_retention_today
FROM semel.record r LEFT JOIN semel.route t ON t.name = r.route;

-- When a window ends. Null: never; a claim has none, only its lease.
CREATE FUNCTION semel.end_of(
    p_state semel.state, p_changed_at bigint, p_retention bigint, p_indeterminate_retention bigint
) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE p_state WHEN 'in_flight' THEN NULL
                    WHEN 'indeterminate' THEN semel.later(p_changed_at, p_indeterminate_retention)
                    ELSE semel.later(p_changed_at, p_retention)
       END;

-- When housekeeping has something to do with it: an EFFECTFUL claim is marked at the end of its
-- lease, an IDEMPOTENT one is kept like an unknown outcome from there.
CREATE FUNCTION semel.due_of(
    p_state semel.state, p_policy semel.policy, p_lease_end bigint, p_changed_at bigint,
    p_retention bigint, p_indeterminate_retention bigint
) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN p_state <> 'in_flight'
                 THEN semel.end_of(p_state, p_changed_at, p_retention, p_indeterminate_retention)
            WHEN p_policy = 'EFFECTFUL' THEN p_lease_end
            ELSE semel.later(p_lease_end, p_indeterminate_retention)
       END;

-- The time by which windows and leases are judged. A clock that has leapt ahead of what the asker
-- holds possible ends none of them.
CREATE FUNCTION semel.judged(p_now bigint, p_latest bigint) RETURNS bigint LANGUAGE sql STABLE
RETURN CASE WHEN p_now <= p_latest AND NOT (SELECT s.has_leapt FROM semel.store s)
            THEN p_now ELSE 0 END;

CREATE FUNCTION semel.is_over(p_standing semel.standing, p_judged_now bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN coalesce(p_judged_now >= semel.end_of(p_standing.state, p_standing.changed_at,
                                             p_standing.retention_today,
                                             p_standing.indeterminate_retention_today), false);

-- Whether a new call finds the key free. Its own window may be longer still.
CREATE FUNCTION semel.is_absent(
    p_standing semel.standing, p_retention bigint, p_indeterminate_retention bigint,
    p_judged_now bigint
) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN p_standing.state = 'freed'
    OR coalesce(p_judged_now >= semel.end_of(
           p_standing.state, p_standing.changed_at, greatest(p_standing.retention_today, p_retention),
           semel.longer(p_standing.indeterminate_retention_today, p_indeterminate_retention)), false);

-- Fence 0 stands for any.
CREATE FUNCTION semel.belongs(p_standing semel.standing, p_token bytea, p_fence bigint)
RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN p_standing.token = p_token AND p_fence IN (0, p_standing.fence);

-- True where the reason itself proves that no further byte of the attempt can arrive: an operator
-- need not wait for the lease.
CREATE FUNCTION semel.ends_attempt(p_reason semel.reason) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN p_reason IN ('cut', 'upstream_status', 'unrecorded');

-- Wakes those who wait for the end of these records, in all processes. No transition does so itself:
-- a commit that notifies holds a lock that is one for all databases of the server. Each one says
-- whether somebody waits (`watched`), and who has heard that it is committed wakes them then.
CREATE FUNCTION semel.wake(p_keys bytea[]) RETURNS void LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT pg_catalog.pg_notify('semel_woken', pg_catalog.encode(k.key, 'hex'))
    FROM pg_catalog.unnest(p_keys) AS k (key);
END;

-- Writes an event down, in the transaction of the transition that it tells of.
CREATE FUNCTION semel.tell(
    p_kind semel.event_kind, p_at bigint, p_key bytea, p_reference bytea, p_fence bigint,
    p_policy semel.policy, p_tenant bytea, p_route bytea, p_reason semel.reason DEFAULT NULL,
    p_status int DEFAULT NULL, p_happened boolean DEFAULT NULL
) RETURNS void LANGUAGE sql VOLATILE
BEGIN ATOMIC
    INSERT INTO semel.event (at, fence, kind, policy, reason, status, happened, key, reference,
                             tenant, route)
    VALUES (p_at, p_fence, p_kind, p_policy, p_reason, p_status, p_happened, p_key, p_reference,
            p_tenant, p_route);
END;

-- in_flight -> indeterminate.
CREATE FUNCTION semel.become_indeterminate(
    p_standing semel.standing, p_reason semel.reason, p_status int, p_at bigint, p_tells boolean
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE semel.record r
    SET state = 'indeterminate', changed_at = p_at, reason = p_reason, status = p_status,
        lease_end = CASE WHEN semel.ends_attempt(p_reason) THEN least(r.lease_end, p_at)
                         ELSE r.lease_end END,
        due = semel.later(p_at, r.indeterminate_retention), postponed = NULL
    WHERE r.key = p_standing.key;
    IF p_tells THEN
        PERFORM semel.tell('indeterminate', p_at, p_standing.key, p_standing.reference,
                           p_standing.fence, p_standing.policy, p_standing.tenant,
                           p_standing.route, p_reason, p_status);
    END IF;
END $$;

-- -> completed. An answer of null: only its status is kept.
CREATE FUNCTION semel.become_completed(
    p_standing semel.standing, p_status int, p_answer bytea, p_at bigint
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE semel.record r
    SET state = 'completed', changed_at = p_at, status = p_status, reason = NULL, postponed = NULL,
        answer = CASE WHEN NOT r.forgotten THEN p_answer END,
        due = semel.later(p_at, r.retention)
    WHERE r.key = p_standing.key;
END $$;
