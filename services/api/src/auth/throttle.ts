import { createHash } from 'node:crypto'
import { clearAttempts, consumeAttempt, refundAttempt, type Throttle } from '@belfry/db/throttle'
import { networksOf } from '@belfry/domain/address'
import { AppError } from '@belfry/domain/app-error'
import type { Context } from '../context.ts'

// Against many addresses on one account, one address on many accounts, and many on many. The total is what one or two
// cores can hash in addition to their other work. Strangers can use up the limits of an account and the totals, so past
// these each network has a spare attempt.
const logins = {
  address: { burst: 100, everyMs: 3_000 },
  account: { burst: 10, everyMs: 30_000 },
  total: { burst: 1000, everyMs: 50 },
}
const rightPasswords = { burst: 10, everyMs: 10_000 }

/** The limits of requests without an account, for each network and for all callers. */
const requests = {
  /** A sign-in by a passkey alone that begins, and a refused one; also a second factor for no open sign-in. */
  passkey: { network: logins.address, total: logins.total },
  /** Accounts share what a dispatcher can do, so a stranger must not make many. */
  registration: { network: { burst: 20, everyMs: 300_000 }, total: { burst: 200, everyMs: 10_000 } },
  'invited registration': { network: { burst: 100, everyMs: 30_000 }, total: null },
  /** A request for a new password, and the use of a link in a mail. */
  reset: { network: { burst: 20, everyMs: 60_000 }, total: { burst: 500, everyMs: 1_000 } },
  /** A sign-in through the issuer costs requests to it. */
  oidc: { network: logins.address, total: null },
  /** An exchange costs a signature, and sometimes a request to the issuer of the token. */
  'token exchange': { network: logins.address, total: null },
}

// Strangers may cause mails and resets. Each kind has its own limit, so an owner can ask for a reset even when other
// mails are used up. Only signed-in users cause notices, so strangers cannot use up that limit.
const mails = {
  mail: { burst: 5, everyMs: 600_000 },
  reset: { burst: 5, everyMs: 600_000 },
  notice: { burst: 10, everyMs: 600_000 },
}
const mailsInTotal = { burst: 1000, everyMs: 1_000 }

/** What a mail is: a link that a stranger may have caused, a link to a new password, or a notice to the user of an account. */
export type MailKind = keyof typeof mails

const tests = { burst: 10, everyMs: 30_000 }

/** The limits that hold for one name each. */
const singles = {
  /**
   * Of an account. A code of six digits can be guessed, so it holds for all networks together. Known devices and sessions have
   * their own.
   */
  'code of': { burst: 10, everyMs: 300_000 },
  /** Of a network. */
  'operator from': { burst: 10, everyMs: 30_000 },
  'integration tests of': tests,
  'connection tests of': tests,
  /** Of a workspace, a principal and a host, because a caller may point a callback at the host of another. */
  challenges: { burst: 20, everyMs: 30_000 },
  /** Of an organization. */
  'invitations of': { burst: 50, everyMs: 60_000 },
  /** Of a workspace. */
  'alert consents of': tests,
  /** A recipient who has unsubscribed is asked again only now and then. */
  'alert consent of unsubscribed': { burst: 2, everyMs: 7 * 24 * 3_600_000 },
}

// What a network may still do past a limit that others can use up.
const spare = { burst: 1, everyMs: 3_600_000 }

type Limit = {
  name: string
  throttle: Throttle
  /** The caller's network, with a spare attempt past the limit. Without it the limit holds for all callers. */
  sparing?: string
}

/**
 * Counts an attempt to log in to an account. It is counted before its result is known, so any number of concurrent
 * attempts are counted exactly.
 * @throws AppError `rate_limited`.
 */
export async function consumeLoginAttempt(ctx: Context, email: string, { address, known }: Origin) {
  if (known !== null) return consume(ctx, [{ name: `login with ${known}`, throttle: logins.account }])
  const sparing = widestOf(address)
  return consume(ctx, [
    ...perNetwork('login', address, logins.address),
    { name: loginTo(email), throttle: logins.account, sparing },
    { name: 'login', throttle: logins.total, sparing },
  ])
}

