import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { followLog, openLog } from './follow-log.ts'

test('hands on whole lines that come after it began, characters never cut', () => {
  const { path, lines, log } = follow('old\nhalf of the old')
  const bytes = Buffer.from(' line\nnaïve 🎉\nunfinished')
  for (const byte of bytes) {
    appendFileSync(path, Buffer.of(byte))
    log.catchUp()
  }
  expect(lines).toEqual([' line', 'naïve 🎉'])
})

test('goes on when the file is emptied below it', () => {
  const { path, lines, log } = follow('')
  appendFileSync(path, 'first line\n')
  log.catchUp()
  truncateSync(path)
  appendFileSync(path, 'second\n')
  log.catchUp()
  expect(lines).toEqual(['first line', 'second'])
})

test('reads more than it takes at once', () => {
  const { path, lines, log } = follow('')
  const long = 'x'.repeat(100_000)
  appendFileSync(path, `${long}\n${long}\n`)
  log.catchUp()
  expect(lines).toEqual([long, long])
})

test('sets a large log aside when a service is started', () => {
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
