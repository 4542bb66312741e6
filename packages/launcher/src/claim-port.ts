import { createServer } from 'node:net'
import { freePort } from '@belfry/embedded'
import { PlainError } from './plain-error.ts'

/** Checks that the API can listen on the port; 0 means any free port. */
export async function claimPort(wanted: number): Promise<number> {
  if (wanted === 0) return freePort()
  try {
    // Some systems let one program listen on all addresses and another on loopback, and a browser could reach either.
    await listenBriefly(wanted)
    await listenBriefly(wanted, '127.0.0.1')
    return wanted
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    const reason = code === 'EACCES' ? 'requires privileges that you do not have' : 'is in use by another program'
    const other = await freePort(wanted < 1024 ? 3000 : (wanted + 100) % 65_536)
    throw new PlainError(`Port ${wanted} ${reason}. Stop it, or choose another port: PORT=${other} npm start`)
  }
}

/** Returns whether a program can listen on this port on all addresses. */
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
