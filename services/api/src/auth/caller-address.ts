import { isIP } from 'node:net'
import type { Request } from 'express'

/** The address that a request came from. What a header says of it counts only as far as TRUST_PROXY goes. */
export function callerAddress(request: Request): string {
  const address = (request.ip ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(address) ? address : 'unknown'
}
