import { AppError } from '@belfry/domain/app-error'
import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { consumeLoginAttempt, type Origin } from '../auth/throttle.ts'
import type { Context } from '../context.ts'

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
 * Returns whether a password is that of an account. `passwordHash` is null when there is no such account, which takes
 * the same time. The attempt is counted before the comparison, in a hashing slot: so failures are counted exactly, and
 * at most two attempts of callers who know the password count at a time.
 * @throws AppError `rate_limited`.
 */
export function provePassword(
  ctx: Context,
  { email, passwordHash }: { email: string; passwordHash: string | null },
  from: Origin,
  password: string,
): Promise<boolean> {
  return inHashingSlot(async () => {
    const attempt = await consumeLoginAttempt(ctx, email, from)
    const matches = await isPassword(password, passwordHash)
    if (matches) await attempt.refund()
    return matches
  })
}

// Takes the same time for a hash of null.
async function isPassword(password: string, stored: string | null): Promise<boolean> {
  dummyHash ??= hash(`${Math.random()}`, cost)
  const matches = await verify(stored ?? (await dummyHash), password)
  return matches && stored !== null
}

/** Returns whether a hash was made at a lower cost than new ones. */
export function isOutdatedHash(stored: string): boolean {
  const [, memory, time] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(stored) ?? []
  return Number(memory ?? 0) < cost.memoryCost || Number(time ?? 0) < cost.timeCost
}

/** Throws `password_login_off` where users sign in through the issuer only. */
export function requirePasswordLogin({ config }: Pick<Context, 'config'>): void {
  if (config.passwordLogin) return
  throw new AppError('password_login_off', 'Users of this installation sign in with single sign-on only.')
}