/**
 * Counts a right password, because hashing it costs as much as hashing a wrong one. The limits of the network count
 * only unknown origins.
 * @throws AppError `rate_limited`.
 */
export async function consumeRightPassword(ctx: Context, email: string, { address, known }: Origin) {
  return consume(ctx, [
    ...(known === null ? perNetwork('right password', address, logins.address) : []),
    { name: `right password of ${email}`, throttle: rightPasswords },
  ])
}

export type Origin = {
  address: string
  /** The id of a session, or of a device with which the user has signed in before. Null for any other caller. */
  known: string | null
}

/** Forgets the failed logins to an account. */
export async function clearLoginAttempts({ pool }: Context, email: string): Promise<void> {
  await clearAttempts(pool, digest(loginTo(email)))
}

const loginTo = (email: string) => `login to ${email}`

/** Counts a request without an account. Throws `rate_limited`. */
export async function consumeRequest(ctx: Context, kind: keyof typeof requests, address: string) {
  const { network, total } = requests[kind]
  const all = total && { name: kind, throttle: total, sparing: widestOf(address) }
  return consume(ctx, [...perNetwork(kind, address, network), ...(all ? [all] : [])])
}

/** Counts an attempt under a name. Throws `rate_limited`. */
export async function consumeOne(ctx: Context, kind: keyof typeof singles, name: string) {
  return consume(ctx, [{ name: `${kind} ${name}`, throttle: singles[kind] }])
}

/**
 * Counts a mail: this protects mailboxes from being flooded. Throws `rate_limited`.
 * @param address - Where the request comes from that causes the mail.
 */
export async function consumeMail(ctx: Context, kind: MailKind, email: string, address: string) {
  const own = { name: `${kind} to ${email}`, throttle: mails[kind] }
  const all = { name: 'mail', throttle: mailsInTotal, sparing: widestOf(address) }
  return consume(ctx, kind === 'notice' ? [own] : [own, all])
}

/** Counts a mail, and returns whether it may be sent. */
export async function mayMail(ctx: Context, kind: MailKind, email: string, address: string): Promise<boolean> {
  try {
    await consumeMail(ctx, kind, email, address)
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'rate_limited') return false
    throw error
  }
}

// One limit after the other: a caller over a personal limit must not use up the total. An attempt that turns out not to
// count is refunded.
async function consume(ctx: Context, limits: readonly Limit[]) {
  const consumed: Limit[] = []
  for (const limit of limits) consumed.push(await consumeWithin(ctx, limit))
  return {
    async refund() {
      await Promise.all(consumed.map(({ name, throttle }) => refundAttempt(ctx.pool, digest(name), throttle)))
    },
  }
}

// Returns the limit that the attempt counts for: the given one, or the spare one of the caller's network.
async function consumeWithin({ pool }: Context, limit: Limit): Promise<Limit> {
  const waitMs = await consumeAttempt(pool, digest(limit.name), limit.throttle)
  if (waitMs === 0) return limit
  const spared = { name: `${limit.name}, spare of ${limit.sparing}`, throttle: spare }
  if (limit.sparing !== undefined && (await consumeAttempt(pool, digest(spared.name), spare)) === 0) return spared
  throw new AppError('rate_limited', 'Too many attempts. Try again later.', { retryAfterMs: waitMs })
}

// A larger network has a larger limit, but a smaller one than its parts together.
function perNetwork(name: string, address: string, { burst, everyMs }: Throttle): Limit[] {
  return networksOf(address).map((network, i) => ({
    name: `${name} from ${network}`,
    throttle: { burst: burst * 4 ** i, everyMs: everyMs / 4 ** i },
  }))
}

/** Returns the smallest network of an address that is expensive to get many of. */
export function widestOf(address: string): string {
  const [own = address, larger = own] = networksOf(address)
  return larger
}

// A name that a caller has typed may be long, and is not stored.
function digest(name: string): string {
  return createHash('sha256').update(name).digest('base64url')
}
