import { fileURLToPath } from 'node:url'
import { startProcess } from '@belfry/test-support/servers'
import { parseMasterKeys } from '@belfry/vault'
import { expect, it } from 'vitest'
import { countWrappedKeys } from '../src/secrets/data-keys.ts'
import { putSecret, readSecrets } from '../src/secrets/secrets.ts'
import { useOwnDatabase } from './setup.ts'
import { addWorkspaces, aMasterKey } from './setup-secrets.ts'

const db = useOwnDatabase()
const program = fileURLToPath(new URL('../dist/main.mjs', import.meta.url))

it('a master key is replaced under load, although the command is killed in the middle', {
  timeout: 120_000,
}, async () => {
  const [oldKey, newKey] = [aMasterKey('k1'), aMasterKey('k2')]
  const oldKeys = parseMasterKeys(oldKey)
  const bothKeys = `${newKey},${oldKey}`
  const workspaces = await addWorkspaces(db.pool, 1500)
  await inGroups(workspaces, 50, id => putSecret(db.pool, oldKeys, id, { name: 'NAME', value: `value of ${id}` }, 100))
  const isReadable = async (ids: string[], keys = parseMasterKeys(bothKeys)) => {
    const values = await readSecrets(db.pool, keys, ids)
    for (const id of ids)
      expect(values.get(id)?.byName.get('NAME')).toEqual({ value: `value of ${id}`, allowedHosts: null })
  }
  let reads = 0
  let isOver = false
  const readers = [0, 1].map(async () => {
    for (; !isOver; reads++) await isReadable(workspaces.slice((reads * 50) % 1500, ((reads * 50) % 1500) + 50))
  })

  expect(await run('check-keys', bothKeys)).toMatchObject({
    code: 1,
    output: expect.stringContaining('k1 still wraps 1500'),
  })
  const killed = start('rewrap-keys', bothKeys)
  await killed.prints(/./)
  await killed.stop('SIGKILL')
  const counts = await countWrappedKeys(db.pool)
  expect(counts.get('k1')).toBeGreaterThan(0)
  expect(counts.get('k2')).toBeGreaterThan(0)
  await isReadable(workspaces)
  // A process that still writes with the old key.
  await putSecret(db.pool, oldKeys, (await addWorkspaces(db.pool, 1))[0]!, { name: 'NAME', value: 'late value' }, 100)

  const [one, two] = await Promise.all([run('rewrap-keys', bothKeys), run('rewrap-keys', bothKeys)])
  expect([one.code, two.code]).toEqual([0, 0])
  const { code, output } = await run('check-keys', bothKeys)
  expect([code, output]).toEqual([
    0,
    'k2 is the current key and wraps 1501 data keys\nk1 wraps nothing and may be removed\n',
  ])
  const readsUntilNow = reads
  await expect.poll(() => reads).toBeGreaterThan(readsUntilNow)
  isOver = true
  await Promise.all(readers)

  await isReadable(workspaces, parseMasterKeys(newKey))
  expect(await run('check-keys', newKey)).toMatchObject({ code: 0 })
  expect(await run('check-keys', oldKey)).toMatchObject({
    code: 1,
    output: expect.stringContaining('no master key k2'),
  })
  expect(await run('rewrap-keys', 'k1:short')).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^ENCRYPTION_KEYS /),
  })
})

function start(command: string, keys: string) {
  const { host, port, user, password, database } = db.pool.options
  const databaseUrl = db.pool.options.connectionString ?? `postgresql://${user}:${password}@${host}:${port}/${database}`
  const env = { DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: keys }
  return startProcess([process.execPath, program, command], { env })
}

async function run(command: string, keys: string): Promise<{ code: number | null; output: string }> {
  const { code, out, error } = await start(command, keys).result
  return { code, output: out + error }
}

async function inGroups<T>(items: readonly T[], size: number, work: (item: T) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < items.length; i += size) await Promise.all(items.slice(i, i + size).map(work))
}
