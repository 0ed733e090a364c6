-- needs: clock header windows changes writers
-- A batch of housekeeping, by one process at a time.
--
-- KEYS[9]  recalled: what was postponed when other routes were adopted
-- ARGV[3]  who sweeps    ARGV[4]  how long nobody else does
-- ARGV[5]  how many records, at most    ARGV[6]  what names of records begin with
-- Replies with how many expired, how many were marked, and 1 if there are more.
local RECALLED = KEYS[9]
local expired, marked = 0, 0

local function postpone(fence, moment)
  redis.call('ZREM', DUE, fence)
  if moment then
    redis.call('ZADD', POSTPONED, text(moment), fence)
  else
    redis.call('ZADD', POSTPONED, '+inf', fence)
  end
end

local function examine(fence, from)
  local entry = redis.call('XRANGE', ORDER, fence .. '-0', fence .. '-0')[1]
  local name = entry and ARGV[6] .. entry[2][2]
  local record, corrupt
  if name then
    record, corrupt = read(name)
  end
  -- Not sooner: one that cannot be read now, because its slot is on its way, is read another time.
  if from ~= DUE then
    redis.call('ZREM', from, fence)
  end
  if not record or text(record.fence) ~= fence then
    redis.call('ZREM', DUE, fence)
    if not corrupt then
      redis.call('XDEL', ORDER, fence .. '-0')
      redis.call('ZREM', UNKNOWN, fence)
      redis.call('ZREM', SINCE, fence)
    end
    return
  end
  if not has_passed(due_at(record, record)) then
    return note_due(record)
  end
  if record.state == IN_FLIGHT and stricter_policy(record) == EFFECTFUL then
    mark(name, record, MARKED_BY_READER, 0)
    marked = marked + 1
    return
  end
  local terms = today(record.route)
  local due = due_at(record, terms and longer(record, terms) or record)
  if not has_passed(due) then
    return postpone(fence, due)
  end
  erase(name, record)
  if record.state ~= FREED then
    expired = expired + 1
    log(EXPIRED, name, record, 0)
  end
end

local id, sweeper, swept_until, recall = unpack(redis.call('HMGET', META, 'id', 'sweeper',
  'swept_until', 'recall'))
if not id then
  return told('unmarked')
end
attend(ARGV[3])
-- Longer than that it is nobody's: the clock has been set back.
local is_taken = sweeper and sweeper ~= ARGV[3] and now < tonumber(swept_until) and
  tonumber(swept_until) <= now + tonumber(ARGV[4])
if is_taken or is_doubted() then
  return told('swept', 0, 0, 0)
end
end_rows()
if recall and redis.call('EXISTS', RECALLED) == 0 then
  redis.call('HDEL', META, 'recall')
  if redis.call('EXISTS', POSTPONED) == 1 then
    redis.call('RENAME', POSTPONED, RECALLED)
  end
end

local limit, due = tonumber(ARGV[5]), {}
for _, from in ipairs({RECALLED, POSTPONED, DUE}) do
  local before = from == RECALLED and '+inf' or text(now)
  for _, fence in ipairs(redis.call('ZRANGEBYSCORE', from, '-inf', before, 'LIMIT', 0,
      limit + 1 - #due)) do
    due[#due + 1] = {fence = fence, from = from}
  end
end
if #due > 0 then
  redis.call('HSET', META, 'sweeper', ARGV[3], 'swept_until', text(now + tonumber(ARGV[4])))
end
for at = 1, math.min(limit, #due) do
  examine(due[at].fence, due[at].from)
end
return told('swept', expired, marked, #due > limit and 1 or 0)
