import { queueBackends } from '@belfry/test-support'
import { expect, it, onTestFinished } from 'vitest'
import { startBelfry } from './belfry.ts'

it('each process warns in one line of a database that may lose tasks', async () => {
  const [backend = 'postgres'] = queueBackends()
  const belfry = await startBelfry(backend) // on a server without fsync
  onTestFinished(() => belfry.close())
  for (const { name, output } of belfry.services) {
    const lines = output.split('\n').filter(line => line.includes('"database.unfit"'))
    expect([name, lines]).toEqual([name, [expect.stringMatching(/"level":"?(warn|40)"?.*fsync is off/)]])
  }
})
