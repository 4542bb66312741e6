import { hash, verify } from '@node-rs/argon2'

// OWASP's first recommendation for Argon2id. The library works on its own threads, off the event loop.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// A hash that no password has: comparing with it makes an unknown address take as long as a wrong password.
let nobody: Promise<string> | undefined

export function hashPassword(password: string): Promise<string> {
  return hash(password, cost)
}

/** Compares a password with a stored hash; with null, takes the same time and answers false. */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  nobody ??= hashPassword(`${Math.random()}`)
  const matches = await verify(stored ?? (await nobody), password)
  return matches && stored !== null
}
