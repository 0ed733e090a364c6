-- needs: clock header windows
-- A record as it stands, for people to read.
--
-- KEYS[9]  the record
-- ARGV[3]  its reference, or '': any
local record, corrupt = read(KEYS[9])
if corrupt then
  return told('corrupt')
end
if not record or record.state == FREED or is_over(record) or
    (ARGV[3] ~= '' and record.reference ~= ARGV[3]) then
  return told('absent')
end
return told('found', redis.call('GET', KEYS[9]), text(end_by_today(record) or NEVER))
