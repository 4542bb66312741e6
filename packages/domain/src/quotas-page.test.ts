import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defaultTiers, figureNames, NO_LIMIT, tierNames } from './tiers.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/quotas.md'), 'utf8')
const units: Record<string, number> = { '': 1, MB: 1e6, GB: 1e9, TB: 1e12 }

function readLimit(cell: string): number {
  if (cell === 'none') return NO_LIMIT
  const [, digits = '', unit = ''] = /^([\d,]+) ?(MB|GB|TB)?$/.exec(cell) ?? []
  return Number(digits.replaceAll(',', '')) * (units[unit] ?? Number.NaN)
}

it('docs/quotas.md has every limit of every tier', () => {
  const rows = [...page.matchAll(/^\| [^|]+ \| `(\w+)` \| (.+) \|$/gm)]
  const documented = rows.map(([, name, cells = '']) => [name, cells.split(' | ').map(readLimit)])
  const keys = Object.keys(figureNames) as Array<keyof typeof figureNames>
  const actual = keys.map(key => [figureNames[key], tierNames.map(tier => defaultTiers[tier][key])])
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(actual))
})
