import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'

it('a script runs also when it is started through a link', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-link-'))
  symlinkSync(join(repositoryRoot(), 'scripts'), join(folder, 'scripts'))
  const started = [join(folder, 'scripts/release-notes.mjs'), 'unknown']
  const { status, stderr } = spawnSync(process.execPath, started, { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  expect({ status, stderr }).toEqual({ status: 1, stderr: 'CHANGELOG.md has no dated section unknown.\n' })
})
