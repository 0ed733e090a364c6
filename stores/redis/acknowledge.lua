-- needs: clock
-- An operator's word that the lane is what it should be. Replies with 1 if it was suspect,
-- and the fence up to which nobody misses a claim.
local id, fence, suspect, cleared = unpack(redis.call('HMGET', META, 'id', 'fence', 'suspect',
  'cleared'))
if not id then
  return told('unmarked')
end
if not suspect and not leapt then
  return told('done', 0, cleared or '0')
end
for _, field in ipairs(redis.call('HKEYS', META)) do
  if string.sub(field, 1, 8) == 'doubted:' then
    redis.call('HSET', META, 'before:' .. string.sub(field, 9), redis.call('HGET', META, field))
    redis.call('HDEL', META, field)
  end
end
-- Of claims up to this fence nobody misses one any more, also who has not noticed yet.
redis.call('HSET', META, 'acknowledged', text(now), 'cleared', fence)
redis.call('HDEL', META, 'suspect', 'leapt')
return told('done', 1, fence)
