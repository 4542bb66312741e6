import { expect, it } from 'vitest'
import { isTimeZone, pieceAt } from './zone-pieces.ts'

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

it('knows the names of three letters in the IANA database, and no abbreviation that means several zones', () => {
  const names = letters.flatMap(a => letters.flatMap(b => letters.map(c => a + b + c)))
  const known = names.filter(isTimeZone)
  expect(known).toEqual('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '))
  for (const name of known) expect(Math.abs(pieceAt(name, 0).offsetMs % 1_800_000)).toBe(0)
  expect(names.map(name => name.toLowerCase()).filter(isTimeZone)).toHaveLength(known.length)
})

it.each(
  'Europe/Berlin europe/berlin Asia/Calcutta Europe/Kiev Europe/Kyiv US/Eastern EST5EDT W-SU GB NZ-CHAT Zulu GMT+0 GMT0'
    .concat(' Etc/GMT+5 America/Argentina/Buenos_Aires Pacific/Port_Moresby')
    .split(' '),
)('knows %s', name => {
  expect(isTimeZone(name)).toBe(true)
})

it.each(
  'ART AST SST NST ECT IST CST JST PST BST art SystemV/AST4 systemv/pst8pdt US/Pacific-New Canada/East-Saskatchewan'
    .concat(' Etc/Unknown UTC+1 GMT+5 +01:00 JST-9 Z Europe/Nowhere localtime')
    .split(' ')
    .concat('', ' UTC', 'UTC '),
)('does not know %j', name => {
  expect(isTimeZone(name)).toBe(false)
})
