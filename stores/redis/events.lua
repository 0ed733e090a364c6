-- needs: clock places
-- A stretch of the transition log: behind which place it begins, and for each event its place and its
-- bytes. A place is `RUN:ID`: the server that gave it, and the id that it gave.
--
-- ARGV[3]  behind this place, or '': from the oldest that is kept    ARGV[4]  how many, at most
local trimmed, run = unpack(redis.call('HMGET', META, 'trimmed', 'run'))
trimmed, run = trimmed or '0-0', run or ''

local function place(id)
  return run .. ':' .. id
end

-- Of this run none comes behind the last, but where that was lost without a new one: an id of the
-- future was never given. What another run gave is here as far as it had come when this one began.
local function objection(its_run, id)
  local last = last_given()
  if its_run ~= run then
    last = redis.call('HGET', META, 'run:' .. its_run) or '0-0'
    return is_before(last, id) and 'gap' or nil
  end
  if not is_before(last, id) then
    return nil
  end
  local first = parts(id)
  return (first * 1000 > now or first == parts(last)) and 'never' or 'gap'
end

local after = trimmed
if ARGV[3] ~= '' then
  local its_run, id = string.match(ARGV[3], '^(%x*):(.+)$')
  local word = objection(its_run, id)
  if word or is_before(id, trimmed) then
    return told(word or 'gap', place(trimmed))
  end
  after = id
end
local reply = told('page', place(after))
if ARGV[4] == '0' then
  return reply
end
for _, entry in ipairs(redis.call('XRANGE', EVENTS, '(' .. after, '+', 'COUNT', ARGV[4])) do
  reply[#reply + 1] = place(entry[1])
  reply[#reply + 1] = entry[2][2]
end
return reply
