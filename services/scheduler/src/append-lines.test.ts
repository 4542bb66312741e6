import { mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { appendLines } from './append-lines.ts'

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'append-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'audit.jsonl')
}

it('makes a file that only its user reads, and a new one after a rotation', async () => {
  const file = setup()
  await appendLines(file, 'first\n')
  await appendLines(file, 'second\n')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  renameSync(file, `${file}.1`)
  await appendLines(file, 'third\n')
  expect([readFileSync(`${file}.1`, 'utf8'), readFileSync(file, 'utf8')]).toEqual(['first\nsecond\n', 'third\n'])
})
