import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { checkBackups } from '../doctor/checks/data-folder.ts'
import { findBackup } from '../restore/find-backup.ts'
import { prune } from './backup-store.ts'
import { openStore } from './open-store.ts'

const nameOf = (day: number) => `belfry-202611${day}T030000Z`
const manifest = {
  ...{ format: 1, kind: 'dump', createdAt: '2020-11-24T03:00:00.000Z', version: '0.3.0', migration: 'x' },
  ...{ postgres: '18.4', rows: {}, hasSecrets: false, files: [] },
}
const damaged = 'The manifest.json of this backup is damaged, or a later version of Belfry wrote it.'
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belfry-store-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await put(21, '{"format":1,"ki')
  await put(22, JSON.stringify(manifest))
  await put(23, JSON.stringify({ ...manifest, format: 2 }))
  await put(24, JSON.stringify(manifest))
  await mkdir(join(folder, nameOf(25)))
})

async function put(day: number, text: string): Promise<void> {
  await mkdir(join(folder, nameOf(day)))
  await writeFile(join(folder, nameOf(day), 'manifest.json'), text)
}

const open = (place = folder) =>
  openStore({ schedule: null, folder: place, keep: 7, s3: { endpoint: null, region: '' } })
const installation = () => {
  const env = { BACKUP_FOLDER: folder, BACKUP_SCHEDULE: '0 3 * * *' }
  return { dataDir: null, wantedDataDir: folder, launcher: null, env }
}
const find = (wanted: string) => findBackup(installation(), wanted, folder)

it('lists the backups beside those that it cannot read', async () => {
  expect(await open().list()).toEqual([
    { name: nameOf(24), manifest },
    { name: nameOf(23), problem: damaged },
    { name: nameOf(22), manifest },
    { name: nameOf(21), problem: damaged },
  ])
})

it('says that it cannot read a manifest or the folder', async () => {
  await mkdir(join(folder, nameOf(26), 'manifest.json'), { recursive: true })
  const [newest] = await open().list()
  expect(newest).toEqual({ name: nameOf(26), problem: expect.stringContaining('EISDIR') })
  const loop = join(folder, 'loop')
  await symlink(loop, loop)
  await expect(open(loop).list()).rejects.toThrow('ELOOP')
})

it('deletes old backups, and none that cannot be read', async () => {
  expect(await prune(open(), 1)).toEqual([nameOf(22)])
  expect((await readdir(folder)).sort()).toEqual([21, 23, 24, 25].map(nameOf))
})

it('finds the latest backup, and refuses it when the newest cannot be read', async () => {
  expect(await find('latest')).toBe(join(folder, nameOf(24)))
  await put(26, '')
  const refusal = `The backup ${nameOf(26)} cannot be read: ${damaged}\nThe newest that can be read is ${nameOf(24)}.`
  await expect(find('latest')).rejects.toThrow(refusal)
  await expect(find(nameOf(26))).rejects.toThrow(refusal)
  expect(await find(nameOf(24))).toBe(join(folder, nameOf(24)))
})

it('the doctor warns of backups that it cannot read', async () => {
  const warnings = [23, 21].map(day => ({
    level: 'warning',
    message: `The backup ${nameOf(day)} cannot be read: ${damaged}`,
  }))
  const old = { level: 'problem', message: expect.stringContaining('The newest backup is of 2020-11-24') }
  expect(await checkBackups(installation())).toMatchObject([...warnings, old])
  await put(26, JSON.stringify({ ...manifest, createdAt: new Date().toISOString() }))
  expect((await checkBackups(installation())).at(-1)).toMatchObject({ level: 'ok', message: /verify checks it$/ })
  await put(27, '')
  expect((await checkBackups(installation())).at(-1)).toMatchObject({ level: 'ok', message: /that can be read is of/ })
  for (const day of [22, 24, 26]) await rm(join(folder, nameOf(day)), { recursive: true })
  expect((await checkBackups(installation())).at(-1)).toEqual({
    ...{ level: 'problem', message: `No backup in ${folder} can be read.`, advice: expect.any(String) },
  })
  await symlink(join(folder, 'loop'), join(folder, 'loop'))
  const lost = { ...installation(), env: { ...installation().env, BACKUP_FOLDER: join(folder, 'loop') } }
  expect(await checkBackups(lost)).toMatchObject([{ level: 'problem', advice: /^Check BACKUP_FOLDER/ }])
})
