-- Taking a key: stores/ledger.cc, Ledger::claim, supersede and grant.

CREATE TYPE semel.claim_reply AS (
    now              bigint,
    reply            text,     -- granted, own (was granted to this token before), held, completed,
                               -- indeterminate, abandoned, caller_differs, payload_differs;
                               -- where nothing is known for sure: suspect, gone; nothing was
                               -- taken: late, for whoever asked has given it up; unmet: this is
                               -- another store than the asker knows.
    acknowledgements bigint,
    fence            bigint,
    expired_before   boolean,
    token            bytea,
    reference        bytea,
    lease_left       bigint,   -- Microseconds.
    policy           semel.policy,
    reason           semel.reason,
    status           int,
    answer           bytea
);

-- Bindings are compared before anything else, the caller's first. @return  Null: they are the same.
CREATE FUNCTION semel.refusal(
    p_standing semel.standing, p_caller bytea, p_guards bytea, p_fingerprint bytea
) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN p_standing.caller IS DISTINCT FROM p_caller THEN 'caller_differs'
            WHEN p_standing.guards IS DISTINCT FROM p_guards
                 OR p_standing.fingerprint IS DISTINCT FROM p_fingerprint THEN 'payload_differs'
       END;

-- What a caller is told of a record that is not absent.
CREATE FUNCTION semel.answer_of(
    p_standing semel.standing, p_caller bytea, p_guards bytea, p_fingerprint bytea, p_token bytea,
    p_policy semel.policy, p_now bigint, p_judged_now bigint
) RETURNS semel.claim_reply LANGUAGE plpgsql STABLE AS $$
DECLARE
    told semel.claim_reply;
BEGIN
    told.reply := semel.refusal(p_standing, p_caller, p_guards, p_fingerprint);
    IF told.reply = 'caller_differs' THEN
        RETURN told;
    END IF;
    told.reference := p_standing.reference;
    IF told.reply IS NOT NULL THEN
        RETURN told;
    END IF;
    CASE p_standing.state
        WHEN 'in_flight' THEN
            IF p_judged_now >= p_standing.lease_end THEN
                told.reply := 'abandoned';
                told.token := p_standing.token;
                told.fence := p_standing.fence;
                told.policy := greatest(p_standing.policy, p_policy);
            ELSIF p_standing.token = p_token THEN
                told.reply := 'own';
                told.fence := p_standing.fence;
                told.expired_before := false;
            ELSE
                told.reply := 'held';
                told.lease_left := greatest(p_standing.lease_end - p_now, 0);
            END IF;
        WHEN 'completed' THEN
            told.reply := 'completed';
            told.status := p_standing.status;
            told.answer := p_standing.answer;
        WHEN 'indeterminate' THEN
            told.reply := 'indeterminate';
            told.reason := p_standing.reason;
            told.status := p_standing.status;
    END CASE;
    RETURN told;
END $$;

-- What stands under an earlier key of the call; a reply of null: nothing does. Nobody claims under
-- such a key any more, so that nothing there can change to permission.
CREATE FUNCTION semel.answer_of_earlier(
    p_keys bytea[], p_callers bytea[], p_guards bytea[], p_fingerprints bytea[], p_token bytea,
    p_policy semel.policy, p_retention bigint, p_indeterminate_retention bigint, p_now bigint,
    p_judged_now bigint
) RETURNS semel.claim_reply LANGUAGE plpgsql STABLE AS $$
DECLARE
    standing semel.standing;
    told     semel.claim_reply;
BEGIN
    FOR i IN 1 .. coalesce(cardinality(p_keys), 0) LOOP
        SELECT * INTO standing FROM semel.standing s WHERE s.key = p_keys[i];
        CONTINUE WHEN NOT FOUND
            OR semel.is_absent(standing, p_retention, p_indeterminate_retention, p_judged_now);
        told := semel.answer_of(standing, p_callers[i], p_guards[i], p_fingerprints[i], p_token,
                                p_policy, p_now, p_judged_now);
        IF told.reply = 'abandoned' THEN
            -- A silent holder: of an IDEMPOTENT call there is nothing to fear, of another the sweep
            -- will say that its outcome is unknown.
            CONTINUE WHEN told.policy <> 'EFFECTFUL';
            told.reply := 'held';
            told.lease_left := 0;
        END IF;
        RETURN told;
    END LOOP;
    RETURN NULL;
