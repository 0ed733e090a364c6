-- What every script begins with: the keys of its lane, and what time it is.
--
-- KEYS[1] to KEYS[8]  the lane's own keys, as named below
-- ARGV[1]  the latest time that this server can have without its clock having leapt
-- ARGV[2]  1: changes are written into the transition log
--
-- Times are microseconds since 1970. Numbers are doubles, exact up to 2^53; every time and every
-- fence stays below. Every reply begins with the time, and with 1 where the caller has not heard yet
-- that an operator has looked at the clock, or 2 where it leapt and nobody has written that down.
-- POSTPONED: what is kept for its route's window of today, by the end of that.
local META, ORDER, DUE, REFERENCES, UNKNOWN, SINCE, EVENTS, POSTPONED = unpack(KEYS, 1, 8)
local SECOND = 1000000

local time = redis.call('TIME')
local now = time[1] * SECOND + time[2]

local function text(number)
  return string.format('%.0f', number)
end

-- A clock that has leapt ends no lease and no window. From here a call that lay somewhere for long
-- looks the same: the caller, who knows when the answer came, has it written down (doubt.lua).
local leapt, news = false, 0
if now > tonumber(ARGV[1]) then
  local acknowledged, written_down = unpack(redis.call('HMGET', META, 'acknowledged', 'leapt'))
  acknowledged = tonumber(acknowledged or 0)
  -- What was said of a clock that has been set back since was not said of this one.
  if tonumber(ARGV[1]) < acknowledged and acknowledged <= now then
    news = 1
  else
    leapt = true
    news = written_down and 0 or 2
  end
end

-- A leap that some process has seen counts for all, also for one that knows no other time, until an
-- operator has looked at the clock. Asked only where something would end.
local function is_doubted()
  return leapt or redis.call('HEXISTS', META, 'leapt') == 1
end

local function told(...)
  return {now, news, ...}
end
