import { describe, expect, it, vi } from 'vitest'
import { type Connections, type LockOptions, transactWithLocks } from './transact-with-locks.ts'

/**
 * Runs a transaction that does not get its locks, once for each look at the sessions that hold them. A busy machine looks
 * after the statement has ended, and finds none.
 */
function transact(looks: number[][], options: LockOptions) {
  const onBlocked = vi.fn<(line: string) => void>()
  let look = () => {}
  const watcher = {
    async query() {
      look()
      return { rows: (looks.shift() ?? []).map(pid => ({ pid, application: 'report', seconds: 1, query: 'SELECT' })) }
    },
  }
  const connections = { client: { query: async () => {} }, watcher, pid: 1 } as unknown as Connections
  const work = () =>
    new Promise<string>((resolve, reject) => {
      if (looks.length === 0) resolve('done')
      look = () => reject(Object.assign(new Error('blocked'), { code: '55P03' }))
    })
  return { result: transactWithLocks(connections, 'it', work, { ...options, onBlocked }), onBlocked }
}

describe('when a look at the sessions finds none', () => {
  it('does not give up before it can name one', async () => {
    const { result } = transact([[], [7]], { patienceMs: 0 })
    await expect(result).rejects.toThrow('SELECT pg_terminate_backend(7);')
  })

  it('reports none', async () => {
    const { result, onBlocked } = transact([[7], []], {})
    expect(await result).toBe('done')
    expect(onBlocked.mock.calls).toEqual([[expect.stringContaining('pid 7 (report')]])
  })
})
