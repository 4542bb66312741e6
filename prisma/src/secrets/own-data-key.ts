import { type MasterKeys, newDataKey, unwrapDataKey } from '@belfry/vault'

export type SealedWithOwnKey = { sealed: Uint8Array; masterKeyId: string; wrappedKey: Uint8Array }

/** A row has one data key, so its version is constant. */
export const ownKeyVersion = 1

/** Encrypts a text with a new data key. The result can be opened for the row with this id only. */
export function sealWithOwnKey(masterKeys: MasterKeys, id: string, text: string) {
  const wrapped = newDataKey(masterKeys, id, ownKeyVersion)
  const { masterKeyId, wrappedKey } = wrapped
  return { sealed: unwrapDataKey(masterKeys, wrapped).seal(id, text), masterKeyId, wrappedKey }
}

/**
 * Decrypts a text of the row with this id.
 * @throws Error when its master key is missing, or when the text was stored for another row.
 */
export function openWithOwnKey(
  masterKeys: MasterKeys,
  id: string,
  { sealed, masterKeyId, wrappedKey }: SealedWithOwnKey,
): string {
  // A row owns its data key, as a workspace owns the data keys of its secrets.
  const wrapped = { workspaceId: id, version: ownKeyVersion, masterKeyId, wrappedKey }
  return unwrapDataKey(masterKeys, wrapped).open(id, sealed)
}
