-- needs: clock header windows changes
-- in_flight -> completed, and indeterminate or freed -> completed for late news.
--
-- KEYS[9]  the record
-- ARGV[3]  token    ARGV[4]  fence; 0: any
-- ARGV[5]  the answer    ARGV[6]  the same without its payload    ARGV[7]  its status
local NAME = KEYS[9]
local token, fence = ARGV[3], tonumber(ARGV[4])
local record, corrupt = read(NAME)
if corrupt then
  return told('corrupt')
end
if not record then
  return told('stale')
end
if record.freed_token == token and record.freed_fence == fence then
  redis.call('HINCRBY', META, 'contradicted', 1)
  return told('stale against word')
end
if not belongs(record, token, fence) or is_over(record) then
  return told('stale')
end
if record.state == COMPLETED then
  return told('done')
end
local freed = record.state == FREED
transition(NAME, record, COMPLETED, record.forgotten and ARGV[6] or ARGV[5])
log(ANSWERED, NAME, record, tonumber(ARGV[7]))
if freed then
  redis.call('HINCRBY', META, 'contradicted', 1)
  return told('done against word')
end
return told('done')
