import { hash, verify } from '@node-rs/argon2'
import { limitParallel } from './limit-parallel.ts'

// OWASP's first recommendation for Argon2id.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** The library works on Node's own four threads, off the event loop; two of them stay free for files and names. */
export const hashingLine = limitParallel({ most: 2, mostWaiting: 200 })

// A hash that no password has: comparing with it makes an unknown address take as long as a wrong password.
let nobody: Promise<string> | undefined

export function hashPassword(password: string): Promise<string> {
  return hashingLine(() => hash(password, cost))
}

/** Compares a password with a stored hash; with null, takes the same time and answers false. To be called in the line. */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  nobody ??= hash(`${Math.random()}`, cost)
  const matches = await verify(stored ?? (await nobody), password)
  return matches && stored !== null
}

/** Whether a hash was made at a lower cost than is asked for now. */
export function isOutdatedHash(stored: string): boolean {
  const [, memory, time] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(stored) ?? []
  return Number(memory ?? 0) < cost.memoryCost || Number(time ?? 0) < cost.timeCost
}
