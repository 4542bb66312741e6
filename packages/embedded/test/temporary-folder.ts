import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Creates a folder for one test. It is removed after the test's other clean-ups. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'belfry embedded-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
