import { createSecretKey, type KeyObject } from 'node:crypto'

/** A key that only encrypts data keys, and is never stored in the database. */
export type MasterKey = { id: string; key: KeyObject }

/** The master keys of an installation: the first one encrypts, all of them decrypt. */
export type MasterKeys = { readonly current: MasterKey; readonly all: ReadonlyMap<string, MasterKey> }

const keyBytes = 32
const idForm = /^[A-Za-z0-9_-]{1,32}$/
const base64Form = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * Parses `id:key` pairs separated by commas, each key 32 bytes in base64.
 * @throws Error that describes the problem by the id of the key, without the key itself.
 */
export function parseMasterKeys(text: string): MasterKeys {
  const all = new Map<string, MasterKey>()
  for (const entry of text.split(',')) {
    const key = parseMasterKey(entry.trim())
    if (all.has(key.id)) throw new Error(`has two keys with the id ${key.id}`)
    all.set(key.id, key)
  }
  const [current] = all.values()
  if (!current) throw new Error('has no key')
  return { current, all }
}

function parseMasterKey(entry: string): MasterKey {
  const [, id = '', base64 = ''] = /^([^:]*):(.*)$/.exec(entry) ?? []
  if (!idForm.test(id)) {
    throw new Error('must be a list of id:key, separated by commas; an id has 1 to 32 letters, digits, "-" or "_"')
  }
  const bytes = Buffer.from(base64, 'base64')
  if (!base64Form.test(base64) || bytes.length !== keyBytes) {
    throw new Error(`has a key ${id} that is not ${keyBytes} bytes in base64; make one with: openssl rand -base64 32`)
  }
  if (new Set(bytes).size === 1) throw new Error(`has a key ${id} that is not random`)
  return { id, key: createSecretKey(bytes) }
}
