-- needs: clock
-- Erases the events of a tenant in a stretch of the transition log.
--
-- ARGV[3]  behind this id    ARGV[4]  how many are looked at, at most    ARGV[5]  tenant
-- Replies with the id to go on behind, or ''.
local HEAD = '<BBBBBHI8I8c32c16I4'
local entries = redis.call('XRANGE', EVENTS, '(' .. ARGV[3], '+', 'COUNT', ARGV[4])
for _, entry in ipairs(entries) do
  local bytes = entry[2][2]
  local _, _, _, _, _, _, _, _, _, _, tenant_bytes, at = struct.unpack(HEAD, bytes)
  if string.sub(bytes, at, at + tenant_bytes - 1) == ARGV[5] then
    redis.call('XDEL', EVENTS, entry[1])
  end
end
local last = entries[#entries]
return told('forgotten', #entries == tonumber(ARGV[4]) and last[1] or '')
