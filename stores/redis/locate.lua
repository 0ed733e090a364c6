-- needs: clock
-- The key of the attempt that has this reference.
--
-- ARGV[3]  reference
local fence = redis.call('HGET', REFERENCES, ARGV[3])
if not fence then
  return told('absent')
end
local entry = redis.call('XRANGE', ORDER, fence .. '-0', fence .. '-0')[1]
if not entry then
  return told('absent')
end
return told('found', entry[2][2])
