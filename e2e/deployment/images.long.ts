import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@belfry/embedded'
import { createEmptyDatabase, startReceiver } from '@belfry/test-support'
import { findRedisServer, startRedis } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import { validate } from 'dockerfile-utils'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { callApi, inMs, signUp } from '../api-calls.ts'
import { dockerfile, type Image, readImages } from './read-dockerfile.ts'
import { assembleImages, fingerprint, type ImageTrees, runImage } from './run-image.ts'

const targets = ['api', 'scheduler', 'dispatcher', 'all-in-one', 'migrate']
const images = readImages()

describe('the Dockerfile', () => {
  it('is accepted by Docker without a warning', () => {
    expect(validate(dockerfile())).toEqual([])
  })

  it.each(targets)('builds the %s on one version of Node 24, for a user other than root', name => {
    const image = imageOf(name)
    expect(image.base).toMatch(/^node:24\.\d+\.\d+-[a-z]+-slim(@sha256:[0-9a-f]{64})?$/)
    expect(image.user).toBe('1000:1000')
    expect(image.env.NODE_ENV).toBe('production')
    expect(image.copied).toEqual([`/images/${name}`])
  })

  it('builds the image that needs no other by default', () => {
    expect([...images.keys()].at(-1)).toBe('all-in-one')
  })
})

describe('the images', () => {
  let trees: ImageTrees
  beforeAll(async () => {
    trees = await assembleImages()
  })
  afterAll(() => trees?.remove())

  it('are those of the Dockerfile', () => {
    expect(readdirSync(trees.folder).sort()).toEqual([...targets].sort())
    for (const name of targets) {
      const program = imageOf(name).command.find(word => word.endsWith('.mjs'))
      expect(existsSync(join(trees.of(name), String(program)))).toBe(true)
    }
  })

  it('contain belfry doctor with the migrations', async () => {
    const database = await createEmptyDatabase()
    onTestFinished(() => database.drop())
    // In a folder of its own, so nothing of this checkout is found.
    const env = { PATH: process.env.PATH, DATABASE_URL: database.url }
    for (const name of ['migrate', 'all-in-one']) {
      const program = join(trees.of(name), 'programs/maintenance/dist/main.mjs')
      const diagnosis = await promisify(execFile)(process.execPath, [program, 'doctor'], { env }).catch(error => error)
      expect(diagnosis.stdout).toMatch(/^PROBLEM +migrations +\d+ migrations of this version are not applied/m)
    }
  })

  it('contain the dashboard with the api', () => {
    for (const name of ['api', 'all-in-one']) {
      expect(existsSync(join(trees.of(name), 'services/api/dist/dashboard/index.html'))).toBe(true)
    }
  })

  it('are the same in every build', async () => {
    const again = await assembleImages()
    onTestFinished(() => again.remove())
    expect(fingerprint(again.folder)).toBe(fingerprint(trees.folder))
  })

  it('contain no source, no source map, no failpoint, and no file that their user can write', () => {
    for (const name of readdirSync(trees.folder, { recursive: true, encoding: 'utf8' })) {
      expect(name).not.toMatch(
        /faults|\.stamp$|\.map$|[^d]\.ts$|\.env|node_modules\/(prisma|vitest|typescript|\.bin)\b/,
      )
      const path = join(trees.folder, name)
      if (process.getuid?.() !== 0) expect(() => accessSync(path, constants.W_OK)).toThrow()
    }
  })

  it.each([
    ['a process for each service', ['api', 'scheduler', 'dispatcher']],
    ['one process', ['all-in-one']],
  ])(
    'migrate a new database, and deliver a task, from these trees alone, with %s',
    async (_, names) => {
      const before = fingerprint(trees.folder)
      const database = await createEmptyDatabase()
      onTestFinished(() => database.drop())
      const target = await startReceiver()
      onTestFinished(() => target.close())
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      const env = { ...settings(url), DATABASE_URL: database.url, ...(await queueSettings()) }
      const start = (name: string, more: Record<string, string> = {}, args: string[] = []) =>
        runImage(imageOf(name), trees.of(name), { ...env, ...more }, args)

      const migrations = trees.of(names.includes('all-in-one') ? 'all-in-one' : 'migrate')
      const waiting = runImage(
        { ...imageOf('migrate'), command: ['node', 'prisma/dist/main.mjs', 'wait'] },
        migrations,
        env,
      )
      onTestFinished(async () => void (await waiting.stop()))
      const migration = runImage(imageOf('migrate'), migrations, env)
      expect([await migration.ended, migration.output]).toEqual([0, expect.stringContaining('applied 2026')])
      expect([await waiting.ended, waiting.output]).toEqual([0, expect.stringContaining('every migration')])

      const services = await Promise.all(
        names.map(async name => start(name, { PORT: String(port), METRICS_PORT: String(await freePort()) })),
      )
      onTestFinished(async () => void (await Promise.all(services.map(service => service.stop()))))
      await Promise.all(services.map(service => service.ready))
      const eachOne = services.map(() => 0)
      expect(await Promise.all(services.map(service => service.checkHealth()))).toEqual(eachOne)

      const page = await fetch(url, { headers: { accept: 'text/html' } })
      expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])

      const caller = await signUp(url)
      const task = { name: 'From an image', url: target.url('/hook'), method: 'POST', execute_at: inMs(1000) }
      const created = await callApi(url, caller, 'POST', '/api/v1/scheduler/tasks', task)
      expect(created.status).toBe(201)
      await waitFor(
        async () => (await callApi(url, caller, 'GET', `/api/v1/scheduler/tasks/${created.body.id}`)).body.state,
        state => state === 'success',
      )
      expect(target.requestsTo('/hook')).toHaveLength(1)
      expect(await Promise.all(services.map(service => service.stop()))).toEqual(eachOne)
      expect(await services[0]?.checkHealth()).toBe(1)
      expect(fingerprint(trees.folder)).toBe(before)
    },
    120_000,
  )
})

function imageOf(name: string): Image {
  const image = images.get(name)
  if (!image) throw new Error(`The Dockerfile has no target ${name}.`)
  return image
}

function settings(url: string): Record<string, string> {
  return {
    PUBLIC_URL: url,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    REGISTRATION: 'open', // further accounts register without an invitation
    DEFAULT_TIER: 'unicorn',
  }
}

// On a machine without Redis the queue is in PostgreSQL.
async function queueSettings(): Promise<Record<string, string>> {
  if (!findRedisServer()) return {}
  const redis = await startRedis({ dataDir: mkdtempSync(join(tmpdir(), 'belfry-redis-')), persist: false })
  onTestFinished(() => redis.stop())
  return { REDIS_URL: redis.url }
}
