-- Ending a claim: stores/ledger.cc, Ledger::record, release and mark_indeterminate. Each names its
-- attempt by key, token and fence, and says whether somebody waits for its end (semel.wake): also
-- where it is repeated, for the first answer may have been lost.

-- in_flight -> completed; also late news of an indeterminate or freed attempt.
CREATE FUNCTION semel.record(
    p_key bytea, p_token bytea, p_fence bigint, p_status int, p_answer bytea, p_latest bigint,
    p_tells boolean, OUT now bigint, OUT reply text, OUT watched boolean
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    locked   text := pg_advisory_xact_lock(semel.lock_of(p_key))::text;
    standing semel.standing;
    at       bigint;
    ended    record;
BEGIN
    now := semel.clock();
    at := least(now, p_latest);
    -- Of a claim that is open, as nearly always: one write, without a look before.
    UPDATE semel.record r
    SET state = 'completed', changed_at = at, status = p_status,
        answer = CASE WHEN NOT r.forgotten THEN p_answer END, due = semel.later(at, r.retention),
        postponed = NULL
    WHERE r.key = p_key AND r.token = p_token AND p_fence IN (0, r.fence) AND r.state = 'in_flight'
    RETURNING 'done' AS reply, r.watched, r.reference, r.fence, r.policy, r.tenant, r.route
    INTO ended;
    IF FOUND THEN
        reply := ended.reply;
        watched := ended.watched;
    ELSE
        SELECT * INTO standing FROM semel.standing s WHERE s.key = p_key;
        IF standing.freed_token = p_token AND standing.freed_fence = p_fence THEN
            reply := 'stale_against_word';
        ELSIF semel.belongs(standing, p_token, p_fence) IS NOT TRUE
              OR semel.is_over(standing, semel.judged(now, p_latest)) THEN
            reply := 'stale';
        ELSE
            reply := CASE standing.state WHEN 'freed' THEN 'done_against_word' ELSE 'done' END;
        END IF;
        IF reply LIKE '%_against_word' THEN
            UPDATE semel.store SET contradicted = contradicted + 1;
        END IF;
        watched := reply LIKE 'done%' AND standing.watched;
        IF reply LIKE 'stale%' OR standing.state = 'completed' THEN
            RETURN;
        END IF;
        PERFORM semel.become_completed(standing, p_status, p_answer, at);
        ended := standing;
    END IF;
    IF p_tells THEN
        PERFORM semel.tell('completed', at, p_key, ended.reference, ended.fence, ended.policy,
                           ended.tenant, ended.route, p_status => p_status);
    END IF;
END $$;

-- in_flight, or indeterminate by late news -> absent.
CREATE FUNCTION semel.release(
    p_key bytea, p_token bytea, p_fence bigint, p_latest bigint, p_tells boolean,
    OUT now bigint, OUT reply text, OUT watched boolean
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    locked   text := pg_advisory_xact_lock(semel.lock_of(p_key))::text;
    standing semel.standing;
BEGIN
    now := semel.clock();
    reply := 'done';
    watched := false;
    SELECT * INTO standing FROM semel.standing s WHERE s.key = p_key;
    IF standing.key IS NULL THEN
        RETURN;
    END IF;
    IF NOT semel.belongs(standing, p_token, p_fence)
       OR (standing.state = 'completed'
           AND NOT semel.is_over(standing, semel.judged(now, p_latest))) THEN
        reply := 'stale';
    ELSIF standing.state IN ('in_flight', 'indeterminate') THEN
        DELETE FROM semel.record r WHERE r.key = p_key;
        watched := standing.watched;
        IF p_tells THEN
            PERFORM semel.tell('released', least(now, p_latest), p_key, standing.reference,
                               standing.fence, standing.policy, standing.tenant, standing.route);
        END IF;
    END IF;
END $$;

-- in_flight -> indeterminate. `owner_lost` is a reader's word, and taken once the lease is over.
CREATE FUNCTION semel.mark(
    p_key bytea, p_token bytea, p_fence bigint, p_reason semel.reason, p_status int,
    p_latest bigint, p_tells boolean, OUT now bigint, OUT reply text, OUT watched boolean
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    locked     text := pg_advisory_xact_lock(semel.lock_of(p_key))::text;
    standing   semel.standing;
    judged_now bigint;
BEGIN
    now := semel.clock();
    judged_now := semel.judged(now, p_latest);
    reply := 'stale';
    watched := false;
    SELECT * INTO standing FROM semel.standing s WHERE s.key = p_key;
    IF semel.belongs(standing, p_token, p_fence) IS NOT TRUE
       OR semel.is_over(standing, judged_now) THEN
        RETURN;
    END IF;
    IF standing.state = 'indeterminate' THEN
        -- The outcome stays as first told; that the attempt is over is news that an operator waits
        -- for.
        IF semel.ends_attempt(p_reason) AND judged_now < standing.lease_end THEN
            UPDATE semel.record r SET lease_end = least(r.lease_end, mark.now)
            WHERE r.key = p_key;
        END IF;
        reply := 'done';
        watched := standing.watched;
    ELSIF standing.state = 'in_flight'
          AND (p_reason <> 'owner_lost' OR judged_now >= standing.lease_end) THEN
        PERFORM semel.become_indeterminate(standing, p_reason, p_status, least(now, p_latest),
                                           p_tells);
        reply := 'done';
        watched := standing.watched;
    END IF;
END $$;
