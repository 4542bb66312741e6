import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { inTemporaryFolder } from './temporary-folder.ts'

it('removes its folder, and those that killed processes left more than a day ago', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'belfry-folders-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  const prefix = join(parent, '.belfry-backup-')
  for (const [name, hours] of Object.entries({ abcdef: 25, ghijkl: 23, notes: 25 })) {
    await mkdir(`${prefix}${name}`)
    const at = new Date(Date.now() - hours * 3_600_000)
    await utimes(`${prefix}${name}`, at, at)
  }
  expect(await inTemporaryFolder(prefix, async () => readdir(parent))).toHaveLength(3)
  expect(await readdir(parent)).toEqual(['.belfry-backup-ghijkl', '.belfry-backup-notes'])
})
