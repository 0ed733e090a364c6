-- needs: clock header windows answers
-- What stands under earlier keys of a call. Nobody claims them any more: nothing is taken, and
-- nothing there can change to permission.
--
-- KEYS[9...]  the records, in the order in which they count
-- ARGV[3]  policy    ARGV[4]  retention, in seconds
-- ARGV[5]  retention while indeterminate, in seconds; -1: for ever
-- ARGV[6...]  caller, guards or '', fingerprint or '': three for each record
local policy = tonumber(ARGV[3])
local asked = {retention = tonumber(ARGV[4]), unknown_for = tonumber(ARGV[5])}

local function answer(name, caller, guards, fingerprint)
  local record, corrupt = read(name)
  if corrupt then
    return told('corrupt')
  end
  if not record or record.state == FREED or is_over(record, asked) then
    return nil
  end
  local refused = refusal(record, caller, guards, fingerprint)
  if refused then
    return refused
  end
  if record.state ~= IN_FLIGHT then
    return outcome(name, record)
  end
  if not is_lease_over(record) then
    return held(name, record, record.lease_end - now)
  end
  -- A silent holder: of an IDEMPOTENT call there is nothing to fear, of another the sweep will say
  -- that its outcome is unknown.
  if math.max(record.policy, policy) == EFFECTFUL then
    return held(name, record, 0)
  end
  return nil
end

for at = 9, #KEYS do
  local first = 6 + 3 * (at - 9)
  local stands = answer(KEYS[at], ARGV[first], ARGV[first + 1], ARGV[first + 2])
  if stands then
    return stands
  end
end
return told('free')
