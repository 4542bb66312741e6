import type { ServerResponse } from 'node:http'

/** What responses may keep in the memory of this process until their callers read them. */
const maxBytes = 64 * 1024 * 1024

/** The bytes of each such response, the oldest first. */
const unread = new Map<ServerResponse, number>()
let bytesOfAll = 0

/**
 * Counts the bytes of a response, until `releaseUnread`. Closes the oldest ones when all have too many: new requests do not wait
 * for callers that do not read.
 */
export function holdUnread(response: ServerResponse, bytes: number): void {
  unread.set(response, bytes)
  bytesOfAll += bytes
  for (const oldest of unread.keys()) {
    if (bytesOfAll <= maxBytes) return
    releaseUnread(oldest)
    oldest.destroy()
  }
}

/** Called when the caller has read a response, or left. */
export function releaseUnread(response: ServerResponse): void {
  bytesOfAll -= unread.get(response) ?? 0
  unread.delete(response)
}
