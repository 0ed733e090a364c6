-- needs: clock header windows changes
-- in_flight or indeterminate -> absent.
--
-- KEYS[9]  the record
-- ARGV[3]  token    ARGV[4]  fence; 0: any
-- ARGV[5]  a claim of this process may still arrive until then; 0: none is under way
local NAME = KEYS[9]
-- One that was granted as well: where it was asked for twice, the word that is still under way would
-- take the key again, with nobody behind it.
if now <= tonumber(ARGV[5]) then
  return told('ghosts')
end
local record, corrupt = read(NAME)
if corrupt then
  return told('corrupt')
end
if not record then
  return told('done')
end
if not belongs(record, ARGV[3], tonumber(ARGV[4])) then
  return told('stale')
end
if record.state == FREED then
  return told('done')
end
if record.state == COMPLETED then
  return told(is_over(record) and 'done' or 'stale')
end
erase(NAME, record)
log(RELEASED, NAME, record, 0)
return told('done')
