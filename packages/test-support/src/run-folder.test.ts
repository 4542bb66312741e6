import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createRunFolder, removeRunFolder } from './run-folder.ts'

it('removes the folders of killed runs, but not those of another user', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-run-folders-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  const killed = join(folder, 'belfry-tests-killed')
  mkdirSync(killed)

  const user = vi.spyOn(process as Required<typeof process>, 'getuid').mockReturnValue(4_294_967_294)
  const first = await createRunFolder()
  expect(existsSync(killed)).toBe(true)
  user.mockRestore()
  const second = await createRunFolder()
  expect([first, second, killed].map(path => existsSync(path))).toEqual([true, true, false])
  for (const run of [first, second]) await removeRunFolder(run)
})
