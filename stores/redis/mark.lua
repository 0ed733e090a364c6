-- needs: clock header windows changes
-- in_flight -> indeterminate.
--
-- KEYS[9]  the record
-- ARGV[3]  token    ARGV[4]  fence; 0: any    ARGV[5]  reason    ARGV[6]  upstream's status; 0: none
local NAME = KEYS[9]
local reason = tonumber(ARGV[5])
local record, corrupt = read(NAME)
if corrupt then
  return told('corrupt')
end
if not record or not belongs(record, ARGV[3], tonumber(ARGV[4])) or is_over(record) then
  return told('stale')
end
if record.state == INDETERMINATE then
  -- The outcome stays as first told; that the attempt is over is news that an operator waits for.
  if ENDS_ATTEMPT[reason] and now < record.lease_end then
    record.lease_end = now
    redis.call('SET', NAME, pack(NAME, record))
  end
  return told('done')
end
if record.state ~= IN_FLIGHT then
  return told('stale')
end
if reason == MARKED_BY_READER and not is_lease_over(record) then
  return told('stale')
end
mark(NAME, record, reason, tonumber(ARGV[6]))
return told('done')
