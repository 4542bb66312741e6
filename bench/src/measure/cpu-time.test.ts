import { describe, expect, it } from 'vitest'
import { cpuPerOperation, readCpu } from './cpu-time.ts'

describe('CPU time', () => {
  it.runIf(process.platform === 'linux')('of this process grows while it computes', () => {
    const before = readCpu({ me: [process.pid] })
    const until = performance.now() + 50
    while (performance.now() < until);
    const { me = 0 } = cpuPerOperation(before, readCpu({ me: [process.pid] }), 1)
    expect(me).toBeGreaterThan(1000)
  })

  it('of a process that has ended is 0', () => {
    expect(readCpu({ gone: [2 ** 30] })).toEqual({ gone: 0 })
  })

  it('is divided by the number of operations, group by group', () => {
    expect(cpuPerOperation({ node: 100, redis: 10 }, { node: 500, redis: 30 }, 4)).toEqual({ node: 100, redis: 5 })
  })
})
