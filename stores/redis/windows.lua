-- How long a record is kept: the longest of its own window, of its route's of today and, for a
-- claim, of the one that asks. The field `t:ROUTE` of the lane has the route's.
local function today(route)
  local terms = redis.call('HGET', META, 't:' .. route)
  if not terms then
    return nil
  end
  local retention, unknown_for, policy = string.match(terms, '^(%d+) (-?%d+) (%d)$')
  if not retention then
    error({err = 'SEMELCORRUPT the terms of a route cannot be read'})
  end
  return {retention = tonumber(retention), unknown_for = tonumber(unknown_for),
    policy = tonumber(policy)}
end

local function longer(a, b)
  local unknown_for = NEVER
  if a.unknown_for ~= NEVER and b.unknown_for ~= NEVER then
    unknown_for = math.max(a.unknown_for, b.unknown_for)
  end
  return {retention = math.max(a.retention, b.retention), unknown_for = unknown_for}
end

-- nil: it has no window, or for ever.
local function end_of(record, window)
  if record.state == IN_FLIGHT then
    return nil
  end
  if record.state ~= INDETERMINATE then
    return record.changed + window.retention * SECOND
  end
  if window.unknown_for == NEVER then
    return nil
  end
  return record.changed + window.unknown_for * SECOND
end

local function has_passed(moment)
  return moment ~= nil and now >= moment and not is_doubted()
end

-- Today's terms only make a window longer, so they need not be read while the record's own is open.
local function is_over(record, asked)
  local own = asked and longer(record, asked) or record
  if not has_passed(end_of(record, own)) then
    return false
  end
  local terms = today(record.route)
  return not terms or has_passed(end_of(record, longer(own, terms)))
end

local function end_by_today(record)
  local terms = today(record.route)
  return end_of(record, terms and longer(record, terms) or record)
end

local function stricter_policy(record)
  local terms = today(record.route)
  return terms and math.max(record.policy, terms.policy) or record.policy
end

-- When the sweep has something to do with it, if ever.
local function due_at(record, window)
  if record.state ~= IN_FLIGHT then
    return end_of(record, window)
  end
  if record.policy == EFFECTFUL then
    return record.lease_end
  end
  if window.unknown_for == NEVER then
    return nil
  end
  return record.lease_end + window.unknown_for * SECOND
end
