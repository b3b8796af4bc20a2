/**
 * The beginning of each script of an account. KEYS: account, ends of leases, amounts, settled ids.
 */
const BEGIN = `
local account, ends, amounts, settled = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local time = redis.call("TIME")
local now = time[1] * 1000 + time[2] / 1000
local function text(number) return string.format("%.17g", number) end
local function drop(id)
  redis.call("ZREM", ends, id)
  redis.call("HDEL", amounts, id)
end
local function used()
  local kept = redis.call("HMGET", account, "tokens", "cost")
  return tonumber(kept[1] or 0), tonumber(kept[2] or 0)
end
local function use(tokens, cost)
  redis.call("HSET", account, "tokens", text(tokens), "cost", text(cost))
end
local function held()
  for _, id in ipairs(redis.call("ZRANGEBYSCORE", ends, "-inf", text(now))) do drop(id) end
  local held_tokens, held_cost = 0, 0
  for _, amount in ipairs(redis.call("HVALS", amounts)) do
    local tokens, cost = string.match(amount, "^(.-):(.*)$")
    held_tokens, held_cost = held_tokens + tonumber(tokens), held_cost + tonumber(cost)
  end
  return held_tokens, held_cost
end
local function answer(fits)
  local held_tokens, held_cost = held()
  local tokens, cost = used()
  for i = 1, 4 do redis.call("PEXPIRE", KEYS[i], 2592000000) end
  return { fits, text(tokens), text(cost), text(held_tokens), text(held_cost) }
end
`;

/** Opens an account. ARGV: tokens and cost of earlier executions. */
export const OPEN_ACCOUNT = `${BEGIN}
local tokens, cost = used()
use(math.max(tokens, tonumber(ARGV[1])), math.max(cost, tonumber(ARGV[2])))
return answer("")`;

/**
 * Reserves an amount. ARGV: id, tokens, cost, most tokens and most cost (or ""), ms of the lease.
 */
export const RESERVE_AMOUNT = `${BEGIN}
local tokens, cost = used()
local held_tokens, held_cost = held()
local most_tokens, most_cost = tonumber(ARGV[4]), tonumber(ARGV[5])
if most_tokens and tokens + held_tokens + tonumber(ARGV[2]) > most_tokens then return answer("") end
if most_cost and cost + held_cost + tonumber(ARGV[3]) > most_cost then return answer("") end
redis.call("ZADD", ends, text(now + tonumber(ARGV[6])), ARGV[1])
redis.call("HSET", amounts, ARGV[1], ARGV[2] .. ":" .. ARGV[3])
return answer("fits")`;

/** Settles an amount. Counts once. ARGV: id, used tokens, used cost. */
export const SETTLE_AMOUNT = `${BEGIN}
drop(ARGV[1])
if (tonumber(ARGV[2]) ~= 0 or tonumber(ARGV[3]) ~= 0) and redis.call("SADD", settled, ARGV[1]) == 1 then
  local tokens, cost = used()
  use(tokens + tonumber(ARGV[2]), cost + tonumber(ARGV[3]))
end
return answer("")`;

/** Renews reservations. ARGV: ms of the lease, then ids. */
export const RENEW_AMOUNTS = `${BEGIN}
for i = 2, #ARGV do
  local ending = redis.call("ZSCORE", ends, ARGV[i])
  if ending and tonumber(ending) > now then redis.call("ZADD", ends, text(now + tonumber(ARGV[1])), ARGV[i]) end
end
return answer("")`;

export const ACCOUNT_STATE = `${BEGIN}
return answer("")`;
