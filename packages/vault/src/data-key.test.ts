import { randomBytes, randomUUID } from 'node:crypto'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { describe, expect, it } from 'vitest'
import { newDataKey, rewrapDataKey, unwrapDataKey } from './data-key.ts'
import { parseMasterKeys } from './master-keys.ts'

const key = () => randomBytes(32).toString('base64')
const [workspaceId, id] = [randomUUID(), randomUUID()]

describe('a data key', () => {
  it('opens what it has sealed, and refuses a value that was sealed for another id or changed', () => {
    const keys = parseMasterKeys(`k1:${key()}`)
    const wrapped = newDataKey(keys, workspaceId, 1)
    const dataKey = unwrapDataKey(keys, wrapped)
    const sealed = dataKey.seal(id, 'wért 😀')
    expect(unwrapDataKey(keys, wrapped).open(id, sealed)).toBe('wért 😀')
    expect(sealed.includes(Buffer.from('wért'))).toBe(false)
    expect(() => dataKey.open(randomUUID(), sealed)).toThrow()
    for (const at of [0, 12, sealed.length - 1]) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => dataKey.open(id, changed)).toThrow()
    }
    for (const length of [0, 27, sealed.length - 1]) {
      expect(() => dataKey.open(id, sealed.subarray(0, length))).toThrow()
    }
  })

  it('cannot be unwrapped for another workspace or version, or by another master key', () => {
    const keys = parseMasterKeys(`k1:${key()},k2:${key()}`)
    const wrapped = newDataKey(keys, workspaceId, 1)
    for (const change of [{ workspaceId: randomUUID() }, { version: 2 }, { masterKeyId: 'k2' }]) {
      expect(() => unwrapDataKey(keys, { ...wrapped, ...change })).toThrow('is not the one')
    }
    expect(() => unwrapDataKey(parseMasterKeys(`k1:${key()}`), wrapped)).toThrow('k1 is not the one')
    expect(() => unwrapDataKey(parseMasterKeys(`k3:${key()}`), wrapped)).toThrow('no master key k1')
  })

  it('keeps what it has sealed readable when another master key wraps it', () => {
    const [first, second] = [`k1:${key()}`, `k2:${key()}`]
    const wrapped = newDataKey(parseMasterKeys(first), workspaceId, 3)
    const sealed = unwrapDataKey(parseMasterKeys(first), wrapped).seal(id, 'value')
    const again = rewrapDataKey(parseMasterKeys(`${second},${first}`), wrapped)
    expect(again).toMatchObject({ workspaceId, version: 3, masterKeyId: 'k2' })
    expect(unwrapDataKey(parseMasterKeys(second), again).open(id, sealed)).toBe('value')
  })

  it('derives the same bytes for an object whichever master key wraps it, and others for each object and version', () => {
    const [first, second] = [`k1:${key()}`, `k2:${key()}`]
    const wrapped = newDataKey(parseMasterKeys(first), workspaceId, 1)
    const derived = unwrapDataKey(parseMasterKeys(first), wrapped).derive(id)
    const both = parseMasterKeys(`${second},${first}`)
    expect(derived).toHaveLength(32)
    expect(unwrapDataKey(both, rewrapDataKey(both, wrapped)).derive(id)).toEqual(derived)
    expect(unwrapDataKey(both, wrapped).derive(randomUUID())).not.toEqual(derived)
    expect(unwrapDataKey(both, newDataKey(both, workspaceId, 1)).derive(id)).not.toEqual(derived)
  })

  it('never uses a nonce twice', { timeout: 60_000 }, () => {
    const keys = parseMasterKeys(`k1:${key()}`)
    const dataKey = unwrapDataKey(keys, newDataKey(keys, workspaceId, 1))
    const nonces = new Set<string>()
    const count = propertyRuns(100_000)
    for (let i = 0; i < count; i++) nonces.add(dataKey.seal(id, 'same value').toString('latin1', 0, 12))
    expect(nonces.size).toBe(count)
  })
})