END $$;

-- Notes for a process that it is told of a claim which was made before. Something is written in any
-- case, and no row is added beside a note that the sweep has passed: the highest one changes, if need
-- be its fence.
CREATE FUNCTION semel.note_again(p_writer text, p_lane int, p_fence bigint, p_at bigint)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE semel.writer w SET fence = greatest(w.fence, p_fence), seen = p_at
    WHERE w.writer = p_writer AND w.lane = p_lane AND w.fence = semel.noted(p_writer, p_lane);
    IF NOT FOUND THEN
        INSERT INTO semel.writer (writer, lane, fence, seen)
        VALUES (p_writer, p_lane, p_fence, p_at);
    END IF;
END $$;

-- Takes a key, or says why not. With `p_abandoned_token` it is a supersede.
CREATE FUNCTION semel.claim(
    p_store text, p_writer text, p_lane int,
    p_known_lane int, p_known_fence bigint,  -- The highest fence that the process was told, and where.
    p_acknowledgements bigint, p_latest bigint, p_not_after bigint, p_tells boolean,
    p_key bytea, p_token bytea, p_reference bytea, p_caller bytea, p_guards bytea,
    p_fingerprint bytea, p_policy semel.policy, p_tenant bytea, p_route bytea, p_lease bigint,
    p_retention bigint, p_indeterminate_retention bigint, p_disowned bytea[],
    p_earlier bytea[], p_earlier_callers bytea[], p_earlier_guards bytea[],
    p_earlier_fingerprints bytea[], p_abandoned_token bytea, p_abandoned_fence bigint
) RETURNS semel.claim_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    locked      text := pg_advisory_xact_lock(semel.lock_of(p_key))::text;
    now         bigint := semel.clock();
    judged_now  bigint := now;
    at          bigint := now;   -- What is written down.
    told        semel.claim_reply;
    store_id    text;
    fence       bigint;
    is_suspect  boolean;
    has_leapt   boolean;
    loss        text;
    is_taken    boolean;
    before      semel.standing;  -- What stands there, where something does.
    answer      semel.claim_reply;  -- To who may not have the key.
    is_disowned boolean;
    is_passed_on boolean;
    is_watched  boolean := false;
    freed_token bytea;
    freed_fence bigint;
