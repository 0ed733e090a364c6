-- Where events stand in the transition log: ids of its stream, in their order.
local function parts(id)
  local first, second = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(first), tonumber(second)
end

local function is_before(a, b)
  local a_first, a_second = parts(a)
  local b_first, b_second = parts(b)
  return a_first < b_first or (a_first == b_first and a_second < b_second)
end

local function last_given()
  local stream = redis.pcall('XINFO', 'STREAM', EVENTS)
  for at = 1, #stream, 2 do
    if stream[at] == 'last-generated-id' then
      return stream[at + 1]
    end
  end
  return '0-0'
end
