import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import type { MasterKey, MasterKeys } from './master-keys.ts'

/** A key that encrypts the secrets of one workspace. */
export type DataKey = ReturnType<typeof unwrapDataKey>

export type WrappedDataKey = { workspaceId: string; version: number; masterKeyId: string; wrappedKey: Uint8Array }

const keyBytes = 32

/** Returns the next data key of a workspace, wrapped by the current master key. */
export function newDataKey(masterKeys: MasterKeys, workspaceId: string, version: number): WrappedDataKey {
  return wrap(masterKeys.current, workspaceId, version, randomBytes(keyBytes))
}

/**
 * Unwraps a data key.
 * @throws Error that names the master key when it is missing, or when another one wrapped the data key.
 */
export function unwrapDataKey(masterKeys: MasterKeys, wrapped: WrappedDataKey) {
  const { workspaceId, version } = wrapped
  const key = createSecretKey(unwrap(masterKeys, wrapped))
  return {
    workspaceId,
    version,
    /** Encrypts text for the object with this id, a UUID. */
    seal: (id: string, text: string): Buffer =>
      seal(key, Buffer.from(text), contextOf('secret', workspaceId, id, version)),
    /** Decrypts a value that was sealed for the same id. Throws when it was sealed for another id, or changed. */
    open: (id: string, sealed: Uint8Array): string =>
      open(key, sealed, contextOf('secret', workspaceId, id, version)).toString(),
    /** Derives 32 bytes for the object with this id: always the same bytes. Other keys cannot be derived from them. */
    derive: (id: string): Buffer =>
      Buffer.from(hkdfSync('sha256', key, '', contextOf('signing key', workspaceId, id, version), keyBytes)),
  }
}

/** Wraps a data key again by the current master key. The data key and the values that it encrypts stay unchanged. */
export function rewrapDataKey(masterKeys: MasterKeys, wrapped: WrappedDataKey): WrappedDataKey {
  return wrap(masterKeys.current, wrapped.workspaceId, wrapped.version, unwrap(masterKeys, wrapped))
}

function wrap(by: MasterKey, workspaceId: string, version: number, bytes: Uint8Array): WrappedDataKey {
  const wrappedKey = seal(by.key, bytes, contextOf('data key', workspaceId, version, by.id))
  return { workspaceId, version, masterKeyId: by.id, wrappedKey }
}

function unwrap(masterKeys: MasterKeys, { workspaceId, version, masterKeyId, wrappedKey }: WrappedDataKey): Buffer {
  const masterKey = masterKeys.all.get(masterKeyId)
  if (!masterKey) throw new Error(`There is no master key ${masterKeyId}, by which stored secrets are encrypted.`)
  try {
    return open(masterKey.key, wrappedKey, contextOf('data key', workspaceId, version, masterKeyId))
  } catch (error) {
    const message = `The master key ${masterKeyId} is not the one by which stored secrets are encrypted.`
    throw new Error(message, { cause: error })
  }
}

/** Returns the context of a sealed value. The value cannot be opened with another context. */
function contextOf(...parts: Array<string | number>): Buffer {
  return Buffer.from(parts.join('\0'))
}

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Encrypts and authenticates bytes with a random nonce. Returns nonce, ciphertext and tag. */
function seal(key: KeyObject, plain: Uint8Array, context: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(context)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/**
 * Decrypts the result of `seal` with the same key and context.
 * @throws Error for other input; its message does not reveal the content.
 */
function open(key: KeyObject, sealed: Uint8Array, context: Buffer): Buffer {
  if (sealed.length < nonceBytes + tagBytes) throw new Error('The sealed value is too short.')
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(context).setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()])
}
