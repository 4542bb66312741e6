import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createTestDatabase, documentedVariables, serviceUrl } from '@belfry/test-support'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type ServiceName, startService } from '../processes.ts'
import { repositoryRoot } from '../repository-root.ts'
import { type ComposeService, type ComposeStack, readStack } from './compose-stack.ts'
import { readImages } from './read-dockerfile.ts'
import { hasTool } from './tools.ts'

const ours = ['api', 'scheduler', 'dispatcher', 'migrate']
const services: ServiceName[] = ['api', 'scheduler', 'dispatcher']
const stores = ['postgres', 'redis']
const drainSeconds = 30
// A version, and the digest once Renovate has added it.
const pinned = /:v?\d+\.\d+(\.\d+)?(-\w+)?(@sha256:[0-9a-f]{64})?$/
// The stack sets the ports and addresses, its api writes no files, and production has no development mode of QStash.
const notInEnv = ['PORT', 'METRICS_PORT', 'HOST', 'METRICS_HOST', 'FIRST_ACCOUNT', 'QSTASH_DEV_PORT', 'VIRTUAL_CLOCK']

describe('scripts/make-env.sh', () => {
  it('creates new secrets each time, which only their owner can read', async () => {
    const [first, second] = [envPath(), envPath()]
    await Promise.all([makeEnv(first), makeEnv(second)])
    expect(statSync(first).mode & 0o777).toBe(0o600)
    const [one, other] = [readEnv(first), readEnv(second)]
    for (const name of ['JWT_SECRET', 'ENCRYPTION_KEYS', 'OPERATOR_PASSWORD', 'POSTGRES_PASSWORD', 'REDIS_PASSWORD']) {
      expect(one[name]?.length).toBeGreaterThanOrEqual(24)
      expect(one[name]).not.toBe(other[name])
    }
    const roles = ['API', 'SCHEDULER', 'DISPATCHER'].map(service => `${service}_DATABASE_URL`)
    const urls = [one, other].flatMap(env => roles.map(name => new URL(env[name] ?? '')))
    expect(urls.slice(0, 3).map(({ username }) => username)).toEqual([
      'belfry_api',
      'belfry_scheduler',
      'belfry_dispatcher',
    ])
    expect(new Set(urls.map(({ password }) => password)).size).toBe(6)
  })

  it('does not change an existing file', async () => {
    const path = envPath()
    writeFileSync(path, 'ENCRYPTION_KEYS=precious\n')
    await expect(makeEnv(path)).rejects.toThrow(/it exists.*Nothing was changed/)
    expect(readFileSync(path, 'utf8')).toBe('ENCRYPTION_KEYS=precious\n')
  })
})

