/**
 * Reserves a place in all windows, or in none. A window has four keys: starts of calls, places that
 * have not begun, reserved tokens with their ends, and used tokens. Returns nothing, or the waits.
 *
 * KEYS: the keys of each window.
 *
 * ARGV: turn, tokens, ms for which a place is held, ms for which keys are kept, then requests,
 * period and tokens (or "") of each limit.
 */
export const TAKE_TURN = `
local time = redis.call("TIME")
local now = time[1] * 1000 + time[2] / 1000
local turn, tokens, held_ms, kept_ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local MARGIN = 2
local function text(number) return string.format("%.3f", number) end
local function starts_open(key, places, period)
  if places <= 0 then return math.huge end
  local start = redis.call("ZREVRANGE", key, places - 1, places - 1, "WITHSCORES")
  if #start == 0 then return 0 end
  return tonumber(start[2]) + period + MARGIN
end
local function tokens_open(spendings, used, most, period)
  if most == nil or used < most then return 0 end
  for i = 1, #spendings, 2 do
    used = used - tonumber(string.match(spendings[i], "[^:]+$"))
    if used < most then return tonumber(spendings[i + 1]) + period + MARGIN end
  end
  return math.huge
end
local open, waits = true, {}
for n = 0, #KEYS / 4 - 1 do
  local starts, places, ends, spent = KEYS[n * 4 + 1], KEYS[n * 4 + 2], KEYS[n * 4 + 3], KEYS[n * 4 + 4]
  local requests, period, most = tonumber(ARGV[n * 3 + 5]), tonumber(ARGV[n * 3 + 6]), tonumber(ARGV[n * 3 + 7])
  local bygone = text(now - period - MARGIN)
  redis.call("ZREMRANGEBYSCORE", starts, "-inf", bygone)
  redis.call("ZREMRANGEBYSCORE", spent, "-inf", bygone)
  redis.call("ZREMRANGEBYSCORE", places, "-inf", text(now))
  redis.call("ZREMRANGEBYSCORE", ends, "-inf", text(now))
  local held, reserved, used, spendings = redis.call("ZCARD", places), 0, 0, {}
  if most ~= nil then
    for _, one in ipairs(redis.call("ZRANGE", ends, 0, -1)) do reserved = reserved + tonumber(string.match(one, "[^:]+$")) end
    spendings = redis.call("ZRANGE", spent, 0, -1, "WITHSCORES")
    for i = 1, #spendings, 2 do used = used + tonumber(string.match(spendings[i], "[^:]+$")) end
  end
  local at = math.max(now, starts_open(starts, requests - held, period), tokens_open(spendings, used + reserved, most, period))
  local best = math.max(now, starts_open(starts, requests, period), tokens_open(spendings, used, most, period))
  if at > now then open = false end
  for _, instant in ipairs({ at, best }) do
    waits[#waits + 1] = instant == math.huge and "" or text(instant - now)
  end
end
if not open then return waits end
for n = 0, #KEYS / 4 - 1 do
  redis.call("ZADD", KEYS[n * 4 + 2], text(now + held_ms), turn)
  redis.call("ZADD", KEYS[n * 4 + 3], text(now + held_ms), turn .. ":" .. tokens)
  local period = tonumber(ARGV[n * 3 + 6])
  for i = 1, 4 do redis.call("PEXPIRE", KEYS[n * 4 + i], math.ceil(period + kept_ms)) end
end
return {}`;

/**
 * Reports the start or the end of a call. KEYS as above.
 *
 * ARGV: turn, reserved tokens, "begin", "end" or "leave", used tokens, ms for which the reservation
 * of a call in flight is kept, ms for which keys are kept, then the period of each limit.
 */
export const REPORT_TURN = `
local time = redis.call("TIME")
local now = time[1] * 1000 + time[2] / 1000
local turn, what, used = ARGV[1], ARGV[3], tonumber(ARGV[4])
local reservation = turn .. ":" .. tonumber(ARGV[2])
local function text(number) return string.format("%.3f", number) end
for n = 0, #KEYS / 4 - 1 do
  local starts, places, ends, spent = KEYS[n * 4 + 1], KEYS[n * 4 + 2], KEYS[n * 4 + 3], KEYS[n * 4 + 4]
  redis.call("ZREM", places, turn)
  if what == "begin" then
    redis.call("ZADD", starts, text(now), turn)
    redis.call("ZADD", ends, text(now + tonumber(ARGV[5])), reservation)
  else
    redis.call("ZREM", ends, reservation)
    if what == "end" and used > 0 then redis.call("ZADD", spent, text(now), turn .. ":" .. used) end
  end
  for i = 1, 4 do redis.call("PEXPIRE", KEYS[n * 4 + i], math.ceil(tonumber(ARGV[n + 7]) + tonumber(ARGV[6]))) end
end`;
