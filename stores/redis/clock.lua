-- What every script begins with: the keys of its lane, and what time it is.
--
-- KEYS[1] to KEYS[7]  the lane's own keys, as named below
-- ARGV[1]  the latest time that this server can have without its clock having leapt
-- ARGV[2]  1: changes are written into the transition log
--
-- Times are microseconds since 1970. Numbers are doubles, exact up to 2^53; every time and every
-- fence stays below. Every reply begins with the time, and with 1 where the caller has not heard yet
-- that an operator has looked at the clock.
local META, ORDER, DUE, REFERENCES, UNKNOWN, SINCE, EVENTS = unpack(KEYS, 1, 7)
local SECOND = 1000000

local time = redis.call('TIME')
local now = time[1] * SECOND + time[2]

local function text(number)
  return string.format('%.0f', number)
end

-- A clock that has leapt ends no lease and no window.
local leapt, settled = false, 0
if now > tonumber(ARGV[1]) then
  local acknowledged = tonumber(redis.call('HGET', META, 'acknowledged') or 0)
  if tonumber(ARGV[1]) < acknowledged then
    settled = 1
  else
    leapt = true
    if redis.call('HEXISTS', META, 'id') == 1 then
      redis.pcall('HSETNX', META, 'suspect', 'the clock of the server leapt ahead by more than ' ..
        text((now - tonumber(ARGV[1])) / SECOND) .. ' s')
    end
  end
end

local function told(...)
  return {now, settled, ...}
end
