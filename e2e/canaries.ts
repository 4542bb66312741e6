import { Redis } from 'ioredis'
import pg from 'pg'

/** The contents of stores and logs by name, with one character for each byte. */
export type Haystacks = Record<string, string>

/** Finds canaries that can be read in stores or logs, in any encoding. Returns `name, form, where`. */
export function findCanaries(canaries: Record<string, string>, haystacks: Haystacks): string[] {
  return Object.entries(canaries).flatMap(([name, canary]) =>
    Object.entries(formsOf(canary)).flatMap(([form, needle]) =>
      Object.entries(haystacks).flatMap(([where, text]) =>
        text.includes(needle) ? [`${name}, ${form}, ${where}`] : [],
      ),
    ),
  )
}

/** Returns the encodings of a canary, as bytes. Its base64 depends on the number of bytes before it. */
export function formsOf(canary: string): Record<string, string> {
  const bytes = Buffer.from(canary)
  const encoded = encodeURIComponent(canary)
  const forms: Record<string, string> = {
    plain: bytes.toString('latin1'),
    'in JSON': Buffer.from(JSON.stringify(canary).slice(1, -1)).toString('latin1'),
    'percent-encoded': encoded,
    'percent-encoded, in lower case': encoded.replace(/%../g, hex => hex.toLowerCase()),
    hex: bytes.toString('hex'),
    'hex in capitals': bytes.toString('hex').toUpperCase(),
  }
  for (const before of [0, 1, 2]) {
    const all = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // Only the characters whose bits all belong to the canary.
    const inner = all.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    forms[`base64 at ${before}`] = inner
    forms[`base64 for URLs at ${before}`] = inner.replaceAll('+', '-').replaceAll('/', '_')
  }
  return forms
}

/** Reads every table of a database. */
export async function dumpDatabase(databaseUrl: string): Promise<Haystacks> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
    )
    const dump: Haystacks = {}
    for (const { name } of tables) {
      const { rows } = await client.query(`SELECT * FROM ${name}`)
      dump[name] = rows.flatMap(row => Object.values(row).map(toBytes)).join('\n')
    }
    return dump
  } finally {
    await client.end()
  }
}

/** Reads every key of a Redis, and everything below it. */
export async function dumpRedis(redisUrl: string): Promise<Haystacks> {
  const redis = new Redis(redisUrl)
  try {
    const keys = await redis.keys('*')
    const values = await Promise.all(keys.map(key => readKey(redis, key)))
    return { redis: [...keys, ...values.map(toBytes)].join('\n') }
  } finally {
    redis.disconnect()
  }
}

async function readKey(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return redis.get(key)
    case 'hash':
      return redis.hgetall(key)
    case 'list':
      return redis.lrange(key, 0, -1)
    case 'set':
      return redis.smembers(key)
    case 'zset':
      return redis.zrange(key, '0', '-1')
    case 'stream':
      return redis.xrange(key, '-', '+')
    case 'none':
      return null // it has just expired
    default:
      throw new Error(`The Redis key ${key} is of a type that cannot be read here.`)
  }
}

function toBytes(value: unknown): string {
  if (value instanceof Buffer) return value.toString('latin1')
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('latin1')
}
