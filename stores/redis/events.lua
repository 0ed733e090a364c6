-- needs: clock
-- A stretch of the transition log: behind which id it begins, and for each event its id and its bytes.
--
-- ARGV[3]  behind this id, or '': from the oldest that is kept    ARGV[4]  how many, at most
local trimmed = redis.call('HGET', META, 'trimmed') or '0-0'

local function parts(position)
  local first, second = string.match(position, '^(%d+)-(%d+)$')
  return tonumber(first), tonumber(second)
end

local function is_before(a, b)
  local a_first, a_second = parts(a)
  local b_first, b_second = parts(b)
  return a_first < b_first or (a_first == b_first and a_second < b_second)
end

local function last_given()
  local stream = redis.pcall('XINFO', 'STREAM', EVENTS)
  for at = 1, #stream, 2 do
    if stream[at] == 'last-generated-id' then
      return stream[at + 1]
    end
  end
  return '0-0'
end

-- One that is later than the last may have been given before a fail-over, but never in the future.
local function was_never_given(position)
  local last = last_given()
  if not is_before(last, position) then
    return false
  end
  local first = parts(position)
  return first * 1000 > now or first == parts(last)
end

local after = ARGV[3] == '' and trimmed or ARGV[3]
if was_never_given(after) then
  return told('never')
end
if is_before(after, trimmed) then
  return told('gap', trimmed)
end
local reply = told('page', after)
if ARGV[4] == '0' then
  return reply
end
for _, entry in ipairs(redis.call('XRANGE', EVENTS, '(' .. after, '+', 'COUNT', ARGV[4])) do
  reply[#reply + 1] = entry[1]
  reply[#reply + 1] = entry[2][2]
end
return reply
