import { type MasterKeys, newDataKey, unwrapDataKey } from '@belfry/vault'

/** What a message says, as it is stored: encrypted by a key of its own, or open when it holds no secret. */
export type StoredContent = { content: Buffer; masterKeyId: string | null; wrappedKey: Uint8Array | null }

/** Makes what is stored of a message; with master keys it is encrypted, and can be opened as this message only. */
export function storedContent(id: string, text: string, masterKeys: MasterKeys | null): StoredContent {
  if (masterKeys === null) return { content: Buffer.from(text), masterKeyId: null, wrappedKey: null }
  const wrapped = newDataKey(masterKeys, id, keyVersion)
  const { masterKeyId, wrappedKey } = wrapped
  return { content: unwrapDataKey(masterKeys, wrapped).seal(id, text), masterKeyId, wrappedKey }
}

/**
 * Reads what a message says.
 * @throws Error when its master key is missing, or when it was not stored as this message.
 */
export function openContent(id: string, stored: StoredContent, masterKeys: MasterKeys): string {
  const { content, masterKeyId, wrappedKey } = stored
  if (masterKeyId === null || wrappedKey === null) return content.toString()
  return unwrapDataKey(masterKeys, ownKey(id, masterKeyId, wrappedKey)).open(id, content)
}

// A message is the owner of its key, as a workspace is of those of its secrets.
function ownKey(id: string, masterKeyId: string, wrappedKey: Uint8Array) {
  return { workspaceId: id, version: keyVersion, masterKeyId, wrappedKey }
}

/** A message has one key for its short life. */
export const keyVersion = 1
