import { describe, expect, it } from 'vitest'
import { defaultTiers, NO_LIMIT, parseTiers, presentLimit, tierNames } from './tiers.ts'

describe('defaultTiers', () => {
  it('never allows less in a higher tier', () => {
    const rows = tierNames.map(name => Object.values(defaultTiers[name]))
    rows.forEach((row, i) => {
      row.forEach((figure, j) => {
        expect(figure).toBeGreaterThanOrEqual(rows[i - 1]?.[j] ?? 1)
      })
    })
  })

  it.each([
    ['free', 10_000, 100_000_000, 2, 7, 10],
    ['startup', 500_000, 5_000_000_000, 10, 30, 50],
    ['scaleup', 10_000_000, 50_000_000_000, 50, 90, 200],
    ['unicorn', 200_000_000, 1_000_000_000_000, 500, 365, 1000],
    ['unlimited', NO_LIMIT, NO_LIMIT, 500, 365, 1000],
  ] as const)('has the published figures of %s', (tier, ...figures) => {
    const { executions, storageBytes, workspaces, logDays, requestsPerSecond } = defaultTiers[tier]
    expect([executions, storageBytes, workspaces, logDays, requestsPerSecond]).toEqual(figures)
  })
})

it('presentLimit shows no limit as null', () => {
  expect([presentLimit(0), presentLimit(10_000), presentLimit(NO_LIMIT)]).toEqual([0, 10_000, null])
})

describe('parseTiers', () => {
  it('keeps all defaults for empty text', () => {
    for (const text of ['', ' ', '{}']) expect(parseTiers(text)).toEqual(defaultTiers)
  })

  it('overrides the given limits and keeps the others', () => {
    const tiers = parseTiers('{"free":{"executions":0,"storage_bytes":1000},"unicorn":{"log_days":30}}')
    expect(tiers.free).toEqual({ ...defaultTiers.free, executions: 0, storageBytes: 1000 })
    expect(tiers.unicorn).toEqual({ ...defaultTiers.unicorn, logDays: 30 })
    expect(tiers.startup).toBe(defaultTiers.startup)
  })

  it('takes null as no limit of executions and storage only', () => {
    const tiers = parseTiers('{"unicorn":{"executions":null,"storage_bytes":null}}')
    expect(tiers.unicorn).toEqual({ ...defaultTiers.unicorn, executions: NO_LIMIT, storageBytes: NO_LIMIT })
    expect(() => parseTiers('{"unicorn":{"workspaces":null}}')).toThrow(/unicorn\.workspaces must be a whole number/)
  })

  it.each([
    ['nonsense', /must be a JSON object/],
    ['[]', /must be a JSON object/],
    ['null', /must be a JSON object/],
    ['{"free":7}', /free must be a JSON object/],
    ['{"fre":{}}', /fre is not a tier; did you mean free\?/],
    ['{"enterprise":{}}', /enterprise is not a tier; there are free, startup, scaleup, unicorn, unlimited/],
    ['{"free":{"storageBytes":1}}', /storageBytes is not a limit of free; did you mean storage_bytes\?/],
    ['{"free":{"executions":"many"}}', /free\.executions must be a whole number of at least 0/],
    ['{"free":{"executions":1.5}}', /whole number/],
    ['{"free":{"executions":-1}}', /whole number/],
    ['{"free":{"executions":9007199254740992}}', /whole number/],
    ['{"free":{"log_days":0}}', /free\.log_days must be a whole number of at least 1/],
    ['{"free":{"log_days":36501}}', /free\.log_days must be at most 36500/],
    ['{"free":{"audit_days":36501}}', /free\.audit_days must be at most 36500/],
    ['{"free":{"slots_percent":0}}', /free\.slots_percent must be a whole number of at least 1/],
    ['{"free":{"slots_percent":101}}', /free\.slots_percent must be at most 100/],
    ['{"__proto__":{"executions":1}}', /is not a tier/],
  ])('refuses %s', (text, message) => {
    expect(() => parseTiers(text)).toThrow(message)
  })
})
