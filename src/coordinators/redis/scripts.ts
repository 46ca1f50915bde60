import { createHash } from 'node:crypto'

/** A script that the server runs as a whole: nobody else's command comes between. */
export interface Script {
  readonly text: string
  /** What the server calls it once it knows it. */
  readonly sha: string
}

/**
 * The lease is a hash of its own key: `owner` (empty once it was released), `fence`, and `expires` in milliseconds of the
 * server's clock. It has no time to live, so that the fence outlives the lease.
 *
 * Numbers are written without an exponent, which Lua would give them from the fifteenth digit on.
 */
const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
`

const prelude = `${clock}
local function tell(topic, news) if news ~= '' then redis.pcall('PUBLISH', topic, news) end end
local lease = redis.call('HMGET', KEYS[1], 'owner', 'fence', 'expires')
`

/**
 * Whether the server may throw the key away is looked at before the key is made, on the server that will have it. INFO
 * is allowed to a script, which CONFIG is not, and says the same.
 *
 * A client that has lost its connection may send a command again: the same claim is granted once more, with its fence.
 *
 * That news cannot be told is no reason to fail: the lease is taken by then.
 */
const acquire = `
local owner, ttl, topic, granted, busy = unpack(ARGV)
local expires = tonumber(lease[3] or 0)
if expires > now and lease[1] == owner then return {'1', lease[2], '', 'known'} end
if expires > now then
  tell(topic, busy)
  return {'0', '', text(expires - now), ''}
end
local policy = 'known'
if not lease[3] then
  local memory = redis.pcall('INFO', 'memory')
  policy = type(memory) == 'string' and string.match(memory, 'maxmemory_policy:([%w-]+)') or 'unknown'
  if string.match(policy, '^allkeys') then return redis.error_reply('EVICTS ' .. policy) end
end
local fence = text(math.max(now, tonumber(lease[2] or 0) + 1))
redis.call('HSET', KEYS[1], 'owner', owner, 'fence', fence, 'expires', text(now + ttl))
tell(topic, granted)
return {'1', fence, '', policy}
`

const renew = `
local owner, fence, ttl = unpack(ARGV)
if lease[1] ~= owner or lease[2] ~= fence then return {'0'} end
redis.call('HSET', KEYS[1], 'expires', text(now + ttl))
return {'1'}
`

const release = `
local owner, fence, hold, topic, news = unpack(ARGV)
if lease[1] ~= owner or (fence ~= '' and lease[2] ~= fence) then return {'0'} end
redis.call('HSET', KEYS[1], 'owner', '', 'expires', text(now + hold))
tell(topic, news)
return {'1'}
`

const holder = `
if tonumber(lease[3] or 0) <= now then return {'0'} end
return {'1', lease[1], lease[2], text(lease[3] - now)}
`

/** Of each key how long it is taken for; nothing where it is free. */
const look = `
local left = {}
for place, key in ipairs(KEYS) do
  local owner, expires = unpack(redis.call('HMGET', key, 'owner', 'expires'))
  local isTaken = expires and (owner ~= '' or tonumber(expires) > now)
  left[place] = isTaken and text(expires - now) or ''
end
return left
`

const tell = `redis.call('PUBLISH', ARGV[1], ARGV[2]) return {'1'}`

export type ScriptName = 'acquire' | 'renew' | 'release' | 'holder' | 'look' | 'tell'

export const scripts: Readonly<Record<ScriptName, Script>> = {
  acquire: scriptOf(prelude + acquire),
  renew: scriptOf(prelude + renew),
  release: scriptOf(prelude + release),
  holder: scriptOf(prelude + holder),
  look: scriptOf(clock + look),
  tell: scriptOf(tell),
}

function scriptOf(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}
