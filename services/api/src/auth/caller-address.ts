import { isIP } from 'node:net'
import type { Request } from 'express'

/** The address that a request came from. What a header says of it counts only as far as TRUST_PROXY goes. */
export function callerAddress(request: Request): string {
  // Express looks at the headers in any case, however little they count.
  const told = request.app.enabled('trust proxy') ? request.ip : request.socket.remoteAddress
  const address = (told ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(address) ? address : 'unknown'
}
