import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cpuPerOperation, endedChildrenTicks, readCpu, readMemory, withDescendants } from './proc.ts'

it('reads the ticks of ended children after a program name with spaces and brackets', () => {
  const stat = '42 (postgres: a) (b) S 7 42 42 0 -1 4194304 1 2 3 4 100 50 30 12 20 0 1 0 99 0 0'
  expect(endedChildrenTicks(stat)).toBe(42)
})

it('divides CPU time by the number of operations, and reads 0 for a process that has ended', () => {
  expect(cpuPerOperation({ node: 100, redis: 10 }, { node: 500, redis: 30 }, 4)).toEqual({ node: 100, redis: 5 })
  expect(readCpu({ gone: [2 ** 30] })).toEqual({ gone: 0 })
  expect(readMemory({ gone: [2 ** 30] })).toEqual({ gone: 0 })
})

describe.runIf(process.platform === 'linux')('on Linux', () => {
  it('reads the CPU time and the memory of this process', () => {
    const before = readCpu({ me: [process.pid] })
    const until = performance.now() + 50
    while (performance.now() < until);
    expect(cpuPerOperation(before, readCpu({ me: [process.pid] }), 1).me).toBeGreaterThan(1000)
    const { me = 0 } = readMemory({ me: [process.pid] })
    expect(me).toBeGreaterThan(10)
    expect(me).toBeLessThan(4_000)
  })

  it('finds the descendants of a process', async () => {
    const args = ['-c', 'sleep 30 & echo $!; wait']
    const shell = spawn('sh', args, { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    onTestFinished(() => void process.kill(-(shell.pid ?? 0), 'SIGKILL'))
    const [line] = (await once(shell.stdout, 'data')) as [Buffer]
    expect(withDescendants([shell.pid ?? 0])).toEqual([shell.pid, Number(line.toString())])
  })
})
