import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { MasterKey, MasterKeys } from './master-keys.ts'

/** The header of a call that says how many calls of this installation in a row led to it. */
export const depthHeader = 'X-Belfry-Depth'

/**
 * The maximum number of calls in a row, each of which makes its target create the next task. Deeper calls cannot
 * create tasks.
 */
export const maxDepth = 5

/**
 * Returns the values of `X-Belfry-Depth` for tasks of each depth, from 0. They are signed, because a receiver may forward
 * the headers of a stranger. Otherwise the stranger could make Belfry refuse the receiver's requests.
 */
export function depthHeaders({ current }: MasterKeys): readonly string[] {
  return Array.from({ length: maxDepth + 1 }, (_, depth) => `${depth + 1}.${signatureOf(current, depth + 1)}`)
}

/** Returns the depth in a value of `X-Belfry-Depth`, or 0 if the value is missing or from another installation. */
export function readDepth({ all }: MasterKeys, value: string | undefined): number {
  const [, digits = '', signature = ''] = /^([1-9])\.([\w-]+)$/.exec(value ?? '') ?? []
  if (digits === '') return 0
  const depth = Number(digits)
  const isOwn = [...all.values()].some(key => isEqual(signatureOf(key, depth), signature))
  return isOwn ? depth : 0
}

// 72 bits are enough: a forged value only gets the forger's own request refused.
function signatureOf({ key }: MasterKey, depth: number): string {
  const derived = Buffer.from(hkdfSync('sha256', key, '', 'belfry call depth', 32))
  return createHmac('sha256', derived).update(String(depth)).digest('base64url').slice(0, 12)
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
