import { type MasterKeys, newDataKey, unwrapDataKey } from '@belfry/vault'

/** The stored content of a message: encrypted with a data key of its own, or plain when it holds no secret. */
export type StoredContent = { content: Buffer; masterKeyId: string | null; wrappedKey: Uint8Array | null }

/** Returns the content of a message as it is stored. With master keys it is encrypted, bound to the id of the message. */
export function storedContent(id: string, text: string, masterKeys: MasterKeys | null): StoredContent {
  if (masterKeys === null) return { content: Buffer.from(text), masterKeyId: null, wrappedKey: null }
  const wrapped = newDataKey(masterKeys, id, keyVersion)
  const { masterKeyId, wrappedKey } = wrapped
  return { content: unwrapDataKey(masterKeys, wrapped).seal(id, text), masterKeyId, wrappedKey }
}

/**
 * Returns the content of a message.
 * @throws Error when its master key is missing, or when the content was stored for another message.
 */
export function openContent(id: string, stored: StoredContent, masterKeys: MasterKeys): string {
  const { content, masterKeyId, wrappedKey } = stored
  if (masterKeyId === null || wrappedKey === null) return content.toString()
  return unwrapDataKey(masterKeys, ownKey(id, masterKeyId, wrappedKey)).open(id, content)
}

// A message owns its data key, as a workspace owns the data keys of its secrets.
function ownKey(id: string, masterKeyId: string, wrappedKey: Uint8Array) {
  return { workspaceId: id, version: keyVersion, masterKeyId, wrappedKey }
}

/** A message has one data key, so its version is constant. */
export const keyVersion = 1
