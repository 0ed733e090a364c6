-- A record is one string: a header that is read alone, and behind it the answer of a completed one.
-- docs/record-format.md, "In Redis", has the bytes.
local IN_FLIGHT, COMPLETED, INDETERMINATE, FREED = 0, 1, 2, 3
local IDEMPOTENT, EFFECTFUL = 2, 3
local NEVER = -1
local VERSION = 1
local HAS_GUARDS, HAS_FINGERPRINT, HAS_FREED, FORGOTTEN = 1, 2, 4, 8
-- version, watched, checksum, length | state, policy, flags, reason, upstream status, fence, token,
-- reference, lease end, changed, created, retention, retention while indeterminate, caller
local BEGINNING, FIXED = '<BBc8I4', 'BBBBHI8c16c16I8I8I8I8i8c32'
local BEGINNING_BYTES, FIXED_BYTES = 14, 118
local MOST_HEADERS = 512

-- Covers the name too: a value that was copied under another key is none of it.
local function checksum(name, body)
  return string.sub(redis.sha1hex(name .. body), 1, 8)
end

local function pack(name, record)
  local flags, optional = 0, ''
  if record.guards ~= '' then
    flags, optional = HAS_GUARDS, record.guards
  end
  if record.fingerprint ~= '' then
    flags, optional = flags + HAS_FINGERPRINT, optional .. record.fingerprint
  end
  if record.freed_token then
    flags = flags + HAS_FREED
    optional = optional .. record.freed_token .. struct.pack('<I8', record.freed_fence)
  end
  if record.forgotten then
    flags = flags + FORGOTTEN
  end
  local body = struct.pack('<' .. FIXED, record.state, record.policy, flags, record.reason,
    record.status, record.fence, record.token, record.reference, record.lease_end, record.changed,
    record.created, record.retention, record.unknown_for, record.caller) .. optional ..
    struct.pack('<I4', #record.tenant) .. record.tenant .. record.route
  return struct.pack(BEGINNING, VERSION, record.watched, checksum(name, body),
    BEGINNING_BYTES + #body) .. body
end

local function unpack_header(name, bytes)
  if #bytes < BEGINNING_BYTES + FIXED_BYTES + 4 then
    return nil
  end
  local version, watched, sum, length = struct.unpack(BEGINNING, bytes)
  if version ~= VERSION or length < BEGINNING_BYTES + FIXED_BYTES + 4 then
    return nil
  end
  if length > #bytes then
    bytes = redis.call('GETRANGE', name, 0, length - 1)
    if length > #bytes then
      return nil
    end
  end
  local body = string.sub(bytes, BEGINNING_BYTES + 1, length)
  if sum ~= checksum(name, body) then
    return nil
  end
  local record = {watched = watched, header_bytes = length, guards = '', fingerprint = ''}
  local flags, at
  record.state, record.policy, flags, record.reason, record.status, record.fence, record.token,
    record.reference, record.lease_end, record.changed, record.created, record.retention,
    record.unknown_for, record.caller, at = struct.unpack('<' .. FIXED, body)
  if flags % 2 >= HAS_GUARDS then
    record.guards, at = struct.unpack('c32', body, at)
  end
  if flags % 4 >= HAS_FINGERPRINT then
    record.fingerprint, at = struct.unpack('c32', body, at)
  end
  if flags % 8 >= HAS_FREED then
    record.freed_token, record.freed_fence, at = struct.unpack('<c16I8', body, at)
  end
  record.forgotten = flags >= FORGOTTEN
  local tenant_bytes
  tenant_bytes, at = struct.unpack('<I4', body, at)
  record.tenant = string.sub(body, at, at + tenant_bytes - 1)
  record.route = string.sub(body, at + tenant_bytes)
  return record
end

-- The record; or nil, and true where what stands there is none of ours, or damaged. Of nothing at
-- all and of an empty string it cannot tell: nil and nil.
local function read_unless_empty(name)
  local bytes = redis.pcall('GETRANGE', name, 0, MOST_HEADERS - 1)
  if type(bytes) ~= 'string' then
    if string.sub(bytes.err, 1, 9) == 'WRONGTYPE' then
      return nil, true
    end
    error(bytes)
  end
  if bytes == '' then
    return nil, nil
  end
  local record = unpack_header(name, bytes)
  return record, record == nil
end

-- The same where an empty string is no absent record.
local function read(name)
  local record, corrupt = read_unless_empty(name)
  if corrupt == nil then
    return nil, redis.call('EXISTS', name) == 1
  end
  return record, corrupt
end

local function belongs(record, token, fence)
  return record.token == token and (fence == 0 or record.fence == fence)
end

local function is_lease_over(record)
  return now >= record.lease_end and not is_doubted()
end
