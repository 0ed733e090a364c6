-- Marks a lane as part of a store, unless it is one already.
--
-- KEYS[1]  the lane's own marker
-- ARGV[1]  the store's id    ARGV[2]  the number of lanes    ARGV[3]  1: only look
-- Replies with the id that the lane has now, or '', and 1 if it had one before.
local id = redis.call('HGET', KEYS[1], 'id')
if id then
  return {id, 1}
end
if ARGV[3] == '1' then
  return {'', 0}
end
redis.call('HSET', KEYS[1], 'format', '1', 'id', ARGV[1], 'lanes', ARGV[2], 'fence', '0')
return {ARGV[1], 0}
