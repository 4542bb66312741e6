import { signedIn } from '@belfry/contract/auth'
import {
  loginFactorBody,
  passkeyLoginBody,
  passkeyLoginOptionsBody,
  passkeyOptions,
} from '@belfry/contract/second-factor'
import { AppError } from '@belfry/domain/app-error'
import { knownDevice } from '../account/known-device.ts'
import { requirePasswordLogin } from '../account/password-login.ts'
import { recordFailedSignIn } from '../account/record-account.ts'
import { startSession } from '../account/start-session.ts'
import { callerAddress } from '../auth/caller-address.ts'
import { consumePasskeyLogin } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'
import { consumeChallenge, readChallenge } from './challenges.ts'
import { signingOptions, verifyPasskey } from './passkeys.ts'
import { proveFactor } from './prove-factor.ts'

export const loginWithFactor = endpoint({
  right: 'public',
  summary: 'Continue a sign-in with a second factor',
  answer: { status: 200, body: signedIn, setsCookie: true },
  refusals: ['unauthenticated', 'password_login_off'],
  body: loginFactorBody,
  async handle(ctx, { body: { sign_in_token: token, ...proof }, request }) {
    requirePasswordLogin(ctx)
    const userId = await readSignIn(ctx, token)
    const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: userId } })
    const address = callerAddress(request)
    const from = { address, known: knownDevice(ctx, request, userId) }
    if (!(await proveFactor(ctx, user, from, proof))) {
      recordFailedSignIn(ctx, userId, address)
      throw new AppError('unauthenticated', 'The code or the passkey is wrong, expired or used.')
    }
    const session = await ctx.prisma.$transaction(async tx => {
      const isOpen = await consumeChallenge(ctx, tx, token, 'sign_in', userId)
      return isOpen ? startSession(ctx, tx, user, request, { hasSecondFactor: true }) : null
    })
    if (!session) throw signInEnded()
    return { status: 200, ...session }
  },
})

export const passkeyLoginOptions = endpoint({
  right: 'public',
  summary: 'Get the options for signing in with a passkey, alone or as the second factor',
  answer: { status: 200, body: passkeyOptions },
  refusals: ['unauthenticated'],
  body: passkeyLoginOptionsBody,
  async handle(ctx, { body: { sign_in_token: token }, request }) {
    await consumePasskeyLogin(ctx, callerAddress(request))
    return ok(await signingOptions(ctx, token === undefined ? null : await readSignIn(ctx, token)))
  },
})

export const loginWithPasskey = endpoint({
  right: 'public',
  summary: 'Sign in with a passkey alone, whose authenticator has verified the user',
  answer: { status: 200, body: signedIn, setsCookie: true },
  refusals: ['unauthenticated', 'password_login_off'],
  body: passkeyLoginBody,
  async handle(ctx, { body, request }) {
    requirePasswordLogin(ctx)
    await consumePasskeyLogin(ctx, callerAddress(request))
    const userId = await verifyPasskey(ctx, null, body.passkey)
    const user = userId === null ? null : await ctx.prisma.user.findUnique({ where: { id: userId } })
    if (!user) {
      const message = 'This passkey cannot sign in: it is unknown, or its device did not check that it is you.'
      throw new AppError('unauthenticated', message)
    }
    const session = await ctx.prisma.$transaction(tx => startSession(ctx, tx, user, request, { hasSecondFactor: true }))
    return { status: 200, ...session }
  },
})

async function readSignIn(ctx: Context, token: string): Promise<string> {
  const userId = await readChallenge(ctx, token, 'sign_in')
  if (userId === null) throw signInEnded()
  return userId
}

function signInEnded(): AppError {
  return new AppError('unauthenticated', 'The sign-in has ended: enter your password again.')
}
