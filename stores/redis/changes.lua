-- How a record changes together with everything that finds it, and what is told of the change.
local WOKEN = 'semel:woken'
local MARKED_BY_READER = 4
local ENDS_ATTEMPT = {[1] = true, [3] = true, [5] = true}

local function key_of(name)
  return string.sub(name, -32)
end

local CLAIMED, ANSWERED, RELEASED, UNKNOWN_OUTCOME, RESOLVED, EXPIRED = 0, 1, 2, 3, 4, 5
local HAPPENED, DID_NOT_HAPPEN = 2, 1

-- status: of the answer, or of the upstream; 0: there is none.
local function log(kind, name, record, status, word)
  if ARGV[2] == '1' then
    redis.call('XADD', EVENTS, '*', 'e', struct.pack('<BBBBBHI8I8c32c16I4', VERSION, kind,
      record.policy, record.reason, word or 0, status, record.fence, now, key_of(name),
      record.reference, #record.tenant) .. record.tenant .. record.route)
  end
end

-- Followers of other processes wait for whoever ends a claim that one of them has seen.
local function wake(name, record)
  if record.watched == 1 then
    -- Who may write here need not be allowed to publish; then followers poll.
    redis.pcall('PUBLISH', WOKEN, key_of(name))
    record.watched = 0
  end
end

local function note_due(record)
  local due = due_at(record, record)
  if due then
    redis.call('ZADD', DUE, text(due), text(record.fence))
  else
    redis.call('ZREM', DUE, text(record.fence))
  end
end

local function note_unknown(record)
  redis.call('ZADD', UNKNOWN, text(record.fence), text(record.fence))
  redis.call('ZADD', SINCE, text(record.changed), text(record.fence))
end

local function forget_unknown(record)
  redis.call('ZREM', UNKNOWN, text(record.fence))
  redis.call('ZREM', SINCE, text(record.fence))
end

local function unindex(record)
  local fence = text(record.fence)
  redis.call('XDEL', ORDER, fence .. '-0')
  redis.call('ZREM', DUE, fence)
  redis.call('ZREM', POSTPONED, fence)
  redis.call('HDEL', REFERENCES, record.reference)
  if record.state == INDETERMINATE then
    forget_unknown(record)
  end
end

-- The record itself goes first: the server refuses the first write whole, or none.
local function transition(name, record, state, answer)
  local before = record.state
  local watched = {watched = record.watched}
  record.state, record.changed, record.watched = state, now, 0
  redis.call('SET', name, pack(name, record) .. (answer or ''))
  note_due(record)
  if before == INDETERMINATE then
    forget_unknown(record)
  end
  if state == INDETERMINATE then
    note_unknown(record)
  end
  wake(name, watched)
end

local function mark(name, record, reason, status)
  record.reason, record.status = reason, status
  if ENDS_ATTEMPT[reason] then
    record.lease_end = math.min(record.lease_end, now)
  end
  transition(name, record, INDETERMINATE)
  log(UNKNOWN_OUTCOME, name, record, status)
end

local function erase(name, record)
  redis.call('DEL', name)
  unindex(record)
  wake(name, record)
end
