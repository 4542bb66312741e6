import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromId, newUuid, toId } from './id.ts'

const uuid = '0199d1c0-8d2f-7c3a-9b4e-5f60718293a4'

describe('newUuid', () => {
  it('makes a UUIDv7, lower-case with dashes', () => {
    expect(newUuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('starts with the time in milliseconds', () => {
    expect(newUuid(0x0199d1c08d2f).slice(0, 13)).toBe('0199d1c0-8d2f')
  })

  it('does not repeat ids when its pool of random bytes is refilled', () => {
    const made = Array.from({ length: 2_000 }, () => newUuid(1_000))
    expect(new Set(made).size).toBe(made.length)
  })

  it('keeps the order in which ids were made within a millisecond', () => {
    const made = [2_000, 2_001, 1_999].flatMap(ms => Array.from({ length: 2_000 }, () => newUuid(ms)))
    const ofEach = [made.slice(4_000), made.slice(0, 2_000), made.slice(2_000, 4_000)]
    expect(ofEach.flat()).toEqual([...made].sort())
  })
})

describe('toId and fromId', () => {
  // The examples of the TypeID specification.
  it.each([
    ['00000000-0000-0000-0000-000000000000', '00000000000000000000000000'],
    ['00000000-0000-0000-0000-000000000001', '00000000000000000000000001'],
    ['00000000-0000-0000-0000-00000000000a', '0000000000000000000000000a'],
    ['00000000-0000-0000-0000-000000000010', '0000000000000000000000000g'],
    ['00000000-0000-0000-0000-000000000020', '00000000000000000000000010'],
    ['ffffffff-ffff-ffff-ffff-ffffffffffff', '7zzzzzzzzzzzzzzzzzzzzzzzzz'],
    ['0110c853-1d09-52d8-d73e-1194e95b5f19', '0123456789abcdefghjkmnpqrs'],
    ['01890a5d-ac96-774b-bcce-b302099a8057', '01h455vb4pex5vsknk084sn02q'],
  ])('write %s as %s and read it back', (uuid, suffix) => {
    expect(toId('task', uuid)).toBe(`task_${suffix}`)
    expect(fromId('task', `task_${suffix}`)).toBe(uuid)
  })

  it('are each other’s inverse, and keep the order', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (a, b) => {
        expect(fromId('run', toId('run', a))).toBe(a)
        expect(toId('run', a) < toId('run', b)).toBe(a < b)
      }),
    )
  })

  it('fromId returns null, or a UUID that toId formats as the same text', () => {
    // fast-check's unit 'binary' takes a second to list these.
    const anyCharacter = fc.nat(0x10ffff).map(code => String.fromCodePoint(code))
    const near = fc.tuple(fc.nat(30), fc.string({ unit: anyCharacter, maxLength: 2 })).map(([at, piece]) => {
      const id = toId('task', uuid)
      return id.slice(0, at) + piece + id.slice(at + piece.length)
    })
    fc.assert(
      fc.property(near, text => {
        const read = fromId('task', text)
        expect(read === null ? null : toId('task', read)).toBe(read === null ? null : text)
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })

  const good = toId('task', uuid)
  it.each([
    ['another kind', toId('run', uuid)],
    ['no prefix', good.slice(5)],
    ['a prefix only', 'task_'],
    ['the prefix twice', `task_${good}`],
    ['upper case', good.toUpperCase()],
    ['an upper-case prefix', `TASK_${good.slice(5)}`],
    ['an upper-case letter', `${good.slice(0, -1)}Z`],
    ['a character too few', good.slice(0, -1)],
    ['a character too many', `${good}0`],
    ['a first character above 7', `task_8${good.slice(6)}`],
    ['the letter i', `${good.slice(0, -1)}i`],
    ['the letter l', `${good.slice(0, -1)}l`],
    ['the letter o', `${good.slice(0, -1)}o`],
    ['the letter u', `${good.slice(0, -1)}u`],
    ['a character beyond ASCII', `${good.slice(0, -1)}\u0130`],
    ['a NUL', `${good.slice(0, -1)}\0`],
    ['a dash for the underscore', good.replace('_', '-')],
    ['a UUID', uuid],
    ['white space around it', ` ${good.slice(0, -1)}`],
    ['nothing', ''],
  ])('fromId refuses %s', (_, text) => {
    expect(fromId('task', text)).toBeNull()
  })
})
