-- needs: clock header windows changes
-- indeterminate -> completed, or -> freed: what an operator found out.
--
-- KEYS[9]  the record
-- ARGV[3]  reference    ARGV[4]  1: it happened, 0: it did not
-- ARGV[5]  the answer    ARGV[6]  the same without its payload
local NAME = KEYS[9]
local record, corrupt = read(NAME)
if corrupt then
  return told('corrupt')
end
if not record or record.reference ~= ARGV[3] or is_over(record) then
  return told('not found')
end
-- An operator is a reader too: a lease that ended in silence is an unknown outcome already.
local silent = record.state == IN_FLIGHT and is_lease_over(record) and
  stricter_policy(record) == EFFECTFUL
if record.state ~= INDETERMINATE and not silent then
  return told('not unknown')
end
if ARGV[4] == '0' then
  if not is_lease_over(record) then
    return told('alive')
  end
  transition(NAME, record, FREED)
  log(RESOLVED, NAME, record, 0, DID_NOT_HAPPEN)
  return told('done')
end
transition(NAME, record, COMPLETED, record.forgotten and ARGV[6] or ARGV[5])
log(RESOLVED, NAME, record, 0, HAPPENED)
return told('done')
