-- needs: clock
-- Takes the oldest events out of the transition log. Replies with 1 if there are more to take.
--
-- ARGV[3]  the age from which they go    ARGV[4]  how many may stay    ARGV[5]  a batch
local doubted = is_doubted()
local count, batch = redis.call('XLEN', EVENTS), tonumber(ARGV[5])
local oldest = redis.call('XRANGE', EVENTS, '-', '+', 'COUNT', batch)
local too_many = count - tonumber(ARGV[4])
local last, taken = nil, 0
for at, entry in ipairs(oldest) do
  local at_ms = tonumber(string.match(entry[1], '^%d+'))
  if at > too_many and (doubted or (at_ms + 1) * 1000 > now - tonumber(ARGV[3])) then
    break
  end
  last, taken = entry[1], at
end
if not last then
  return told('trimmed', 0)
end
local first, second = string.match(last, '^(%d+)-(%d+)$')
redis.call('HSET', META, 'trimmed', last)
redis.call('XTRIM', EVENTS, 'MINID', first .. '-' .. text(tonumber(second) + 1))
return told('trimmed', taken == batch and 1 or 0)