BEGIN
    -- Of a free key in a whole store this look and one row are all, as nearly always.
    SELECT s.store_id, s.suspect IS NOT NULL, s.has_leapt, s.acknowledgements,
           greatest((SELECT w.fence FROM semel.writer w
                     WHERE w.writer = p_writer AND w.lane = p_known_lane
                           AND w.fence >= p_known_fence
                     ORDER BY w.fence DESC LIMIT 1), s.accounted),
           r.key IS NOT NULL
    INTO store_id, is_suspect, has_leapt, told.acknowledgements, fence, is_taken
    FROM semel.store s LEFT JOIN semel.record r ON r.key = p_key;

    told.now := now;
    IF store_id IS DISTINCT FROM p_store OR fence < p_known_fence THEN
        IF store_id IS DISTINCT FROM p_store THEN
            told.reply := CASE WHEN store_id IS NULL THEN 'gone' ELSE 'unmet' END;
            RETURN told;
        END IF;
        loss := semel.loss_of(p_store, p_writer, p_known_lane, p_known_fence);
        IF loss IS NOT NULL THEN
            PERFORM semel.doubt(loss, p_known_fence, p_store);
            is_suspect := true;
        END IF;
    END IF;
    IF has_leapt THEN
        judged_now := 0;  -- Whoever began behind the leap cannot tell by a clock of his own.
    END IF;
    IF now > p_latest AND told.acknowledgements = p_acknowledgements THEN
        is_suspect := true;
        judged_now := 0;
        at := p_latest;
        -- One that is late may just have stood in line for long, and shows no leap. If there was
        -- one, its asker learns the time from this answer, and its next claim is not late.
        IF now <= p_not_after THEN
            PERFORM semel.doubt_clock(p_acknowledgements);
        END IF;
    END IF;

    IF is_taken OR p_earlier IS NOT NULL THEN
        SELECT * INTO before FROM semel.standing s WHERE s.key = p_key;
        is_passed_on := before.state = 'in_flight' AND judged_now >= before.lease_end
            AND semel.belongs(before, p_abandoned_token, p_abandoned_fence)
            AND greatest(before.policy, p_policy) = 'IDEMPOTENT'
            AND semel.refusal(before, p_caller, p_guards, p_fingerprint) IS NULL;
        IF is_passed_on IS NOT TRUE THEN
            answer := semel.answer_of_earlier(
                p_earlier, p_earlier_callers, p_earlier_guards, p_earlier_fingerprints, p_token,
                p_policy, p_retention, p_indeterminate_retention, at, judged_now);
            is_disowned := before.token = ANY (p_disowned)
                AND (before.state = 'in_flight'
                     OR (before.state = 'indeterminate' AND before.reason = 'owner_lost'));
            IF answer.reply IS NULL AND is_taken AND is_disowned IS NOT TRUE AND NOT semel.is_absent(
                   before, p_retention, p_indeterminate_retention, judged_now) THEN
                answer := semel.answer_of(before, p_caller, p_guards, p_fingerprint, p_token,
                                          p_policy, at, judged_now);
                IF answer.reply = 'held' AND NOT before.watched THEN
                    UPDATE semel.record r SET watched = true WHERE r.key = p_key;
                ELSIF answer.reply = 'own' THEN
                    -- Told now for the first time, it may be. As something is written, this answer
                    -- waits for standbys as that of a new claim does.
                    PERFORM semel.note_again(p_writer, p_lane, answer.fence, at);
                END IF;
            END IF;
            IF answer.reply IS NOT NULL THEN
                answer.now := now;
                answer.acknowledgements := told.acknowledgements;
                RETURN answer;
            END IF;
        END IF;
    END IF;

    IF now > p_not_after THEN
        told.reply := 'late';
        RETURN told;
    END IF;
    IF is_suspect AND p_policy = 'EFFECTFUL' THEN
        told.reply := 'suspect';
        RETURN told;
    END IF;
    told.reply := 'granted';
    told.expired_before := false;
    IF is_taken THEN
        told.expired_before :=
            before.state NOT IN ('in_flight', 'freed') AND is_disowned IS NOT TRUE;
        is_watched := before.state = 'in_flight' AND before.watched;
        IF before.state = 'freed' THEN
            freed_token := before.token;
            freed_fence := before.fence;
        END IF;
        IF told.expired_before AND p_tells THEN
            PERFORM semel.tell('expired', at, p_key, before.reference, before.fence,
                               before.policy, before.tenant, before.route);
        END IF;
        DELETE FROM semel.record r WHERE r.key = p_key;
    END IF;
    INSERT INTO semel.record AS r (
        fence, lease_end, created_at, changed_at, retention, indeterminate_retention, due, state,
        policy, watched, key, token, reference, caller, guards, fingerprint, freed_fence,
        freed_token, tenant, route)
    VALUES (
        nextval('semel.fences'), at + p_lease, at, at, p_retention, p_indeterminate_retention,
        semel.due_of('in_flight', p_policy, at + p_lease, at, p_retention,
                     p_indeterminate_retention),
        'in_flight', p_policy, is_watched, p_key, p_token, p_reference, p_caller, p_guards,
        p_fingerprint, freed_fence, freed_token, p_tenant, p_route)
    RETURNING r.fence INTO told.fence;
    INSERT INTO semel.writer (writer, lane, fence, seen)
    VALUES (p_writer, p_lane, told.fence, at);
    IF p_tells THEN
        PERFORM semel.tell('claimed', at, p_key, p_reference, told.fence, p_policy, p_tenant,
                           p_route);
    END IF;
    -- However long all this has waited: a claim that the asker has given up is never made.
    IF semel.clock() > p_not_after THEN
        RAISE EXCEPTION 'this claim comes too late' USING ERRCODE = 'SML01';
    END IF;
    RETURN told;
END $$;
