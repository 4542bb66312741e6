import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { inMs } from '../api-calls.ts'
import { dockerfile, type Image, readImages } from './read-dockerfile.ts'
import { type DataContainer, isIsolated, runContainer } from './run-container.ts'
import { assembleImages, fingerprint, type ImageTrees } from './run-image.ts'

const image = readImages().get('all-in-one') as Image
const running = 'Belfry is running at'

let trees: ImageTrees
let port: number
let env: Record<string, string>
beforeAll(async () => {
  trees = await assembleImages()
  port = await freePort()
  env = { PORT: String(port), METRICS_PORT: String(await freePort()) }
}, 60_000)
afterAll(() => trees?.remove())

it('starts on an empty volume as user 1000, delivers, stops PostgreSQL last, and continues with the data', async () => {
  const volume = newVolume()
  const before = fingerprint(trees.of('all-in-one'))
  const first = start(volume)
  await first.prints(running)
  // Elsewhere the volume is a folder, and a mount only if the temporary folder is one.
  if (isIsolated) expect(first.output).not.toContain('No volume is mounted')
  expect(await first.exec(image.healthCheck ?? [])).toEqual({ code: 0, output: '' })
  const key = keyOf(first)
  const done = await schedule(first, 2000)
  await succeeds(key, done)
  const waiting = await schedule(first, 3_600_000)
  expect(await first.stop()).toBe(0)
  const log = readFileSync(join(volume, 'logs/postgres.log'), 'utf8')
  expect(log.trimEnd()).toMatch(/database system is shut down$/)
  expect(log).not.toMatch(/terminating connection|was interrupted|FATAL/)
  expect(first.output).toContain('"msg":"service.stopped"')

  const second = start(volume)
  await second.prints(running)
  expect(keyOf(second)).toBe(key)
  expect(await stateOf(key, done)).toBe('success')
  expect(await stateOf(key, waiting)).toBe('pending')
  expect(await second.stop()).toBe(0)
  expect(fingerprint(trees.of('all-in-one'))).toBe(before)
}, 120_000)

it('keeps every task when it is killed, and delivers the tasks that were due meanwhile', async () => {
  const volume = newVolume()
  const first = start(volume)
  await first.prints(running)
  const key = keyOf(first)
  const ids = await scheduleAll(first, 2000, 50)
  await first.kill()
  const second = start(volume)
  await second.prints(running)
  for (const id of ids) await succeeds(key, id)
  expect(await second.stop()).toBe(0)
}, 120_000)

it('is upgraded by another image on the same volume, which applies its migrations', async () => {
  const volume = newVolume()
  const first = start(volume)
  await first.prints(running)
  const key = keyOf(first)
  const id = await schedule(first, 3_600_000)
  const next = nextRelease()
  // Before the old container has stopped, as a careless upgrade would.
  const second = start(volume, next)
  await second.prints(`Another container uses ${isIsolated ? '/data' : volume}. Waiting for its end ...`)
  expect(await first.stop()).toBe(0)
  await second.prints(running)
  expect(keyOf(second)).toBe(key)
  expect(await stateOf(key, id)).toBe('pending')
  const { output } = await second.exec(['node', 'programs/maintenance/dist/main.mjs', 'doctor'])
  expect(output).toMatch(/^ok +settings/m)
  expect(await second.stop()).toBe(0)
  expect(readFileSync(join(volume, 'logs/postgres.log'), 'utf8')).toContain('the next release was here')
}, 120_000)

