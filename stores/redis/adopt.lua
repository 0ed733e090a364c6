-- needs: clock
-- Replaces what the keys of the store are made under.
--
-- ARGV[3]  the terms, as bytes
-- ARGV[4...]  for each name of a keyed route: the name, and `RETENTION UNKNOWN_FOR POLICY`
if redis.call('HEXISTS', META, 'id') == 0 then
  return told('unmarked')
end
redis.call('HSET', META, 'routes', ARGV[3], 'recall', '1')
for _, field in ipairs(redis.call('HKEYS', META)) do
  if string.sub(field, 1, 2) == 't:' then
    redis.call('HDEL', META, field)
  end
end
for at = 4, #ARGV, 2 do
  redis.call('HSET', META, 't:' .. ARGV[at], ARGV[at + 1])
end
return told('done')
