import { isIP } from 'node:net'
import type { Request } from 'express'

/** Returns the address that a request came from. Headers count only as far as TRUST_PROXY goes. */
export function callerAddress(request: Request): string {
  // Express parses the headers even when they do not count.
  const reported = request.app.enabled('trust proxy') ? request.ip : request.socket.remoteAddress
  const address = (reported ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(address) ? address : 'unknown'
}
