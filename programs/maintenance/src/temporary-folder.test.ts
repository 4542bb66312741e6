import { lutimes, mkdir, mkdtemp, readdir, rm, symlink, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from './temporary-folder.ts'

it('removes its folder, and those that killed processes left more than a week ago', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'belfry-folders-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  const prefix = join(parent, '.belfry-backup-')
  for (const [name, hours] of Object.entries({ abcdef: 169, ghijkl: 167, notes: 169 })) {
    await mkdir(`${prefix}${name}`)
    const at = new Date(Date.now() - hours * 3_600_000)
    await utimes(`${prefix}${name}`, at, at)
  }
  await symlink(parent, `${prefix}linked`)
  await lutimes(`${prefix}linked`, 0, 0)
  {
    await using _folder = await temporaryFolder(prefix)
    expect(await readdir(parent)).toHaveLength(4)
  }
  expect(await readdir(parent)).toEqual(['ghijkl', 'linked', 'notes'].map(name => `.belfry-backup-${name}`))
})
