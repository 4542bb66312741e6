import { randomBytes } from 'node:crypto'
import { AppError, invalidField } from '@belfry/domain/app-error'
import { hash, verify } from '@node-rs/argon2'
import { consumeLoginAttempt, consumeRightPassword, type Origin, widestOf } from '../auth/throttle.ts'
import type { Context } from '../context.ts'

// OWASP's first recommendation for Argon2id.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

let unusableHash: Promise<string> | undefined

/** Returns the hash of a password that no person knows. Comparing with it takes as long as with another one. */
export function noPasswordHash(): Promise<string> {
  unusableHash ??= hash(randomBytes(32), cost)
  return unusableHash
}

export function hashPassword(password: string, address: string): Promise<string> {
  return inHashingSlot(address, () => hash(password, cost))
}

// The library uses Node's four threads, off the event loop; two of them stay free for files and DNS.
const maxActive = 2
const maxWaiting = 200

// By network, in the order of their turns.
const queues = new Map<string, Array<{ start(): void; refuse(error: AppError): void }>>()
let active = 0

/**
 * Runs work that hashes: two at a time in this process, up to 200 waiting, round-robin between the networks of their callers.
 * @throws AppError `rate_limited` when too much work is waiting, for the latest of the network with the most.
 */
export async function inHashingSlot<T>(address: string, work: () => Promise<T>): Promise<T> {
  if (active < maxActive) active += 1
  else await waitForSlot(widestOf(address))
  try {
    return await work()
  } finally {
    passSlot()
  }
}

function waitForSlot(network: string): Promise<void> {
  return new Promise((start, refuse) => {
    const queue = queues.get(network) ?? []
    queue.push({ start, refuse })
    queues.set(network, queue)
    const all = [...queues.values()]
    if (all.reduce((sum, { length }) => sum + length, 0) <= maxWaiting) return
    const longest = all.reduce((max, one) => (one.length > max.length ? one : max), queue)
    const message = 'Too many people sign in at once. Try again in a moment.'
    longest.pop()?.refuse(new AppError('rate_limited', message, { retryAfterMs: 1000 }))
    if (queue.length === 0) queues.delete(network)
  })
}

// The network whose turn it was goes to the end.
function passSlot(): void {
  const [next] = queues
  if (next === undefined) {
    active -= 1
    return
  }
  const [network, queue] = next
  const first = queue.shift()
  queues.delete(network)
  if (queue.length > 0) queues.set(network, queue)
  first?.start()
}

/**
 * Returns whether a password is right. `passwordHash` is null for an unknown account; the check takes the same time.
 * The attempt is counted before the comparison, as a failure and as a success, and the wrong one is refunded. In a
 * hashing slot at most two attempts count as both at a time, so strangers do not use up the limit of successes.
 * @throws AppError `rate_limited`.
 */
export function provePassword(
  ctx: Context,
  { email, passwordHash }: { email: string; passwordHash: string | null },
  from: Origin,
  password: string,
): Promise<boolean> {
  return inHashingSlot(from.address, async () => {
    const failure = await consumeLoginAttempt(ctx, email, from)
    const success = await consumeRightPassword(ctx, email, from)
    const matches = (await verify(passwordHash ?? (await noPasswordHash()), password)) && passwordHash !== null
    await (matches ? failure : success).refund()
    return matches
  })
}

/** Returns whether a hash was made at a lower cost than new ones. */
export function isOutdatedHash(stored: string): boolean {
  const [, memory, time] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(stored) ?? []
  return Number(memory ?? 0) < cost.memoryCost || Number(time ?? 0) < cost.timeCost
}

export function requirePasswordLogin({ config }: Context): void {
  if (config.passwordLogin) return
  throw new AppError('password_login_off', 'Users of this installation sign in with single sign-on only.')
}

export function wrongPassword(): AppError {
  return invalidField('current_password', 'wrong_password', 'The current password is wrong.')
}
