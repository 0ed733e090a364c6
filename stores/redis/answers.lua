-- What somebody who asks for a key is told of the record that stands there.
local function refusal(record, caller, guards, fingerprint)
  if record.caller ~= caller then
    return told('caller')
  end
  if record.guards ~= guards or record.fingerprint ~= fingerprint then
    return told('payload', record.reference)
  end
  return nil
end

local function held(name, record, left)
  if record.watched == 0 then
    -- Where there is no room for the mark, followers poll.
    redis.pcall('SETRANGE', name, 1, '\1')
  end
  return told('held', record.reference, math.max(0, math.ceil(left / 1000)))
end

local function outcome(name, record)
  if record.state == COMPLETED then
    return told('completed', record.reference,
      redis.call('GETRANGE', name, record.header_bytes, -1))
  end
  return told('indeterminate', record.reference, record.reason, record.status)
end
