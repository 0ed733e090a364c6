-- needs: clock
-- What there is in a lane.
local id, fence, suspect, contradicted, cleared = unpack(redis.call('HMGET', META, 'id', 'fence',
  'suspect', 'contradicted', 'cleared'))
if not id then
  return told('unmarked')
end
local oldest = redis.call('ZRANGE', SINCE, 0, 0, 'WITHSCORES')
return told('found', id, fence, suspect or '', contradicted or '0', redis.call('XLEN', ORDER),
  redis.call('ZCARD', UNKNOWN), oldest[2] and text(tonumber(oldest[2])) or '',
  cleared or '0')