it.runIf(isIsolated)(
  'runs only as user 1000, and leaves no zombie when PostgreSQL is killed',
  async () => {
    const container = start(newVolume())
    await container.prints(running)
    const own = await container.processes()
    const users = own.map(({ uid }) => uid)
    expect(new Set(users)).toEqual(new Set([1000]))
    expect(own.find(({ pid }) => pid === 1)?.command).toBe('tini')
    // The first of its processes started the others.
    const postgres = own.filter(({ command }) => command === 'postgres').map(({ pid }) => pid)
    await container.exec(['sh', '-c', `kill -KILL ${Math.min(...postgres)}`])
    await container.prints('PostgreSQL ended unexpectedly; restarting it')
    const id = await waitFor(() => schedule(container, 500).catch(() => ''), Boolean, 30_000)
    await succeeds(keyOf(container), id)
    const zombies = (await container.processes()).filter(({ state }) => state === 'Z')
    expect(zombies).toEqual([])
    expect((await container.exec(['touch', '/app/file'])).code).toBe(1)
    expect(await container.stop()).toBe(0)
  },
  120_000,
)

it.runIf(isIsolated)(
  'says what to do about a volume that it cannot write',
  async () => {
    const foreign = newVolume()
    chownSync(foreign, 0, 0)
    const refused = start(foreign)
    expect(await refused.ended).toBe(1)
    expect(refused.output).toContain('Make user 1000 the owner of the mounted folder: chown -R 1000:1000 <folder>')
  },
  60_000,
)

it('declares no VOLUME, which some platforms refuse, and owns /data', () => {
  expect(dockerfile()).not.toMatch(/^VOLUME/m)
  expect(dockerfile()).toMatch(/install -d -m 0700 -o 1000 -g 1000 \/data$/m)
  expect(image.env.DATA_DIR).toBe('/data')
  expect(image.command.slice(0, 3)).toEqual(['tini', '--', 'node'])
})

function start(volume: string, tree = trees.of('all-in-one')): DataContainer {
  const container = runContainer(image, tree, volume, env)
  onTestFinished(async () => {
    await container.kill()
  })
  return container
}

function newVolume(): string {
  const folder = mkdtempSync(join(isIsolated ? '/tmp' : tmpdir(), 'belfry-volume-'))
  if (isIsolated) chownSync(folder, 1000, 1000)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

// The same image with one more migration.
function nextRelease(): string {
  const tree = `${trees.folder}/next`
  cpSync(trees.of('all-in-one'), tree, { recursive: true, verbatimSymlinks: true })
  const migration = join(tree, 'prisma/migrations/29990101000000_next_release')
  chmodSync(join(tree, 'prisma/migrations'), 0o755)
  mkdirSync(migration)
  writeFileSync(join(migration, 'migration.sql'), "DO $$ BEGIN RAISE WARNING 'the next release was here'; END $$;\n")
  return tree
}

function keyOf({ output }: DataContainer): string {
  return String(/API key +(\S+)/.exec(output)?.[1])
}

const tasks = () => `http://127.0.0.1:${port}/api/v1/scheduler/tasks`

// A call of the receiver in the container.
async function schedule(container: DataContainer, aheadMs: number): Promise<string> {
  const [id = ''] = await scheduleAll(container, aheadMs, 1)
  return id
}

async function scheduleAll(container: DataContainer, aheadMs: number, count: number): Promise<string[]> {
  const key = keyOf(container)
  const url = `${/Receiver +(\S+)/.exec(container.output)?.[1]}/hook`
  const task = { name: 'In a container', url, method: 'POST', execute_at: inMs(aheadMs) }
  const response = await fetch(`${tasks()}/batch`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ tasks: Array(count).fill(task) }),
  })
  expect(response.status).toBe(200)
  const { data } = (await response.json()) as { data: Array<{ task?: { id: string } }> }
  expect(data.filter(({ task }) => task === undefined)).toEqual([])
  return data.map(({ task }) => task?.id ?? '')
}

async function stateOf(key: string, id: string): Promise<string> {
  const response = await fetch(`${tasks()}/${id}`, { headers: { 'x-api-key': key } })
  return ((await response.json()) as { state: string }).state
}

function succeeds(key: string, id: string): Promise<unknown> {
  return waitFor(
    () => stateOf(key, id),
    state => state === 'success',
    30_000,
  )
}
