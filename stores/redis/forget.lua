-- needs: clock header windows changes
-- Erases what a tenant has completed, and empties what is open, in a stretch of the records.
--
-- ARGV[3]  behind this fence    ARGV[4]  up to this one    ARGV[5]  how many are looked at, at most
-- ARGV[6]  tenant    ARGV[7]  what names of records begin with
-- Replies with the fence to go on behind, or '', and how many were forgotten.
local forgotten = 0

local function empty(name, record)
  record.tenant, record.forgotten = '', true
  redis.call('SET', name, pack(name, record))
end

local entries = redis.call('XRANGE', ORDER, '(' .. ARGV[3], ARGV[4], 'COUNT', ARGV[5])
for _, entry in ipairs(entries) do
  local name = ARGV[7] .. entry[2][2]
  local record = read(name)
  if record and not record.forgotten and record.tenant == ARGV[6] and
      text(record.fence) .. '-0' == entry[1] then
    local over = is_over(record)
    if not over and record.state ~= FREED then
      forgotten = forgotten + 1
    end
    if over or record.state == FREED or record.state == COMPLETED then
      erase(name, record)
    else
      empty(name, record)
    end
  end
end
local last = entries[#entries]
return told('forgotten', #entries == tonumber(ARGV[5]) and string.match(last[1], '^%d+') or '',
  forgotten)
