import { createServer } from 'node:net'
import { freePort } from '@belfry/embedded'
import { PlainError } from './plain-error.ts'

/** Makes sure that the API can listen on the port; 0 finds a free one. */
export async function claimPort(wanted: number): Promise<number> {
  if (wanted === 0) return freePort()
  try {
    // Some systems let one program have all addresses and another one loopback; the browser would find either.
    await listenBriefly(wanted)
    await listenBriefly(wanted, '127.0.0.1')
    return wanted
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    const reason = code === 'EACCES' ? 'needs rights that you do not have' : 'is taken by another program'
    const other = await freePort(wanted < 1024 ? 3000 : (wanted + 100) % 65_536)
    throw new PlainError(`Port ${wanted} ${reason}. Stop it, or choose another one: PORT=${other} npm start`)
  }
}

/** Whether a program could listen on all addresses with this port. */
export function isFree(port: number): Promise<boolean> {
  return listenBriefly(port).then(
    () => true,
    () => false,
  )
}

function listenBriefly(port: number, host?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, ...(host ? { host } : {}) }, () => server.close(() => resolve()))
  })
}
