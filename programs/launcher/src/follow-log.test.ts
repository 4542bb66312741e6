import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { followLog, openLog } from './follow-log.ts'

test('passes on complete lines that are added after the start, with complete characters', () => {
  const { path, lines, log } = follow('old\nhalf of the old')
  const bytes = Buffer.from(' line\nnaïve 🎉\nunfinished')
  for (const byte of bytes) {
    appendFileSync(path, Buffer.of(byte))
    log.catchUp()
  }
  expect(lines).toEqual([' line', 'naïve 🎉'])
})

test('continues when the file is truncated', () => {
  const { path, lines, log } = follow('')
  appendFileSync(path, 'first line\n')
  log.catchUp()
  truncateSync(path)
  appendFileSync(path, 'second\n')
  log.catchUp()
  expect(lines).toEqual(['first line', 'second'])
})

test('reads more than one chunk', () => {
  const { path, lines, log } = follow('')
  const long = 'x'.repeat(100_000)
  appendFileSync(path, `${long}\n${long}\n`)
  log.catchUp()
  expect(lines).toEqual([long, long])
})

test('rotates a large log when a service starts', () => {
  const path = logPath()
  writeFileSync(path, 'line\n')
  truncateSync(path, 11 * 1024 * 1024)
  openLog(path)
  expect([statSync(path).size, statSync(`${path}.old`).size]).toEqual([0, 11 * 1024 * 1024])
})

function follow(content: string) {
  const path = logPath()
  writeFileSync(path, content)
  const lines: string[] = []
  const log = followLog(path, line => lines.push(line))
  onTestFinished(() => log.close())
  return { path, lines, log }
}

function logPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'api.log')
}
