-- Marks a lane as part of a store, unless it is one already. One that held claims before, and whose
-- marker is gone, gives no fence again and is suspect: with its marker it lost who was told what.
--
-- KEYS[1] to KEYS[9]  the lane's own keys, the marker first
-- ARGV[1]  the store's id    ARGV[2]  the number of lanes    ARGV[3]  1: only look
-- ARGV[4]  the highest fence of the store's other lanes: above 0, and this lane had its part of them
-- Replies with the id that the lane has now, or ''; 1 if it had one before; and its fence, or what
-- it goes on from.
local FENCE_LEAP = 1000000
local MARKER, ORDER = KEYS[1], KEYS[2]

local id, fence = unpack(redis.call('HMGET', MARKER, 'id', 'fence'))
if id then
  return {id, 1, fence or '0'}
end

-- The order of claims remembers its last entry also when that has been taken out of it.
local function last_given()
  if redis.call('EXISTS', ORDER) == 1 then
    local facts = redis.call('XINFO', 'STREAM', ORDER)
    for at = 1, #facts, 2 do
      if facts[at] == 'last-generated-id' then
        return string.match(facts[at + 1], '^%d+')
      end
    end
  end
  if redis.call('EXISTS', unpack(KEYS)) > 0 then
    return nil
  end
  return '0'
end

local last = last_given()
if not last then
  return redis.error_reply('SEMELPARTS of a store there are parts, and neither its marker ' ..
    MARKER .. ' nor the order of its claims ' .. ORDER .. ': which fences were given is not ' ..
    'known; restore what is missing, or remove the keys that begin like these')
end
if ARGV[3] == '1' then
  return {'', 0, last}
end
fence = math.max(tonumber(last), tonumber(ARGV[4]))
if fence > 0 then
  fence = fence + FENCE_LEAP
  redis.call('HSET', MARKER, 'suspect', 'the marker of the store was lost, and with it who was ' ..
    'told of which claim')
end
redis.call('HSET', MARKER, 'format', '1', 'id', ARGV[1], 'lanes', ARGV[2], 'fence',
  string.format('%.0f', fence))
return {ARGV[1], 0, string.format('%.0f', fence)}
