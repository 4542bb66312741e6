import { createHash } from 'node:crypto'
import { giveTurnBack, type Throttle, takeTurn } from '@belfry/db'
import { AppError, networkOf } from '@belfry/domain'
import type { Context } from '../context.ts'

// An attack from many addresses on one account, from one address on many accounts, and from many on many. The last
// figure is what this service can compare with a core or two to spare.
const logins = {
  address: { burst: 100, everyMs: 3_000 },
  account: { burst: 10, everyMs: 30_000 },
  everybody: { burst: 1000, everyMs: 50 },
}
const registrations = {
  address: { burst: 100, everyMs: 30_000 },
  everybody: { burst: 1000, everyMs: 1_000 },
}

const mailsToAddress = { burst: 5, everyMs: 600_000 }
const invitations = { burst: 50, everyMs: 60_000 }
const resets = {
  address: { burst: 20, everyMs: 60_000 },
  everybody: { burst: 500, everyMs: 1_000 },
}

const operators = { burst: 10, everyMs: 30_000 }

const integrationTests = { burst: 10, everyMs: 30_000 }

type Turn = { name: string; throttle: Throttle }

/**
 * Counts an attempt to prove that one is the owner of an account, before it is known how that goes, so that any number
 * of attempts at once are counted exactly. One that succeeds is to be given back.
 * @throws AppError `rate_limited`.
 */
export async function takeLoginTurn(
  ctx: Context,
  email: string,
  address: string,
): Promise<{ giveBack(): Promise<void> }> {
  const turns = [
    { name: `login from ${networkOf(address)}`, throttle: logins.address },
    { name: `login to ${email}`, throttle: logins.account },
    { name: 'login', throttle: logins.everybody },
  ]
  await takeTurns(ctx, turns)
  return {
    async giveBack() {
      await Promise.all(turns.map(({ name, throttle }) => giveTurnBack(ctx.pool, digest(name), throttle)))
    },
  }
}

/** Counts an attempt to sign in as an operator; one that succeeds is to be given back. Throws `rate_limited`. */
export async function takeOperatorTurn(ctx: Context, network: string): Promise<{ giveBack(): Promise<void> }> {
  const name = `operator from ${network}`
  await takeTurns(ctx, [{ name, throttle: operators }])
  return { giveBack: () => giveTurnBack(ctx.pool, digest(name), operators) }
}

/** Counts a registration. Throws `rate_limited`. */
export async function takeRegistrationTurn(ctx: Context, address: string): Promise<void> {
  await takeTurns(ctx, [
    { name: `registration from ${networkOf(address)}`, throttle: registrations.address },
    { name: 'registration', throttle: registrations.everybody },
  ])
}

/** Counts a mail that an organization sends to an address. Throws `rate_limited`. */
export async function takeInvitationTurn(ctx: Context, organizationId: string, email: string): Promise<void> {
  await takeTurns(ctx, [
    { name: `invitations of ${organizationId}`, throttle: invitations },
    { name: `invitation to ${email}`, throttle: mailsToAddress },
  ])
}

/** Counts a test of a workspace's integrations. Throws `rate_limited`. */
export async function takeIntegrationTestTurn(ctx: Context, workspaceId: string): Promise<void> {
  await takeTurns(ctx, [{ name: `integration tests of ${workspaceId}`, throttle: integrationTests }])
}

/** Counts a wish for another password. Throws `rate_limited`. */
export async function takeResetTurn(ctx: Context, address: string): Promise<void> {
  await takeTurns(ctx, [
    { name: `reset from ${networkOf(address)}`, throttle: resets.address },
    { name: 'reset', throttle: resets.everybody },
  ])
}

/** Whether an address may get one more mail about its password: nobody can fill a mailbox. */
export async function mayGetResetMail(ctx: Context, email: string): Promise<boolean> {
  return (await takeTurn(ctx.pool, digest(`reset of ${email}`), mailsToAddress)) === 0
}

// One after the other: whoever is held back by their own address must not use up the turns of everybody.
async function takeTurns(ctx: Context, turns: readonly Turn[]): Promise<void> {
  for (const { name, throttle } of turns) {
    const waitMs = await takeTurn(ctx.pool, digest(name), throttle)
    if (waitMs > 0) throw new AppError('rate_limited', 'Too many attempts. Try again later.', { retryAfterMs: waitMs })
  }
}

// What somebody typed may be long, and need not be kept.
function digest(name: string): string {
  return createHash('sha256').update(name).digest('base64url')
}
