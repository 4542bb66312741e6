import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Makes a folder for one test; what the test stops when it finishes is stopped before the folder goes. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'belfry embedded-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
