-- needs: clock
-- What the keys of the store were last made under.
local id, routes = unpack(redis.call('HMGET', META, 'id', 'routes'))
if not id then
  return told('unmarked')
end
return told('found', routes or '')
