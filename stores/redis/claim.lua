-- needs: clock header windows changes answers
-- Takes a key, or says what stands there; or takes the place of an abandoned holder.
--
-- KEYS[9]   the record
-- ARGV[3]   not granted later than this       ARGV[4]   who writes: a process
-- ARGV[5]   the last fence it was told here   ARGV[6]   the store that it has met
-- ARGV[7]   token            ARGV[8]   reference
-- ARGV[9]   caller           ARGV[10]  guards, or ''      ARGV[11]  fingerprint, or ''
-- ARGV[12]  policy           ARGV[13]  lease              ARGV[14]  retention, in seconds
-- ARGV[15]  retention while indeterminate, in seconds; -1: for ever
-- ARGV[16]  tenant           ARGV[17]  route
-- ARGV[18]  token of the holder whose place is taken, or ''      ARGV[19]  its fence
-- ARGV[20...]  tokens that nobody stands behind any more
local NAME = KEYS[9]
local FENCE_LEAP = 1000000
local MOST_FENCES = 2 ^ 53
local writer, known = ARGV[4], tonumber(ARGV[5])
local token, policy = ARGV[7], tonumber(ARGV[12])
local caller, guards, fingerprint = ARGV[9], ARGV[10], ARGV[11]
local asked = {retention = tonumber(ARGV[14]), unknown_for = tonumber(ARGV[15])}

-- By a clock that has leapt every call is; what stands there is told all the same.
if now > tonumber(ARGV[3]) and not leapt then
  return told('late')
end
local id, fence, suspect, written, cleared = unpack(redis.call('HMGET', META, 'id', 'fence',
  'suspect', 'w:' .. writer, 'cleared'))
if not id then
  return told('unmarked')
end
if id ~= ARGV[6] then
  return told('unmet')
end
fence = tonumber(fence)
if math.max(tonumber(written or 0), tonumber(cleared or 0)) < known then
  suspect = suspect or ('claims are missing that ' .. writer .. ' was granted: the store has ' ..
    (written or 'none') .. ' of it, and the last that it was told was ' .. text(known))
  fence = math.max(fence, known) + FENCE_LEAP
  redis.call('HSET', META, 'suspect', suspect, 'fence', text(fence), 'w:' .. writer, text(fence))
end

local function is_disowned(record)
  if record.state ~= IN_FLIGHT and
      (record.state ~= INDETERMINATE or record.reason ~= MARKED_BY_READER) then
    return false
  end
  for at = 20, #ARGV do
    if ARGV[at] == record.token then
      return true
    end
  end
  return false
end

local function grant(before, expired)
  if (suspect or leapt) and policy == EFFECTFUL then
    return told('suspect')
  end
  if now > tonumber(ARGV[3]) then
    return told('late')
  end
  fence = fence + 1
  if fence >= MOST_FENCES then
    return redis.error_reply('SEMELSPENT no fence is left')
  end
  local record = {state = IN_FLIGHT, watched = 0, policy = policy, reason = 0, status = 0,
    fence = fence, token = token, reference = ARGV[8], lease_end = now + tonumber(ARGV[13]),
    changed = now, created = now, retention = asked.retention, unknown_for = asked.unknown_for,
    caller = caller, guards = guards, fingerprint = fingerprint, tenant = ARGV[16],
    route = ARGV[17]}
  if before then
    if before.state == FREED then
      record.freed_token, record.freed_fence = before.token, before.fence
    end
    record.watched = before.watched
  end
  if before then
    redis.call('SET', NAME, pack(NAME, record))
    unindex(before)
  elseif not redis.call('SET', NAME, pack(NAME, record), 'NX') then
    return told('corrupt')  -- An empty string stands there.
  end
  if expired then
    log(EXPIRED, NAME, before, 0)
  end
  local known_as = text(fence)
  redis.call('HSET', META, 'fence', known_as, 'w:' .. writer, known_as)
  redis.call('XADD', ORDER, known_as .. '-0', 'k', key_of(NAME))
  redis.call('HSET', REFERENCES, record.reference, known_as)
  note_due(record)
  log(CLAIMED, NAME, record, 0)
  return told('granted', fence, expired and 1 or 0)
end

local record, corrupt = read_unless_empty(NAME)
if corrupt then
  return told('corrupt')
end
if not record then
  return grant(nil, false)
end
local stricter = math.max(record.policy, policy)
if ARGV[18] ~= '' and record.state == IN_FLIGHT and stricter == IDEMPOTENT and
    belongs(record, ARGV[18], tonumber(ARGV[19])) and is_lease_over(record) and
    not refusal(record, caller, guards, fingerprint) then
  return grant(record, false)
end
if record.state == FREED then
  return grant(record, false)
end
local disowned = is_disowned(record)
if is_over(record, asked) then
  return grant(record, not disowned)
end
if disowned then
  return grant(record, false)
end
local refused = refusal(record, caller, guards, fingerprint)
if refused then
  return refused
end
if record.state ~= IN_FLIGHT then
  return outcome(NAME, record)
end
if is_lease_over(record) then
  return told('abandoned', record.token, record.fence, record.reference, stricter)
end
if record.token == token then
  return told('granted', record.fence, 0)
end
return held(NAME, record, record.lease_end - now)
