import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { parseStat, withDescendants } from './proc.ts'

it('reads the parent after a program name with spaces and brackets', () => {
  const stat = '42 (postgres: a) (b) S 7 42 42 0 -1 4194304 1 2 3 4 100 50 30 12 20 0 1 0 99 0 0'
  expect(parseStat(stat)).toEqual({ parent: 7, endedChildrenTicks: 42 })
})

it.runIf(process.platform === 'linux')('finds the descendants of a process', async () => {
  const shell = spawn('sh', ['-c', 'sleep 30 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  onTestFinished(() => void process.kill(-(shell.pid ?? 0), 'SIGKILL'))
  const [line] = (await once(shell.stdout, 'data')) as [Buffer]
  expect(withDescendants([shell.pid ?? 0])).toEqual([shell.pid, Number(line.toString())])
  expect(withDescendants([process.pid])).toEqual(expect.arrayContaining([shell.pid, Number(line.toString())]))
})
