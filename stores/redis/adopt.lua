-- needs: clock
-- Replaces what the keys of the store are made under.
--
-- ARGV[3]  not adopted later than this
-- ARGV[4]  another adoption by this process may still arrive until then; 0: none is under way
-- ARGV[5]  the terms, as bytes
-- ARGV[6...]  for each name of a keyed route: the name, and `RETENTION UNKNOWN_FOR POLICY`
if redis.call('HEXISTS', META, 'id') == 0 then
  return told('unmarked')
end
if now > tonumber(ARGV[3]) then
  return told('late')
end
if now <= tonumber(ARGV[4]) then
  return told('ghosts')
end
redis.call('HSET', META, 'routes', ARGV[5], 'recall', '1')
for _, field in ipairs(redis.call('HKEYS', META)) do
  if string.sub(field, 1, 2) == 't:' then
    redis.call('HDEL', META, field)
  end
end
for at = 6, #ARGV, 2 do
  redis.call('HSET', META, 't:' .. ARGV[at], ARGV[at + 1])
end
return told('done')
