import { expect, it } from 'vitest'
import { type DurabilitySettings, judgeDatabase } from './inspect-database.ts'

const safe: DurabilitySettings = {
  fsync: 'on',
  fullPageWrites: 'on',
  synchronousCommit: 'on',
  synchronousStandbys: '',
}

it.each<[Partial<DurabilitySettings>, string[]]>([
  [{}, []],
  [{ synchronousCommit: 'remote_apply', synchronousStandbys: '*' }, []],
  [{ synchronousCommit: 'local' }, []],
  [{ synchronousCommit: 'local', synchronousStandbys: 'ANY 1 (a, b)' }, ['synchronous_commit is local']],
  [{ synchronousCommit: 'off' }, ['synchronous_commit is off']],
  [{ fsync: 'off', fullPageWrites: 'off' }, ['fsync is off', 'full_page_writes is off']],
  [{ fsync: null, fullPageWrites: null, synchronousCommit: null, synchronousStandbys: null }, []],
])('judges %j', (settings, findings) => {
  const found = judgeDatabase({ ...safe, ...settings })
  expect(found).toEqual(findings.map(start => expect.stringMatching(new RegExp(`^${start}: .* Set it to on\\.$`))))
})
