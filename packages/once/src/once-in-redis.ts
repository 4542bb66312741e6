// Redis runs a script without other commands in between. The id comes last: a command that fails leaves it unrecorded.
const script = `if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
for _, command in ipairs(cjson.decode(ARGV[2])) do redis.call(unpack(command)) end
redis.call('SET', KEYS[1], '', 'EX', ARGV[1])
return 1`

/**
 * Runs commands of Redis unless an earlier request with this id did. Returns whether it ran them. Only for effects in this
 * Redis. Redis does not roll back: if a command fails, the effects of earlier commands remain.
 * @param send - Sends a command, such as `([name, ...args]) => redis.call(name, ...args)` of ioredis.
 * @param id - The verified `webhook-id`.
 * @param commands - The effect, such as `[['INCRBY', 'balance', '42']]`.
 */
export async function onceInRedis(
  send: (command: [string, ...string[]]) => Promise<unknown>,
  id: string,
  commands: ReadonlyArray<readonly [string, ...string[]]>,
  { expireDays = 30 }: { expireDays?: number } = {},
): Promise<boolean> {
  const seconds = String(expireDays * 86_400)
  return (await send(['EVAL', script, '1', `received-webhook:${id}`, seconds, JSON.stringify(commands)])) === 1
}
