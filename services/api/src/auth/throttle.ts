import { createHash } from 'node:crypto'
import { consumeAttempt, refundAttempt, type Throttle } from '@belfry/db'
import { AppError, networkOf } from '@belfry/domain'
import type { Context } from '../context.ts'

// Against many addresses on one account, one address on many accounts, and many on many. The total is what one or two
// cores can hash in addition to their other work.
const logins = {
  address: { burst: 100, everyMs: 3_000 },
  account: { burst: 10, everyMs: 30_000 },
  total: { burst: 1000, everyMs: 50 },
}
const registrations = {
  address: { burst: 100, everyMs: 30_000 },
  total: { burst: 1000, everyMs: 1_000 },
}

const mailsToAddress = { burst: 5, everyMs: 600_000 }
const invitations = { burst: 50, everyMs: 60_000 }
const resets = {
  address: { burst: 20, everyMs: 60_000 },
  total: { burst: 500, everyMs: 1_000 },
}

const operators = { burst: 10, everyMs: 30_000 }

const integrationTests = { burst: 10, everyMs: 30_000 }

type Limit = { name: string; throttle: Throttle }

/** A counted attempt. Successful attempts are refunded. */
export type Attempt = { refund(): Promise<void> }

/**
 * Counts an attempt to log in to an account. It is counted before its result is known, so any number of concurrent
 * attempts are counted exactly.
 * @throws AppError `rate_limited`.
 */
export async function consumeLoginAttempt(ctx: Context, email: string, address: string): Promise<Attempt> {
  return consume(ctx, [
    { name: `login from ${networkOf(address)}`, throttle: logins.address },
    { name: `login to ${email}`, throttle: logins.account },
    { name: 'login', throttle: logins.total },
  ])
}

/** Counts an attempt to sign in as an operator. Throws `rate_limited`. */
export async function consumeOperatorAttempt(ctx: Context, network: string): Promise<Attempt> {
  return consume(ctx, [{ name: `operator from ${network}`, throttle: operators }])
}

/** Counts a registration. Throws `rate_limited`. */
export async function consumeRegistration(ctx: Context, address: string): Promise<void> {
  await consume(ctx, [
    { name: `registration from ${networkOf(address)}`, throttle: registrations.address },
    { name: 'registration', throttle: registrations.total },
  ])
}

/** Counts a mail that an organization sends to an address. Throws `rate_limited`. */
export async function consumeInvitation(ctx: Context, organizationId: string, email: string): Promise<void> {
  await consume(ctx, [
    { name: `invitations of ${organizationId}`, throttle: invitations },
    { name: `invitation to ${email}`, throttle: mailsToAddress },
  ])
}

/** Counts a test of a workspace's integrations. Throws `rate_limited`. */
export async function consumeIntegrationTest(ctx: Context, workspaceId: string): Promise<void> {
  await consume(ctx, [{ name: `integration tests of ${workspaceId}`, throttle: integrationTests }])
}

/** Counts a request for a new password. Throws `rate_limited`. */
export async function consumeReset(ctx: Context, address: string): Promise<void> {
  await consume(ctx, [
    { name: `reset from ${networkOf(address)}`, throttle: resets.address },
    { name: 'reset', throttle: resets.total },
  ])
}

/** Returns whether an address may get another mail about its password, so a mailbox cannot be flooded. */
export async function mayGetResetMail(ctx: Context, email: string): Promise<boolean> {
  return (await consumeAttempt(ctx.pool, digest(`reset of ${email}`), mailsToAddress)) === 0
}

// One limit after the other: a caller who is over a limit of its own must not use up the total.
async function consume(ctx: Context, limits: readonly Limit[]): Promise<Attempt> {
  for (const { name, throttle } of limits) {
    const waitMs = await consumeAttempt(ctx.pool, digest(name), throttle)
    if (waitMs > 0) throw new AppError('rate_limited', 'Too many attempts. Try again later.', { retryAfterMs: waitMs })
  }
  return {
    async refund() {
      await Promise.all(limits.map(({ name, throttle }) => refundAttempt(ctx.pool, digest(name), throttle)))
    },
  }
}

// A name that a caller has typed may be long, and is not stored.
function digest(name: string): string {
  return createHash('sha256').update(name).digest('base64url')
}
