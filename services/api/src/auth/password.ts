import { AppError } from '@belfry/domain'
import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'

// OWASP's first recommendation for Argon2id.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// The library uses Node's four threads, off the event loop; two of them stay free for files and DNS.
const slots = pLimit(2)
const maxWaiting = 200

// The hash of no password. Comparing with it makes an unknown address take as long as a wrong password.
let dummyHash: Promise<string> | undefined

export function hashPassword(password: string): Promise<string> {
  return inHashingSlot(() => hash(password, cost))
}

/**
 * Runs work that hashes: two at a time in this process, up to 200 waiting in their order.
 * @throws AppError `rate_limited` when too much work is waiting.
 */
export async function inHashingSlot<T>(work: () => Promise<T>): Promise<T> {
  if (slots.activeCount + slots.pendingCount < slots.concurrency + maxWaiting) return slots(work)
  throw new AppError('rate_limited', 'Too many people sign in at once. Try again in a moment.', { retryAfterMs: 1000 })
}

/**
 * Compares a password with a stored hash; with null, takes the same time and returns false. To be called in a hashing
 * slot.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  dummyHash ??= hash(`${Math.random()}`, cost)
  const matches = await verify(stored ?? (await dummyHash), password)
  return matches && stored !== null
}

/** Whether a hash was made at a lower cost than is asked for now. */
export function isOutdatedHash(stored: string): boolean {
  const [, memory, time] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(stored) ?? []
  return Number(memory ?? 0) < cost.memoryCost || Number(time ?? 0) < cost.timeCost
}
