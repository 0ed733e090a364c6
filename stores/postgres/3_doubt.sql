-- Whether records may have been lost, and an operator's word that all is as it should be.

-- The highest that was ever given; 0: none.
CREATE FUNCTION semel.last_fence() RETURNS bigint LANGUAGE sql STABLE
RETURN (SELECT CASE WHEN f.is_called THEN f.last_value ELSE 0 END FROM semel.fences f);

-- From now on unknown EFFECTFUL keys are refused, to all processes. No fence up to `p_fence` is
-- given again, nor a somewhat higher one that another process may have been told. `p_store` is the
-- store that the asker knows.
CREATE FUNCTION semel.doubt(
    p_because text, p_fence bigint DEFAULT 0, p_store text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    margin CONSTANT bigint := 1000000;
BEGIN
    UPDATE semel.store SET suspect = p_because WHERE suspect IS NULL;
    UPDATE semel.store SET doubted = doubted || jsonb_build_object(p_store, p_fence)
    WHERE p_store <> store_id AND (doubted ->> p_store)::bigint >= p_fence IS NOT TRUE;
    IF (p_fence > 0 OR p_store <> (SELECT s.store_id FROM semel.store s))
       AND semel.last_fence() <= p_fence + margin / 2 THEN
        PERFORM FROM semel.store FOR UPDATE;  -- One raises them, and the others see it.
        IF semel.last_fence() <= p_fence + margin / 2 THEN
            PERFORM setval('semel.fences', p_fence + margin);
        END IF;
    END IF;
END $$;

-- The clock was found ahead of what an asker holds possible. For whoever begins behind the leap
-- nothing ends either, until an operator has looked at it. Who has not heard yet that one has,
-- doubts nothing.
CREATE FUNCTION semel.doubt_clock(p_acknowledgements bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE semel.store s
    SET suspect = coalesce(s.suspect, 'the clock of the server has leapt ahead'), has_leapt = true
    WHERE NOT s.has_leapt AND s.acknowledgements = p_acknowledgements;
    RETURN FOUND;
END $$;

-- The highest fence that is noted for a connection of a process; null: none is.
CREATE FUNCTION semel.noted(p_writer text, p_lane int) RETURNS bigint LANGUAGE sql STABLE
RETURN (SELECT w.fence FROM semel.writer w WHERE w.writer = p_writer AND w.lane = p_lane
        ORDER BY w.fence DESC LIMIT 1);

-- For one process: is what it was told here still here, or in a store before this one, of which an
-- operator's word covers what those had been told who had come here by then? Where nothing is noted of it, it may have
-- been away for so long that its note was dropped: up to there nothing can be told, or is missed.
-- @return  Why not, in words; null: it is.
CREATE FUNCTION semel.loss_of(p_store text, p_writer text, p_lane int, p_fence bigint)
RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    store semel.store;
    found_fence bigint := semel.noted(p_writer, p_lane);
    aged bigint;
BEGIN
    SELECT * INTO store FROM semel.store;
    IF store.store_id IS DISTINCT FROM p_store THEN
        RETURN CASE WHEN (store.replaced ->> p_store)::bigint >= p_fence IS NOT TRUE
            THEN format('it is store %s, and a process that writes as %s knew store %s',
                        store.store_id, p_writer, p_store) END;
    END IF;
    SELECT p.aged INTO aged FROM semel.progress p;
    IF greatest(coalesce(found_fence, aged), store.accounted) < p_fence THEN
        RETURN format('%s was told of its claim %s, and the store has %s as its last one',
                      p_writer, p_fence, coalesce(found_fence::text, 'none'));
    END IF;
    RETURN NULL;
END $$;

-- What a process asks on each new connection, before anything else. Of a process that met no store
-- yet, `p_store` is null.
CREATE FUNCTION semel.meet(
    p_store text, p_writer text, p_lanes bigint[], p_fences bigint[], OUT now bigint,
    OUT format int, OUT store_id text, OUT suspect text, OUT acknowledgements bigint,
    OUT accounted bigint, OUT last_fence bigint
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    loss text;
BEGIN
    -- For the statements of this session: tables that were small when they were first planned grow.
    PERFORM set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false),
            set_config('plan_cache_mode', 'force_generic_plan', false);
    FOR i IN 0 .. cardinality(p_lanes) LOOP
        CONTINUE WHEN p_store IS NULL;
        loss := semel.loss_of(p_store, p_writer, p_lanes[i]::int, coalesce(p_fences[i], 0));
        IF loss IS NOT NULL THEN
            PERFORM semel.doubt(loss, coalesce(p_fences[i], 0), p_store);
        END IF;
    END LOOP;
    last_fence := semel.last_fence();  -- Before the rest: what is told with a doubt is accounted for.
    SELECT s.format, s.store_id, s.suspect, s.acknowledgements, s.accounted
    INTO meet.format, meet.store_id, meet.suspect, meet.acknowledgements, meet.accounted
    FROM semel.store s;
    now := semel.clock();
END $$;

-- The operator knows what was lost: claims up to the highest fence that anybody was told, and the
-- stores that were there before.
CREATE FUNCTION semel.acknowledge(p_fence bigint, OUT now bigint, OUT was_suspect boolean,
                                  OUT acknowledgements bigint, OUT store_id text,
                                  OUT accounted bigint)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    now := semel.clock();
    PERFORM FROM semel.store FOR UPDATE;
    IF semel.last_fence() < p_fence THEN
        PERFORM setval('semel.fences', p_fence);
    END IF;
    SELECT s.suspect IS NOT NULL INTO was_suspect FROM semel.store s;
    IF was_suspect THEN
        UPDATE semel.store s
        SET suspect = NULL, has_leapt = false, acknowledgements = s.acknowledgements + 1,
            accounted = greatest(s.accounted, semel.last_fence()), replaced = s.doubted;
    END IF;
    SELECT s.acknowledgements, s.store_id, s.accounted
    INTO acknowledge.acknowledgements, acknowledge.store_id, acknowledge.accounted
    FROM semel.store s;
END $$;
