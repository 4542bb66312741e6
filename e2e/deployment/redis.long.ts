import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { startProcess } from '@belfry/test-support/servers'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { repositoryRoot } from '../repository-root.ts'
import { readManifest } from './kubernetes-objects.ts'
import { hasTool } from './tools.ts'

const password = '4f1c0ffee'
const read = (path: string) => readFileSync(join(repositoryRoot(), path), 'utf8')
const commands: Record<string, () => string[]> = {
  'docker-compose.yml': () =>
    parse(read('docker-compose.yml'), { merge: true }).services.redis.command.map((word: string) =>
      word.replaceAll('$$', '$'),
    ),
  'the trial on Kubernetes': () => {
    const store = readManifest('manifests/trial.yaml').find(
      ({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'belfry-redis',
    )
    return store.spec.template.spec.containers[0].command
  },
}

describe.runIf(hasTool('redis-server', ['--version'])).each(Object.entries(commands))(
  'the Redis of %s',
  (_, command) => {
    it('refuses writes before its memory is full, evicts nothing, and keeps its password out of its arguments', async () => {
      const { pid, port } = await start(command())
      const redis = new Redis({ port, password, retryStrategy: () => 50, maxRetriesPerRequest: null })
      onTestFinished(() => redis.disconnect())
      redis.on('error', () => {}) // until it listens
      const config = async (name: string) => ((await redis.config('GET', name)) as string[])[1]
      expect(await config('maxmemory-policy')).toBe('noeviction')
      expect(Number(await config('maxmemory'))).toBe(768 * 1024 ** 2)
      expect([await config('appendonly'), await config('appendfsync'), await config('save')]).toEqual([
        'yes',
        'everysec',
        '',
      ])
      const stranger = new Redis({ port, maxRetriesPerRequest: 0 })
      onTestFinished(() => stranger.disconnect())
      stranger.on('error', () => {})
      await expect(stranger.ping()).rejects.toThrow('NOAUTH')
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(password)
    })
  },
)

// Runs the command of a container with this machine's Redis, on a free port and in a folder of its own.
async function start([program = '', ...args]: string[]): Promise<{ pid: number; port: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-redis-'))
  const port = await freePort()
  const programs = {
    'docker-entrypoint.sh': 'exec "$@"',
    'redis-server': `PATH=\${PATH#*:} exec redis-server "$@" --port ${port} --dir ${folder}`,
  }
  for (const [name, line] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  const env = { PATH: `${folder}:${process.env.PATH}`, REDIS_PASSWORD: password }
  const running = startProcess([program, ...args], { env, cwd: folder })
  onTestFinished(async () => void (await running.stop()))
  return { pid: running.pid, port }
}
