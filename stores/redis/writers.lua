-- How long the row of a process is kept that is not there any more. Days are counted, one at a time:
-- a clock that leapt, and that an operator has let count, passes one of them and not all.
local DAY = 86400 * SECOND
local DAYS_KEPT = 400  -- More than the longest window of a record.
local ROWS_LOOKED_AT = 256

local function seen_in_words(day, fence)
  return text(day) .. ' ' .. fence
end

-- Notes on which day that process was there, while it has a row.
local function attend(writer)
  local day, fence, seen = unpack(redis.call('HMGET', META, 'day', 'w:' .. writer, 's:' .. writer))
  if day and fence and (not seen or string.match(seen, '^%d+') ~= day) then
    redis.call('HSET', META, 's:' .. writer, seen_in_words(tonumber(day), fence))
  end
end

-- A row is ended that no claim has changed for so many days, and whose process was not there. One
-- that comes back all the same finds none and is suspect: what is not known is no permission.
local function look_at_row(day, writer, fence)
  local seen = redis.call('HGET', META, 's:' .. writer)
  local seen_day, seen_fence = string.match(seen or '', '^(%d+) (%d+)$')
  if seen_fence ~= fence then
    redis.call('HSET', META, 's:' .. writer, seen_in_words(day, fence))
  elseif day - tonumber(seen_day) > DAYS_KEPT then
    redis.call('HDEL', META, 'w:' .. writer, 's:' .. writer)
  end
end

-- Once a day all rows are looked at, some in each call.
local function end_rows()
  local day, day_ends, looked_to = unpack(redis.call('HMGET', META, 'day', 'day_ends', 'looked_to'))
  day = tonumber(day or 0)
  -- One that ends later than a day from now began before the clock was set back.
  local lasts = day_ends and now < tonumber(day_ends) and tonumber(day_ends) <= now + DAY
  if not lasts then
    day, looked_to = day + 1, '0'
    redis.call('HSET', META, 'day', text(day), 'day_ends', text(now + DAY), 'looked_to', looked_to)
  end
  if not looked_to then
    return
  end
  local found = redis.call('HSCAN', META, looked_to, 'MATCH', 'w:*', 'COUNT', ROWS_LOOKED_AT)
  for at = 1, #found[2], 2 do
    look_at_row(day, string.sub(found[2][at], 3), found[2][at + 1])
  end
  if found[1] == '0' then
    redis.call('HDEL', META, 'looked_to')
  else
    redis.call('HSET', META, 'looked_to', found[1])
  end
end
