import { Cluster } from 'ioredis'
import type { RedisClient } from './open-redis.ts'

const minVersion = [6, 2] as const

/** Finds Redis settings that can delay tasks. They cannot lose a task. */
export async function inspectRedis(redis: RedisClient): Promise<string[]> {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis]
  const findings = await Promise.all(nodes.map(async node => judgeRedis(fieldsOf(await node.info()))))
  return [...new Set(findings.flat())]
}

function fieldsOf(info: string): Map<string, string> {
  return new Map(info.split('\r\n').map(line => line.split(':', 2) as [string, string]))
}

export function judgeRedis(info: ReadonlyMap<string, string>): string[] {
  const findings: string[] = []
  const version = info.get('redis_version') ?? ''
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1])) {
    findings.push(`Redis ${version} is too old: use ${minVersion.join('.')} or newer.`)
  }
  const policy = info.get('maxmemory_policy')
  if (policy !== undefined && policy !== 'noeviction') {
    findings.push(`maxmemory-policy is ${policy}: jobs may vanish. Set it to noeviction.`)
  }
  if (info.get('aof_enabled') === '0') findings.push('AOF is off: a restart empties the queue. Set appendonly to yes.')
  return findings
}
