-- needs: clock places
-- Compares what a process knows of the store with what the store says of the process.
--
-- ARGV[3]  who: a process    ARGV[4]  the store that it knew, or '': none
-- ARGV[5]  the last fence that it was told here    ARGV[6]  the number of lanes
-- ARGV[7]  the run of this server, as it says on each new connection, or '': of no new one
-- ARGV[8]  on a new one, too: the process that the server is, and how many keys that has evicted
-- Replies with the store, why it is suspect, or '', and the fence up to which this process misses
-- nothing here: a store that says less later has lost that, or is the one of before.
local FENCE_LEAP = 1000000
local writer, knew, known = ARGV[3], ARGV[4], tonumber(ARGV[5])
local id, format, lanes, fence, suspect, written, cleared = unpack(redis.call('HMGET', META, 'id',
  'format', 'lanes', 'fence', 'suspect', 'w:' .. writer, 'cleared'))
if not id or not fence then
  return told('unmarked')
end
if format ~= '1' or lanes ~= ARGV[6] then
  return told('foreign', format or '', lanes or '')
end
-- A server that took another one's place, or began anew, may lack what was read at the other. Up to
-- here both have one transition log: nothing is written on a connection that did not come by here.
local run = redis.call('HGET', META, 'run')
if ARGV[7] ~= '' and run ~= ARGV[7] then
  local fields = {'run', ARGV[7]}
  if run then
    fields[3], fields[4] = 'run:' .. run, last_given()
  end
  redis.call('HSET', META, unpack(fields))
end
local reason
if knew ~= '' and knew ~= id then
  -- An operator's word is about what those had been told there who had come here by then.
  local doubted, covered = unpack(redis.call('HMGET', META, 'doubted:' .. knew, 'before:' .. knew))
  if (tonumber(covered or '') or -1) < known then
    reason = 'the process ' .. writer .. ' knew the store ' .. knew .. ', and this is another one'
    redis.call('HSET', META, 'doubted:' .. knew, text(math.max(tonumber(doubted or 0), known)))
  end
elseif math.max(tonumber(written or 0), tonumber(cleared or 0)) < known then
  reason = 'claims are missing that ' .. writer .. ' was granted: the store has ' ..
    (written or 'none') .. ' of it, and the last that it was told was ' .. text(known)
end
-- Which ones a server dropped to make room nobody can say. What it did before the store was met for
-- the first time is none of the store's.
local function evicted_since(seen)
  local known_server, known = string.match(seen, '^(.*):(%d+)$')
  local server, evicted = string.match(ARGV[8], '^(.*):(%d+)$')
  return tonumber(evicted) - (server == known_server and tonumber(known) or 0)
end
if ARGV[8] then
  local seen = redis.call('HGET', META, 'evicted')
  if seen ~= ARGV[8] then
    local evicted = seen and evicted_since(seen) or 0
    if evicted > 0 then
      reason = reason or 'the server has dropped ' .. text(evicted) ..
        ' keys to make room, and claims may be among them'
    end
    redis.call('HSET', META, 'evicted', ARGV[8])
  end
end
if reason then
  fence = text(math.max(tonumber(fence), known) + FENCE_LEAP)
  suspect = suspect or reason
  redis.call('HSET', META, 'suspect', suspect, 'fence', fence, 'w:' .. writer, fence)
  cleared = fence
end
return told('met', id, suspect or '', cleared or '0')
