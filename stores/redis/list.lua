-- needs: clock header windows
-- A stretch of the records in the order of their claims. Their names are known to the order alone;
-- they lie in the lane's own slot.
--
-- ARGV[3]  behind this fence    ARGV[4]  how many are looked at, at most
-- ARGV[5]  how many are shown, at most    ARGV[6]  state, or ''
-- ARGV[7]  1: of this tenant alone    ARGV[8]  tenant    ARGV[9]  what names of records begin with
-- Replies with the fence to go on behind, or '', and for each record its key, its header and when
-- its window ends.
local most, shown = tonumber(ARGV[4]), tonumber(ARGV[5])
local state = ARGV[6] ~= '' and tonumber(ARGV[6])

local function entries()
  if state ~= INDETERMINATE then
    return redis.call('XRANGE', ORDER, '(' .. ARGV[3], '+', 'COUNT', most)
  end
  local found = {}
  for at, fence in ipairs(redis.call('ZRANGEBYSCORE', UNKNOWN, '(' .. ARGV[3], '+inf', 'LIMIT', 0,
      most)) do
    found[at] = redis.call('XRANGE', ORDER, fence .. '-0', fence .. '-0')[1] or {fence .. '-0'}
  end
  return found
end

local function is_shown(record)
  if not record or record.state == FREED or (state and record.state ~= state) then
    return false
  end
  if ARGV[7] == '1' and (record.forgotten or record.tenant ~= ARGV[8]) then
    return false
  end
  return not is_over(record)
end

local reply, looked, last = told('page', ''), entries(), ''
for _, entry in ipairs(looked) do
  last = string.match(entry[1], '^%d+')
  if entry[2] then
    local name = ARGV[9] .. entry[2][2]
    local record = read(name)
    if is_shown(record) and text(record.fence) == last then
      reply[#reply + 1] = entry[2][2]
      reply[#reply + 1] = redis.call('GETRANGE', name, 0, record.header_bytes - 1)
      reply[#reply + 1] = text(end_by_today(record) or NEVER)
      shown = shown - 1
      if shown == 0 then
        break
      end
    end
  end
end
if shown == 0 or #looked == most then
  reply[4] = last
end
return reply