describe.runIf(hasTool('docker-compose', ['--version']))('docker-compose.yml', () => {
  let stack: ComposeStack
  const service = (name: string): ComposeService => {
    const found = stack.services[name]
    if (!found) throw new Error(`The stack has no service ${name}.`)
    return found
  }
  const networksOf = (name: string) => Object.keys(service(name).networks)
  beforeAll(async () => {
    const path = envPath()
    await makeEnv(path)
    stack = await readStack(path)
  })

  it('says what to do without an .env', async () => {
    const path = envPath()
    writeFileSync(path, '')
    await expect(readStack(path)).rejects.toThrow(/run scripts\/make-env.sh first/)
  })

  it('has every service, two dispatchers, and pinned images', () => {
    expect(Object.keys(stack.services).sort()).toEqual([...ours, ...stores, 'mailpit'].sort())
    expect(service('dispatcher').deploy?.replicas).toBe(2)
    for (const name of [...stores, 'mailpit']) expect(service(name).image).toMatch(pinned)
    for (const name of ours) expect(service(name).build?.target).toBe(name)
  })

  it('runs our services without privileges on a read-only file system', () => {
    for (const name of ours) {
      expect(service(name)).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
      expect(service(name).security_opt).toContain('no-new-privileges:true')
    }
  })

  it('gives each service its own database role, and the owner to the migration only', () => {
    const owner = service('postgres').environment?.OWNER_PASSWORD ?? ''
    for (const name of services) {
      const url = service(name).environment?.DATABASE_URL
      expect(new URL(url ?? '')).toMatchObject({ username: `belfry_${name}`, pathname: '/belfry' })
      expect(service('migrate').environment?.[`${name.toUpperCase()}_DATABASE_URL`]).toBe(url)
      expect(JSON.stringify(service(name))).not.toContain(owner)
    }
    const url = new URL(service('migrate').environment?.DATABASE_URL ?? '')
    expect([url.username, url.password]).toEqual(['belfry', owner])
    // create-owner.sql makes another role the owner than the superuser of the image.
    expect(service('postgres').environment).not.toHaveProperty('POSTGRES_USER')
  })

  it('starts services after the migration and the stores, and again when they end', () => {
    for (const name of services) {
      expect(service(name).depends_on).toMatchObject({
        migrate: { condition: 'service_completed_successfully' },
        postgres: { condition: 'service_healthy' },
        redis: { condition: 'service_healthy' },
      })
    }
    for (const [name, { restart }] of Object.entries(stack.services)) {
      expect([name, restart]).toEqual([name, name === 'migrate' ? 'no' : 'unless-stopped'])
    }
  })

  it('has a health check for everything that keeps running', () => {
    const images = readImages()
    for (const [name, { healthcheck, build }] of Object.entries(stack.services)) {
      if (name === 'migrate') continue
      expect(healthcheck?.test ?? images.get(build?.target ?? '')?.healthCheck, name).toBeTruthy()
    }
  })

  it('gives every service more time to stop than a drain takes', () => {
    for (const { stop_grace_period } of Object.values(stack.services)) {
      expect(stop_grace_period).toMatch(/^\d+s$/)
      expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(drainSeconds)
    }
  })

  it('keeps the data of the stores', () => {
    expect(service('redis').volumes).toEqual(['redis-data:/data:rw'])
    const [data, owner] = service('postgres').volumes ?? []
    expect(data).toBe('postgres-data:/var/lib/postgresql:rw')
    expect(owner).toMatch(/\/k8s\/chart\/files\/create-owner\.sql:\/docker-entrypoint-initdb\.d\/create-owner\.sql:ro$/)
  })

  it('limits the memory of every service, ours to more than their heap', () => {
    const images = readImages()
    for (const [name, { mem_limit, build }] of Object.entries(stack.services)) {
      const heap =
        /--max-old-space-size=(\d+)/.exec(images.get(build?.target ?? '')?.env.NODE_OPTIONS ?? '')?.[1] ?? '0'
      expect(bytesOf(mem_limit), name).toBeGreaterThanOrEqual(Math.max(Number(heap) * 1.4, 256) * 1024 ** 2)
    }
  })

  it('publishes only the api and the mails, on loopback', () => {
    const published = Object.entries(stack.services).flatMap(([name, { ports = [] }]) =>
      ports.map(port => [name, port]),
    )
    expect(published.sort()).toEqual([
      ['api', '127.0.0.1:3000:3000/tcp'],
      ['mailpit', '127.0.0.1:8025:8025/tcp'],
    ])
  })

  it('separates dispatchers from the api and the scheduler, and stores from the outside', () => {
    const shared = (one: string, other: string) =>
      networksOf(one).filter(network => networksOf(other).includes(network))
    expect(shared('dispatcher', 'api')).toEqual([])
    expect(shared('dispatcher', 'scheduler')).toEqual([])
    for (const store of stores) {
      for (const network of networksOf(store)) expect(stack.networks[network]?.internal).toBe(true)
    }
    expect(networksOf('dispatcher').filter(network => !stack.networks[network]?.internal)).toEqual(['egress'])
    const usersOf = (network: string) => Object.keys(stack.services).filter(name => networksOf(name).includes(network))
    expect(usersOf('egress')).toEqual(['dispatcher'])
    expect(usersOf('object-storage')).toEqual(['scheduler'])
  })

  it('gives the dispatchers the addresses that the stack listens on', () => {
    const { OWN_LISTENERS = '', DATABASE_URL, REDIS_URL, SMTP_URL } = service('dispatcher').environment ?? {}
    const known = [
      ...OWN_LISTENERS.split(','),
      ...[DATABASE_URL, REDIS_URL, SMTP_URL].map(url => new URL(url ?? '').host),
    ]
    for (const listener of ['postgres:5432', 'redis:6379', 'mailpit:1025', 'mailpit:8025']) {
      expect(known).toContain(listener)
    }
    for (const name of services) {
      const { PORT, METRICS_PORT } = readImages().get(name)?.env ?? {}
      for (const port of [PORT, METRICS_PORT]) if (port) expect(known).toContain(`${name}:${port}`)
    }
  })

  it.each(ours)('gives the %s only variables that it knows', name => {
    const known = documentedVariables(name).map(variable => variable.name)
    const given = Object.keys(service(name).environment ?? {}).filter(variable => !/^OTEL_/.test(variable))
    expect(given.filter(variable => !known.includes(variable))).toEqual([])
  })

  it.each(ours)('passes every variable of the %s from .env that docs/configuration.md has', name => {
    const given = Object.keys(service(name).environment ?? {})
    const missing = documentedVariables(name)
      .map(variable => variable.name)
      .filter(variable => !given.includes(variable))
    const setByImage = Object.keys(readImages().get(name)?.env ?? {})
    // Its password is that of the API's role, so OWN_LISTENERS names the replica.
    if (name === 'dispatcher') setByImage.push('DATABASE_READ_URL')
    // CONFIRM_EMAILS tells the API that there is a mail server, so it does not need the server's password.
    if (name === 'api') setByImage.push('SMTP_URL')
    expect(service('api').environment).toHaveProperty('CONFIRM_EMAILS')
    expect(missing.filter(variable => !setByImage.includes(variable) && !notInEnv.includes(variable))).toEqual([])
  })

  it.each(services)('configures the %s completely', async name => {
    const database = await createTestDatabase()
    onTestFinished(() => database.drop())
    const { REDIS_URL: _, ...environment } = service(name).environment ?? {}
    const here = { DATABASE_URL: serviceUrl(database.url, name), PORT: '0', METRICS_PORT: '0' }
    const running = await startService(name, { ...environment, ...here })
    expect(await running.stop()).toBe(0)
  })
})

async function makeEnv(...args: string[]): Promise<void> {
  await promisify(execFile)('sh', [join(repositoryRoot(), 'scripts/make-env.sh'), ...args])
}

function readEnv(path: string): Record<string, string> {
  const lines = readFileSync(path, 'utf8').matchAll(/^(\w+)=(.*)$/gm)
  return Object.fromEntries([...lines].map(([, name, value]) => [name, value]))
}

// Versions of docker-compose print 768m or the number of bytes.
function bytesOf(limit = ''): number {
  const [, amount = '', unit = ''] = /^(\d+)([mg]?)$/.exec(limit) ?? []
  return Number(amount) * { '': 1, m: 1024 ** 2, g: 1024 ** 3 }[unit as '' | 'm' | 'g']
}

function envPath(): string {
  return join(mkdtempSync(join(tmpdir(), 'belfry-env-')), '.env')
}
