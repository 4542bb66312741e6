import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

/** A caller that takes nothing for so long is gone or stuck. */
const patienceMs = 30_000

/**
 * Sends pieces of text as they come, and asks for the next one only when the caller has taken the last: memory stays the
 * same however long it gets. A caller that leaves, or takes nothing for half a minute, ends it.
 */
export async function sendPieces(response: ServerResponse, pieces: AsyncIterable<string>): Promise<void> {
  response.flushHeaders()
  for await (const piece of pieces) {
    if (response.destroyed) return
    if (response.write(piece)) continue
    const taken = await hasDrained(response)
    if (!taken) {
      response.destroy()
      return
    }
  }
  response.end()
}

async function hasDrained(response: ServerResponse): Promise<boolean> {
  const over = new AbortController()
  const onClose = () => over.abort()
  response.once('close', onClose)
  const timer = setTimeout(onClose, patienceMs)
  try {
    await once(response, 'drain', { signal: over.signal })
    return true
  } catch {
    return false // it closed, broke or took too long: all the same
  } finally {
    clearTimeout(timer)
    response.removeListener('close', onClose)
  }
}
